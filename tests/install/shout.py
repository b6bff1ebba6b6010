# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/first-program.md, built outside the tree, behaves as the page says.
Usage: shout.py BUILD_DIR SOURCE_DIR"""
import os
import signal
import socket
import subprocess
import sys

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import netns
import outside
from tap import Tap

DATAGRAMS = 100


def answers():
    """The replies to datagrams that are all sent before the first reply is read."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(20)
        s.connect(("10.77.0.1", 7))
        for n in range(DATAGRAMS):
            s.send(f"hello {n}".encode())
        return {s.recv(100) for _ in range(DATAGRAMS)}


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with outside.installed(build) as root:
        binary = outside.compile_program(
            root, "shout", os.path.join(tree, "docs/guide/first-program.md"))
        env = outside.environment(root)
        wrong = outside.run([binary, "tap:haul0", "here"], env=env)
        tap.ok(wrong.returncode == 1 and "here" in wrong.stdout, "a wrong address is refused",
               wrong.stdout)
        with subprocess.Popen([binary, "tap:haul0", "10.77.0.1/24"], env=env) as shout:
            try:
                netns.wait_for(lambda: netns.exists("haul0") or shout.poll() is not None, "haul0")
                netns.ip("address add 10.77.0.2/24 dev haul0")
                netns.ip("link set haul0 up")
                netns.wait_up("haul0")
                tap.ok(answers() == {f"HELLO {n}".encode() for n in range(DATAGRAMS)},
                       "every datagram comes back in capitals")
                shout.send_signal(signal.SIGINT)
                tap.ok(shout.wait() == 0, "the books are right at the end",
                       f"exit status {shout.returncode}")
            finally:
                shout.kill()
    tap.done()


main()
