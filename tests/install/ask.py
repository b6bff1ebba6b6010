# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/flows.md, built outside the tree, asks a service of the kernel over
TAP, on one carrier, and on two that steal. Usage: ask.py BUILD_DIR SOURCE_DIR"""
import os
import socket
import sys
import threading

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import netns
import outside
import over_tap
from tap import Tap

PAGE = "docs/guide/flows.md"


def echo(s):
    while True:
        s.sendto(*s.recvfrom(2048))


def run(tap, binary, root, name, options):
    with over_tap.running(root, [binary, "--port", "tap:haul0", "--period", "0",
                                 "--ip", "10.77.0.1/24", "--to", "10.77.0.2", *options]) as program:
        lines = [program.stdout.readline() for _ in range(5)]
        tap.ok(lines == ["it answers after less than 1 s\n",
                         "100 questions: all have a reply\n", "from 10.77.0.1, port 1\n",
                         "it is\n", "it is\n"], f"{name}: each question has its reply",
               "".join(lines))
        said = over_tap.end(program)
        tap.ok(program.returncode == 0 and "0 flows are open, 0 replies too many\n" in said,
               f"{name}: Ctrl-C ends it, and the books are right", said)


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as service, \
            outside.installed(build) as root:
        service.bind(("", 7))
        threading.Thread(target=echo, args=(service,), daemon=True).start()
        binary = outside.compile_program(root, "ask", os.path.join(tree, PAGE),
                                         package="haul-app")
        run(tap, binary, root, "one carrier", ["--carriers", "1"])
        run(tap, binary, root, "two carriers", ["--carriers", "2", "--steal", "cluster"])
    tap.done()


main()
