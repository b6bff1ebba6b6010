# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/blocking-calls.md, built outside the tree: lookups that a silent name
server keeps waiting do not delay others.
Usage: resolve.py BUILD_DIR SOURCE_DIR"""
import os
import socket
import subprocess
import sys
import tempfile

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import netns
import outside
import over_tap
from tap import Tap

PAGE = "docs/guide/blocking-calls.md"
SLOW = 8  # lookups at once


def client(text):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(60)
    s.connect(("10.77.0.1", 7))
    s.send(text)
    return s


def talk(tap):
    tap.ok(client(b"localhost\n").recv(100) == b"127.0.0.1", "a name is looked up")
    slow = [client(b"silent%d.example" % n) for n in range(SLOW)]
    tap.ok(client(b"localhost").recv(100) == b"127.0.0.1", "others do not wait for a name server")
    waits = 0
    for s in slow:
        s.setblocking(False)
        try:
            s.recv(100)
        except BlockingIOError:
            waits += 1
        s.settimeout(60)
    print(f"# {waits} of {SLOW} lookups still wait")
    tap.ok({s.recv(100) for s in slow} == {b"NONE"}, f"{SLOW} lookups at once end by themselves")


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    with tempfile.NamedTemporaryFile("w") as conf, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent, \
            outside.installed(build) as root:
        conf.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        conf.flush()
        if subprocess.run(["mount", "--bind", conf.name, "/etc/resolv.conf"],
                          stderr=subprocess.DEVNULL).returncode:
            netns.skip_all("resolv.conf cannot be replaced here")
        silent.bind(("127.0.0.1", 53))
        tap = Tap()
        binary = outside.compile_program(root, "resolve", os.path.join(tree, PAGE),
                                         package="haul-app")
        with over_tap.running(root, [binary, "--port", "tap:haul0", "--period", "0",
                                     "--ip", "10.77.0.1/24"]) as program:
            talk(tap)
            said = over_tap.end(program)
            tap.ok(program.returncode == 0, "Ctrl-C ends it, and the books are right", said)
        subprocess.run(["umount", "/etc/resolv.conf"], check=True)
    tap.done()


main()
