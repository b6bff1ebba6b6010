#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--on-health, --hang-after, --withdraw, /health of --metrics, and what systemd is told: programs
that serve, pause, drain, stop, hang, and are killed."""
import os
import signal
import socket
import tempfile
import time
import urllib.error
import urllib.request

import netns

import fwd
from prompt import Client

FRAMES = [fwd.frame(i) for i in range(10)]


class Service:
    """A haul-fwd that echoes on g0, its command for changes of health, and a peer at g1."""

    def __init__(self, d, *more, **popen):
        self.told_to = os.path.join(d, "told")
        self.command = os.path.join(d, "tell")
        with open(self.command, "w") as f:
            f.write(f"#!/bin/sh\necho $1 >>{self.told_to}\n")
        os.chmod(self.command, 0o755)
        netns.veth("g0", "g1")
        self.raw = netns.Raw("g1")
        self.haul = fwd.Running("--port", "afpacket:g0", "--mode", "macswap", "--carriers", 2,
                                "--on-health", self.command, *more, **popen)
        netns.wait_for(self.haul.runs, "haul-fwd to run")

    def told(self):
        if not os.path.exists(self.told_to):
            return []
        with open(self.told_to) as f:
            return f.read().split()

    def wait_for(self, *states):
        netns.wait_for(lambda: self.told() == list(states), f"{states}")

    def echoes(self):
        for frame in FRAMES:
            self.raw.send(frame)
        got = {self.raw.recv()[12:] for _ in FRAMES}
        return got == {frame[12:] for frame in FRAMES}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.haul.process.poll() is None:
            self.haul.process.kill()
            self.haul.process.wait()
        self.raw.close()
        if netns.exists("g0"):
            netns.ip("link del g0")


def guards(pid):
    """The processes that a program has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(child) for child in f.read().split()]


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_life(tap):
    """It serves while it drains; a pause is told, too."""
    with tempfile.TemporaryDirectory() as d:
        control = os.path.join(d, "control")
        with Service(d, "--withdraw", "2s", "--control", control) as s:
            s.wait_for("serving")
            client = Client(control, s.haul)
            client.ask("stop")
            s.wait_for("serving", "draining")
            client.ask("start")
            s.wait_for("serving", "draining", "serving")
            began = time.monotonic()
            s.haul.process.send_signal(signal.SIGTERM)
            s.wait_for("serving", "draining", "serving", "draining")
            fine = s.echoes()
            r = s.haul.wait()
            took = time.monotonic() - began
            told = s.told()
        tap.ok(fine and r.rc == 0 and took >= 2 and r.json["ports"][0]["tx_packets"] >= len(FRAMES),
               "a signal: it drains, and serves meanwhile", (fine, r.rc, took))
        tap.ok(told[-2:] == ["draining", "stopped"] and "takes long" not in r.err,
               "then it stops", (told, r.err[-300:]))


def test_killed(tap):
    """The guard holds nothing of the program's, and ends with it."""
    with tempfile.TemporaryDirectory() as d:
        with Service(d, "--port", "tap:t0") as s:
            s.wait_for("serving")
            children = guards(s.haul.process.pid)
            files = [os.readlink(f"/proc/{pid}/fd/{fd}") for pid in children
                     for fd in os.listdir(f"/proc/{pid}/fd")]
            s.haul.process.kill()
            s.haul.process.wait()
            s.wait_for("serving", "killed")
            netns.wait_for(lambda: not netns.exists("t0"), "the end of the tap")
            netns.wait_for(lambda: not any(map(is_there, children)), "the end of the guard")
    tap.ok(len(children) == 1, "killed: told by a process of its own", children)
    tap.ok(not any("tun" in f or "socket" in f or "memfd" in f for f in files),
           "which has no device open", files)


def test_hangs(tap):
    """All of it, or a carrier."""
    with tempfile.TemporaryDirectory() as d, Service(d, "--hang-after", "1s") as s:
        s.wait_for("serving")
        s.haul.process.send_signal(signal.SIGSTOP)
        s.wait_for("serving", "hung")
        s.haul.process.send_signal(signal.SIGCONT)
        s.wait_for("serving", "hung", "serving")
        fine = s.echoes()
        r = s.haul.end(signal.SIGTERM)
        tap.ok(fine and r.rc == 0 and s.told()[-1] == "stopped", "hung, and back", s.told())
    with tempfile.TemporaryDirectory() as d, \
            Service(d, "--hang-after", "1s", "--service", "4s") as s:
        s.wait_for("serving")
        s.raw.send(FRAMES[0])
        s.wait_for("serving", "hung")
        s.wait_for("serving", "hung", "serving")
        r = s.haul.end(signal.SIGTERM)
        tap.ok(r.rc == 0, "a carrier that a handler keeps", s.told())


def test_impatient(tap):
    """Signs of life come as often as they are wanted."""
    with tempfile.TemporaryDirectory() as d, \
            Service(d, "--hang-after", "500ms", options=("--json",)) as s:
        s.wait_for("serving")
        time.sleep(3)  # in which no report wakes the main thread more than once a second
        told = s.told()
        s.haul.end(signal.SIGTERM)
    # a main thread without a CPU for so long does hang
    tap.ok(told.count("hung") <= 1, "a short --hang-after", told)


def test_no_link(tap):
    """The cable goes, then the interface, and each comes back."""
    with tempfile.TemporaryDirectory() as d:
        with Service(d, "--lost-port", "return") as s:
            s.wait_for("serving")
            netns.ip("link set g1 down")
            s.wait_for("serving", "no-link")
            netns.ip("link set g1 up")
            s.wait_for("serving", "no-link", "serving")
            s.raw.close()
            s.raw = netns.Raw("g1")  # the other one has an error to tell
            fine = s.echoes()
            netns.ip("link set g0 down")
            s.wait_for("serving", "no-link", "serving", "no-link")
            netns.ip("link set g0 up")
            s.wait_for("serving", "no-link", "serving", "no-link", "serving")
            r = s.haul.end()
            tap.ok(fine and r.rc == 0, "a link that goes and comes", (r.rc, r.err[-300:]))


def test_commands(tap):
    """Commands that fail, and one that hangs."""
    for text, says in (("exit 3", "exit status 3"), ("kill -9 $$", "signal 9")):
        with tempfile.TemporaryDirectory() as d:
            command = os.path.join(d, "bad")
            with open(command, "w") as f:
                f.write(f"#!/bin/sh\n{text}\n")
            os.chmod(command, 0o755)
            r = fwd.run("--port", "null:", "--duration", "100ms", "--on-health", command)
        tap.ok(r.rc == 0 and f"{command} serving: " in r.err and says in r.err and
               f"{command} stopped: " in r.err, f"a command with {says}", r.err)
    r = fwd.run("--port", "null:", "--duration", "100ms", "--on-health", "/no/such")
    tap.ok(r.rc == 2 and r.err.startswith(
        "haul-fwd: --on-health /no/such: No such file or directory; give the path"),
           "no such command", r.err)
    with tempfile.TemporaryDirectory() as d:
        command = os.path.join(d, "no format")
        with open(command, "w"):
            os.chmod(command, 0o755)
        r = fwd.run("--port", "null:", "--duration", "100ms", "--on-health", command)
        tap.ok(r.rc == 0 and f"{command} serving: cannot be run: error" in r.err,
               "no program", r.err)
    r = fwd.run("--port", "afpacket:none", "--on-health", "/bin/false")
    tap.ok(r.rc == 2 and "/bin/false" not in r.err, "nothing is told of what never served", r.err)


def health(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()


def test_http(tap):
    netns.ip("link set lo up")
    with tempfile.TemporaryDirectory() as d, \
            Service(d, "--metrics", "9464", "--withdraw", "3s") as s:
        s.wait_for("serving")
        serving = health(9464)
        s.haul.process.send_signal(signal.SIGINT)
        s.wait_for("serving", "draining")
        draining = health(9464)
        s.haul.wait()
    tap.ok(serving == (200, b"serving\n") and draining == (503, b"draining\n"),
           "/health for balancers", (serving, draining))


def test_systemd(tap):
    """What systemd hears, at a socket as it makes it."""
    with tempfile.TemporaryDirectory() as d, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(os.path.join(d, "notify"))
        notify.settimeout(60)  # a busy machine
        heard = []

        def hear(text):
            while not any(text in line for line in heard):
                heard.extend(notify.recv(4096).decode().splitlines())

        env = {**os.environ, "NOTIFY_SOCKET": os.path.join(d, "notify"),
               "WATCHDOG_USEC": "1500000"}
        with Service(d, "--withdraw", "1s", "--service", "6s", "--hang-after", "1s",
                     env=env) as s:
            hear("READY=1")
            hear("STATUS=serving")
            del heard[:]
            hear("WATCHDOG=1")
            s.raw.send(FRAMES[0])
            hear("STATUS=hung")
            at = len(heard)
            hear("STATUS=serving")
            # what came between the two
            quiet = "WATCHDOG=1" not in heard[at:heard.index("STATUS=serving")]
            s.haul.process.send_signal(signal.SIGTERM)
            hear("STOPPING=1")
            hear("EXTEND_TIMEOUT_USEC=11000000")
            hear("STATUS=stopped")
            r = s.haul.wait()
    tap.ok(r.rc == 0 and quiet, "systemd: ready, alive, hung, stopping", (r.rc, heard))


def main():
    tap = netns.Tap()
    netns.enter()
    test_life(tap)
    test_killed(tap)
    test_hangs(tap)
    test_impatient(tap)
    test_no_link(tap)
    test_commands(tap)
    test_http(tap)
    test_systemd(tap)
    tap.done()


main()
