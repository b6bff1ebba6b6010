# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/guide/own-poller.md, built outside the tree: both pollers answer, one spins
and one sleeps.
Usage: own_poller.py BUILD_DIR SOURCE_DIR"""
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
PORT = 7777


def listens():
    with open("/proc/net/udp", encoding="ascii") as f:
        return f":{PORT:04X} " in f.read()


def answers():
    """The replies to datagrams that are all sent before the first reply is read, and then to
    datagrams sent one by one, before each of which a blocking poller is asleep."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(60)
        s.connect(("127.0.0.1", PORT))
        for n in range(DATAGRAMS):
            s.send(f"hello {n}".encode())
        back = {s.recv(100) for _ in range(DATAGRAMS)}
        for n in range(DATAGRAMS, DATAGRAMS + 20):
            s.send(f"hello {n}".encode())
            back.add(s.recv(100))
        return back


def carrier_state(pid):
    """R: it runs; S: it waits."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat", encoding="ascii") as f:
            name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
        if name.startswith("haul"):
            return rest.split()[0]
    return None


def try_out(tap, binary, env, kind):
    with subprocess.Popen([binary, kind, str(PORT)], env=env) as udp:
        try:
            netns.wait_for(lambda: listens() or udp.poll() is not None, "the socket")
            tap.ok(answers() == {f"hello {n}".encode() for n in range(DATAGRAMS + 20)},
                   f"{kind}: every datagram comes back")
            if kind == "block":
                netns.wait_for(lambda: carrier_state(udp.pid) == "S", "the carrier to sleep")
            states = {carrier_state(udp.pid) for _ in range(100)}
            tap.ok(states == {"S" if kind == "block" else "R"}, f"{kind}: as it is called", states)
            udp.send_signal(signal.SIGINT if kind == "block" else signal.SIGTERM)
            tap.ok(udp.wait() == 0, f"{kind}: it ends when asked to",
                   f"exit status {udp.returncode}")
        finally:
            udp.kill()


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with outside.installed(build) as root:
        binary = outside.compile_program(
            root, "udp", os.path.join(tree, "docs/guide/own-poller.md"))
        env = outside.environment(root)
        wrong = outside.run([binary, "hover", str(PORT)], env=env)
        tap.ok(wrong.returncode == 2 and "usage" in wrong.stdout, "wrong arguments", wrong.stdout)
        for kind in "spin", "block":
            try_out(tap, binary, env, kind)
    tap.done()


main()
