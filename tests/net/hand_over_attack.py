#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--hand-over under attack: at its path are strangers, hangers, a flood, records that were changed
at random; programs are started, stopped, killed at random, two at once. In the end one program
serves, no packet was answered twice, nobody crashed, and each error is one line."""
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import hand_over_bed
import netns
from hand_over_bed import Bed, answers, call, call_until_offered, echo, result, send

PATHS = sys.argv[1:3]
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
CRASHES = {-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE}


def is_one_line(new):
    said = new.said()
    return said.count("\n") == 1 and said.startswith("haul-")


def close_all(fds):
    for fd in fds:
        os.close(fd)


def test_strangers(tap, kind):
    """Who connects to one that serves, and is no such program: it goes on, and has what it had."""
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(PATHS, d, kind, 2)
        pid, path = bed.echo.process.pid, f"{d}/socket"
        answers()
        before = hand_over_bed.descriptors(pid), hand_over_bed.threads(pid)
        load = bed.load(3)
        with contextlib.ExitStack() as stack:
            hanging, record, fds = call_until_offered(path)
            stack.enter_context(hanging)
            close_all(fds)
            tap.ok(len(fds) == 2 and len(record) > 100, f"{kind}: who connects is offered the port",
                   len(fds))
            late = bed.start()  # while one hangs
            rc = late.process.wait(60)
            tap.ok(rc == 1 and is_one_line(late) and "takes over just now" in late.said(),
                   f"{kind}: while one hangs, another one is told so", (rc, late.said()))
        for word in (b"", b"x", b"rr", b"r" * 5000, os.urandom(100)):
            s, _, fds = call_until_offered(path)
            s.send(word)
            s.close()
            close_all(fds)
        for _ in range(20):
            with call(path):
                pass
        s, _, fds = call_until_offered(path)
        send(s, b"r!", fds * 20)
        s.close()
        close_all(fds)
        try:
            call(path, socket.SOCK_STREAM)
            tap.ok(False, "a stream is refused")
        except OSError:
            pass
        many = []
        for _ in range(8):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.setblocking(False)
            with contextlib.suppress(OSError):
                s.connect(path)
            many.append(s)
        for s in many:
            s.close()
        got = result(load)
        # The last of them may still be under way.
        netns.wait_for(lambda: (hand_over_bed.descriptors(pid), hand_over_bed.threads(pid)) ==
                       before, "the descriptors to be closed")
        tap.ok(got["lost"] == got["twice"] == 0 and bed.echo.said().count("\n") <= 1,
               f"{kind}: strangers do not matter", (got, bed.echo.said()))
        rc, _ = bed.update()
        tap.ok(rc == 0 and answers() and bed.close() == 0, f"{kind}: an update after them", rc)


class Impostor:
    """Listens at a path, and answers with a record and descriptors; hears what is said then."""

    def __init__(self, path, record, fds, ends=False):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.s.bind(path)
        self.s.listen(4)
        self.s.settimeout(60)
        self.path, self.record, self.fds, self.ends = path, record, fds, ends
        self.heard = b""
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        with contextlib.suppress(OSError):
            c, _ = self.s.accept()
            c.settimeout(60)
            with c:
                if self.record is not None:
                    send(c, self.record, self.fds)
                if not self.ends:
                    self.heard = c.recv(100)
                self.s.close()

    def close(self):
        self.thread.join()
        self.s.close()
        os.unlink(self.path)


def change(rng, record):
    """A record of the same length, mostly with a number or a text that is not right."""
    bytes_ = bytearray(record)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.choice((rng.randrange(len(bytes_)), rng.randrange(64),
                         rng.randrange(280, 1500)))
        if rng.random() < 0.5:
            bytes_[at] = rng.randrange(256)
        else:
            n = rng.choice((4, 8, 300))
            bytes_[at:at + n] = rng.choice((b"\xff", b"A", b"\0")) * min(n, len(bytes_) - at)
    return bytes(bytes_)


def test_impostors(tap, kind, rng):
    """Who listens is no such program, or sends a record that is wrong: the new one ends with a
    line, or with its 'ready' if what was changed does not matter."""
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory() as other, \
            open("/dev/null", "rb") as null, open("/etc/passwd", "rb") as file:
        bed = Bed(PATHS, d, kind, 1)
        s, record, fds = call_until_offered(f"{d}/socket")
        with s:
            n = len(fds)
            cases = [(b"x", [], False), (record[:100], fds, False),
                     (record + b"x", fds, False), (bytes(len(record)), [], False),
                     (b"\xff" * len(record), fds, False),
                     (record.replace(b"haul-hand-over-", b"haul-hand-over-9"), fds, False),
                     (record, [], False), (record, fds[:n - 1], False),
                     (record, fds + [null.fileno()], False),
                     (record, [null.fileno()] * n, False),
                     (record, [file.fileno()] * n, False), (record, fds * 20, False)]
            known = len(cases)
            cases += [(change(rng, record), fds, False)
                      for _ in range(5 if netns.fewer() else 25)]
            wrong = []
            for i, (sent, given, ends) in enumerate(cases):
                it = Impostor(f"{other}/socket", sent, given, ends)
                new = echo(PATHS[0], other, bed.port, 1)
                netns.wait_for(lambda it=it, new=new: not new.runs() or it.heard,
                               "the new one to end")
                took = new.runs() and it.heard == b"r"
                if new.runs():
                    new.process.kill()  # it would take the ports
                rc = new.process.wait(60)
                it.close()
                left = set(os.listdir(other)) - {"socket"} - {
                    f for f in os.listdir(other) if f.startswith("log")}
                right = took and i >= known if rc == -signal.SIGKILL else \
                    rc in (1, 2) and is_one_line(new) and not left
                if not right:
                    wrong.append((i, rc, new.said(), sent[:400], len(given), left))
            close_all(fds)
        tap.ok(not wrong, f"{kind}: {len(cases)} wrong records are refused", wrong[:2])
        tap.ok(answers() and bed.update()[0] == 0 and bed.close() == 0,
               f"{kind}: the one that serves does not mind", bed.echo.said())


def test_paths(tap):
    """What is at the path stays, if it is no socket; that of a program that is gone does not."""
    with tempfile.TemporaryDirectory() as d:
        path = f"{d}/socket"
        for name in "socket", "socket.new", "socket.lock":
            with open(f"{d}/{name}", "w") as f:
                f.write("precious")
            new = echo(PATHS[0], d, "tap:h0", 1)
            netns.wait_for(new.is_ready, "it to end or serve")
            if name == "socket.lock":  # one of a program that was killed
                tap.ok(new.runs() and new.end() == 0, "a lock that nobody has", new.said())
                continue
            with open(f"{d}/{name}") as f:
                whole = f.read() == "precious"
            rc = new.process.poll()
            tap.ok(whole and rc in (1, 2) and is_one_line(new), f"{name}: a file stays",
                   (whole, rc, new.said()))
            os.unlink(f"{d}/{name}")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stale:
            stale.bind(path)
        new = echo(PATHS[0], d, "tap:h0", 1).wait_ready()
        tap.ok(new.end() == 0 and not os.path.exists(path), "a stale socket is replaced",
               new.said())
        missing = subprocess.run(
            [PATHS[0], "--port", "tap:h0", "--ip", f"{hand_over_bed.IP}/24", "--hand-over",
             f"{d}/none/socket"], capture_output=True, text=True, timeout=60, check=False)
        said = netns.said(missing.stderr)
        tap.ok(missing.returncode in (1, 2) and said.count("\n") == 1 and "No such file" in said,
               "a missing folder", (missing.returncode, said))
        for bad in "x" * 10, "/" + "x" * 200, "":
            r = subprocess.run([PATHS[0], "--port", "tap:h0", "--ip", "10.1.1.1/24", "--hand-over",
                                bad], capture_output=True, text=True, timeout=60, check=False)
            tap.ok(r.returncode == 2 and "begins with /" in r.stderr, f"{bad[:20]!r}: refused",
                   r.stderr)


def test_two_first(tap, kind, rng):
    """Two that start at the same time: one serves, the other one takes over, or has one line."""
    wrong = []
    with tempfile.TemporaryDirectory() as d:
        if kind == "afpacket":
            netns.veth("h0", "h1")
        for _ in range(3 if netns.fewer() else 10):
            two = [echo(PATHS[0], d, f"{kind}:h0", 1)]
            time.sleep(rng.choice((0, 0, rng.random() * 0.2)))  # random moments, as below
            two.append(echo(PATHS[0], d, f"{kind}:h0", 1))
            for p in two:
                netns.wait_for(p.is_ready, "each to serve or end")
            netns.wait_for(lambda two=two: sum(p.runs() for p in two) < 2, "one to end")
            running = [p for p in two if p.runs()]
            ended = [p for p in two if not p.runs()]
            if len(running) != 1 or any(not is_one_line(p) and "handed over" not in p.said()
                                        for p in ended):
                wrong.append([(p.process.poll(), p.said()) for p in two])
            for p in running:
                p.end()
        left = [f for f in os.listdir(d) if not f.startswith("log")]
        if kind == "afpacket":
            netns.ip("link del h0")
    tap.ok(not wrong and not left, f"{kind}: of two that start at once one serves",
           (wrong[:3], left))


def wait_all(programs):
    """Each that is not stopped serves or has ended."""
    for p in programs:
        netns.wait_for(p.is_ready, "each to serve or end")


def act(rng, bed, programs):
    """One step: a new program, or a signal to one. True: packets may be lost by it."""
    running = [p for p in programs if p.runs()]
    what = rng.choices(("new", "two", "kill", "term", "hup", "stop", "stranger", "usr1"),
                       (8, 2, 2, 2, 1, 1, 2, 1))[0]
    if what in ("new", "two") or not running:
        programs += [bed.start() for _ in range(2 if what == "two" else 1)]
    elif what == "stranger":
        with contextlib.suppress(OSError), call(f"{bed.d}/socket") as s:
            s.send(rng.choice((b"r", b"x", b"")))
    elif what == "stop":
        p = rng.choice(running)
        p.process.send_signal(signal.SIGSTOP)
        time.sleep(rng.random() * 0.5)  # a random time
        p.process.send_signal(signal.SIGCONT)
    else:
        p = rng.choice(running)
        p.process.send_signal({"kill": signal.SIGKILL, "term": signal.SIGTERM,
                               "hup": signal.SIGHUP, "usr1": signal.SIGUSR1}[what])
    return what


def test_random(tap, kind, rng):
    """Steps at random times."""
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(PATHS, d, kind, rng.choice((1, 2)))
        programs, steps, log, seen = [bed.echo], [], [], {bed.echo.process.pid}
        seconds = 6 if netns.fewer() else 25
        load = bed.load(seconds)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            at = time.monotonic()
            steps.append(act(rng, bed, programs))
            log.append((round(at - end + seconds, 2), steps[-1]) + tuple(
                p.process.pid for p in programs if p.process.pid not in seen))
            seen |= {p.process.pid for p in programs}
            # random times
            time.sleep(rng.choice((0, 0.1, 0.5, 2)) * rng.random())
        wait_all(programs)
        netns.wait_for(lambda: sum(p.runs() for p in programs) <= 1, "all but one to end")
        if not any(p.runs() for p in programs):
            programs.append(bed.start().wait_ready())
        if kind == "tap" and "10.77.0.2" not in subprocess.run(
                ["ip", "addr", "show", "dev", "h0"], capture_output=True, text=True,
                check=True).stdout:  # a new interface
            netns.ip("addr add 10.77.0.2/24 dev h0")
            netns.ip("link set h0 up")
        serves = answers()
        got = result(load)
        bed.echo = next(p for p in programs if p.runs())
        counts = hand_over_bed.descriptors(bed.echo.process.pid)
        rc = bed.close()
        crashed = [(p.process.returncode, p.said()) for p in programs
                   if p.process.returncode in CRASHES]
        unclear = [p.said() for p in programs if p.process.returncode in (1, 2) and
                   not is_one_line(p)]
        left = [f for f in os.listdir(d) if not f.startswith("log") and f != "socket.lock"]
    tap.ok(serves and rc == 0, f"{kind}: one serves in the end", (rc, steps, bed.echo.said()))
    tap.ok(got["twice"] == 0, f"{kind}: nothing is answered twice", (got, log))
    tap.ok(not crashed, f"{kind}: nobody crashes", crashed)
    tap.ok(not unclear, f"{kind}: errors are one line each", unclear)
    tap.ok(not left, f"{kind}: nothing is left", (left, counts))


def main():
    tap = netns.Tap()
    netns.enter()
    print(f"# HAUL_SEED={SEED}")
    rng = random.Random(SEED)
    chosen = os.environ.get("HAUL_ONLY", "")
    tests = {"strangers": test_strangers, "impostors": lambda t, k: test_impostors(t, k, rng),
             "two": lambda t, k: test_two_first(t, k, rng),
             "random": lambda t, k: test_random(t, k, rng)}
    for kind in os.environ.get("HAUL_KINDS", "tap afpacket").split():
        if not netns.can_open(tap, kind, f"{kind}: attacks"):
            continue
        for name, test in tests.items():
            if chosen in name:
                test(tap, kind)
    if chosen in "paths":
        test_paths(tap)
    tap.done()


main()
