# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/first-program.md, and the same without haul-app (own-main.md), built
outside the tree, behave as the pages say.
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
        s.settimeout(60)
        s.connect(("10.77.0.1", 7))
        for n in range(DATAGRAMS):
            s.send(f"hello {n}".encode())
        return {s.recv(100) for _ in range(DATAGRAMS)}


PAGES = [  # the page, the package, the arguments before the address
    ("first-program.md", "haul-app", ["--port", "tap:haul0", "--period", "0", "--ip"]),
    ("own-main.md", "haul", ["tap:haul0"]),
]


def try_out(tap, page, binary, args, env):
    wrong = outside.run([binary, *args, "here"], env=env)
    tap.ok(wrong.returncode in (1, 2) and "address" in wrong.stdout.lower(),
           f"{page}: a wrong address is refused", wrong.stdout)
    with subprocess.Popen([binary, *args, "10.77.0.1/24"], env=env,
                          stdout=subprocess.DEVNULL) as shout:
        try:
            netns.wait_carriers(shout)
            netns.ip("address add 10.77.0.2/24 dev haul0")
            netns.wait_up("haul0")
            tap.ok(answers() == {f"HELLO {n}".encode() for n in range(DATAGRAMS)},
                   f"{page}: every datagram comes back in capitals")
            shout.send_signal(signal.SIGINT)
            tap.ok(shout.wait() == 0, f"{page}: the books are right at the end",
                   f"exit status {shout.returncode}")
        finally:
            shout.kill()


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with outside.installed(build) as root:
        for page, package, args in PAGES:
            binary = outside.compile_program(
                root, "shout", os.path.join(tree, "docs/guide", page), package=package)
            try_out(tap, page, binary, args, outside.environment(root))
    tap.done()


main()
