# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/everywhere.md, built outside the tree, counts datagrams of the kernel
on two carriers; those of testing.md and testing-handlers.md find no fault.
Usage: everywhere.py BUILD_DIR SOURCE_DIR"""
import os
import re
import socket
import subprocess
import sys

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import netns
import outside
import over_tap
from tap import Tap

DATAGRAMS = 200


def send():
    """From many ports, so that both queues get some."""
    for _ in range(DATAGRAMS):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"count me", ("10.77.0.1", 7))


def counted(out):
    """Reads lines until all are counted, or the program ends."""
    for line in out:
        udp = re.search(r"udp (\d+)", line)
        if udp and int(udp[1]) >= DATAGRAMS:
            return int(udp[1])
    return 0


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with outside.installed(build) as root:
        binary = outside.compile_program(
            root, "protocols", os.path.join(tree, "docs/guide/everywhere.md"), package="haul-app")
        with over_tap.running(root, [binary, "--port", "tap:haul0", "--carriers", "2",
                                     "--period", "0"]) as program:
            netns.ip("neighbour add 10.77.0.1 lladdr 02:00:00:00:00:01 dev haul0")
            send()
            tap.ok(counted(program.stdout) == DATAGRAMS, "the sum of all carriers' counts is right")
            said = over_tap.end(program)
            tap.ok(program.returncode == 0, "Ctrl-C ends the periodic work", said)
        env = outside.environment(root)
        binary = outside.compile_program(
            root, "timeouts", os.path.join(tree, "docs/guide/testing.md"))
        tap.ok(subprocess.run([binary], env=env, check=False).returncode == 0,
               "testing.md: seven seconds of virtual time")
        with open(os.path.join(root, "shout.c"), "w", encoding="utf-8") as program:
            program.write(outside.source(os.path.join(tree, "docs/guide/first-program.md")))
        os.environ["C_INCLUDE_PATH"] = root
        binary = outside.compile_program(
            root, "handlers", os.path.join(tree, "docs/guide/testing-handlers.md"),
            package="haul-app")
        test = subprocess.run([binary], env=env, check=False, capture_output=True, text=True)
        tap.ok(test.returncode == 0, "testing-handlers.md: a test of the first program",
               test.stdout + test.stderr)
    tap.done()


main()
