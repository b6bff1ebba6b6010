# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/host.md, built outside the tree, asks a service of the kernel over TAP.
Usage: knock.py BUILD_DIR SOURCE_DIR"""
import os
import socket
import subprocess
import sys
import threading

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import netns
import outside
import over_tap
from tap import Tap

PAGE = "docs/guide/host.md"


def echo(s):
    while True:
        s.sendto(*s.recvfrom(2048))


def replies(tap, program):
    lines = [program.stdout.readline() for _ in range(5)]
    while lines[-1].startswith("not sent"):
        lines.append(program.stdout.readline())
    tap.ok(lines[-1] == "hello\n", "a reply comes", "".join(lines))
    tap.ok(program.stdout.readline() == "hello\n", "and another one")


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as service, \
            outside.installed(build) as root:
        service.bind(("", 7))
        threading.Thread(target=echo, args=(service,), daemon=True).start()
        binary = outside.compile_program(root, "knock", os.path.join(tree, PAGE),
                                         package="haul-app")
        with over_tap.running(root, [binary, "--port", "tap:haul0", "--period", "0",
                                     "--carriers", "1", "--ip", "10.77.0.1/24",
                                     "--to", "10.77.0.2"]) as program:
            replies(tap, program)
            known = subprocess.run(["ip", "neigh", "show", "dev", "haul0"], check=True,
                                   capture_output=True, text=True).stdout
            tap.ok("10.77.0.1 lladdr" in known, "the kernel knows its address", known)
            said = over_tap.end(program)
            tap.ok(program.returncode == 0, "Ctrl-C ends it, and the books are right", said)
    tap.done()


main()
