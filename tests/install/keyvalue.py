# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/key-value.md, built outside the tree, answers clients of the kernel as
the page says.
Usage: keyvalue.py BUILD_DIR SOURCE_DIR"""
import os
import socket
import sys
import time

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import netns
import outside
import over_tap
from tap import Tap

PAGE = "docs/guide/key-value.md"
LINES = 100
WAITING = 100  # at once


class Client:
    """A socket; the kernel gives each a port of its own."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(60)
        self.socket.connect(("10.77.0.1", 7))

    def send(self, text):
        self.socket.send(text.encode())

    def receive(self):
        return self.socket.recv(1000).decode()

    def ask(self, text):
        self.send(text)
        return self.receive()


def talk(tap):
    """Returns a client whose GET waits."""
    me, other = Client(), Client()
    tap.ok(me.ask("GET a") == "NONE", "a GET of what is not there does not wait")
    tap.ok(me.ask("SET a b c\n") == "OK" and other.ask("GET a") == "b c",
           "what one client has set another one gets")
    tap.ok(me.ask("SET a d") == "OK" and me.ask("GET a 9000") == "d", "it can be set again")
    tap.ok("GET KEY" in me.ask("HELLO") and me.ask("SET " + "k" * 31 + " " + "v" * 500) == "OK"
           and me.ask("GET " + "k" * 31) == "v" * 159, "odd input, and a value that is too long")

    began = time.monotonic()
    tap.ok(me.ask("GET later 200") == "NONE" and time.monotonic() - began >= 0.2,
           "a GET waits for its time")

    me.send("GET later 60000")
    tap.ok(other.ask("GET a") == "d", "the others do not wait for it")
    tap.ok(other.ask("SET later now") == "OK" and me.receive() == "now", "a SET ends the wait")

    waiting = [Client() for _ in range(WAITING)]
    for n, client in enumerate(waiting):
        client.send("GET many 60000" if n % 2 else "GET never 300")
    tap.ok(other.ask("SET many yes") == "OK" and [client.receive() for client in waiting] ==
           ["yes" if n % 2 else "NONE" for n in range(WAITING)],
           f"{WAITING} wait at once: half get the value, half time out")
    me.send("GET never 60000")
    # Each carrier has a queue: what it has answered after that came behind it.
    for client in waiting:
        client.ask("GET a")
    return me


def main():
    build, tree = sys.argv[1:]
    page = os.path.join(tree, PAGE)
    netns.enter()
    tap = Tap()
    lines = outside.source(page).count("\n")
    tap.ok(lines < LINES, f"it has less than {LINES} lines", f"{lines}")
    with outside.installed(build) as root:
        binary = outside.compile_program(root, "keyvalue", page, package="haul-app")
        with over_tap.running(root, [binary, "--port", "tap:haul0", "--period", "0",
                                     "--ip", "10.77.0.1/24"]) as store:
            waits = talk(tap)
            said = over_tap.end(store)
            tap.ok(waits.receive() == "NONE" and store.returncode == 0,
                   "Ctrl-C ends a GET that waits, and the books are right", said)
    tap.done()


main()
