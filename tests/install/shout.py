# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/first-program.md, and the same without haul-app (own-main.md), built
outside the tree, behave as the pages say.
Usage: shout.py BUILD_DIR SOURCE_DIR"""
import os
import socket
import sys

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import netns
import outside
import over_tap
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


def try_out(tap, page, binary, args, root):
    wrong = outside.run([binary, *args, "here"], env=outside.environment(root))
    tap.ok(wrong.returncode in (1, 2) and "address" in wrong.stdout.lower(),
           f"{page}: a wrong address is refused", wrong.stdout)
    with over_tap.running(root, [binary, *args, "10.77.0.1/24"]) as shout:
        tap.ok(answers() == {f"HELLO {n}".encode() for n in range(DATAGRAMS)},
               f"{page}: every datagram comes back in capitals")
        said = over_tap.end(shout)
        tap.ok(shout.returncode == 0, f"{page}: the books are right at the end",
               f"exit status {shout.returncode}\n{said}")


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with outside.installed(build) as root:
        for page, package, args in PAGES:
            binary = outside.compile_program(
                root, "shout", os.path.join(tree, "docs/guide", page), package=package)
            try_out(tap, page, binary, args, root)
    tap.done()


main()
