# SPDX-License-Identifier: BSD-3-Clause
"""Signals: they end haul-fwd at any point, and its interfaces and files are removed."""
import concurrent.futures
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import netns

import fwd

netns.enter()
tap = netns.Tap()

# Longer than any stop takes, and longer than a user would wait.
PATIENCE = 60

IDLE = "--port", "null:no-rx=1", "--carriers", 1, "--poller", "sleep"  # leaves the CPUs to others


def ended(haul):
    try:
        return haul.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        haul.process.kill()
        return haul.wait()


def beside(run, cases):
    """The results of runs that mostly wait, a few at once."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(run, cases))


def interface(name):
    """The interface as the kernel sees it, with XDP and promiscuous mode."""
    return subprocess.run(["ip", "-d", "link", "show", name], stdout=subprocess.PIPE,
                          text=True).stdout


def is_clean(name):
    text = interface(name)
    return "xdp" not in text and "promiscuity 0" in text


# A start that waits for a peer that never connects.
def silent_peer(d):
    path = os.path.join(d, "silent.sock")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()
    return ["--port", f"virtio-user:{path}"], listener


def no_writer(d):
    path = os.path.join(d, "fifo.pcap")
    os.mkfifo(path)
    return ["--port", f"pcap:rx={path}"], None


# Files whose reading does not end: a FIFO without a writer, and one without an end.
READERS = {"replay": ("--mode", "generate", "--replay", "{}"),
           "rates": ("--mode", "generate", "--rate", "@{}"),
           "routes": ("--mode", "l3fwd", "--routes", "{}"),
           "commands": ("--cmdline-file", "{}")}


for what, option in READERS.items():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "fifo")
        os.mkfifo(path)
        with fwd.Running(*IDLE, *(o.format(path) for o in option)) as haul:
            netns.wait_for(lambda: netns.has_open(haul.process, path), "the FIFO to be read")
            haul.process.send_signal(signal.SIGINT)
            r = ended(haul)
        said = f"{path}: the program was told to end while it was read" in r.err
        tap.ok((r.rc, said) == ((0, False) if what == "commands" else (2, True)),
               f"SIGINT, and {what} are read from a FIFO that nobody writes", r)
        r = fwd.run(*IDLE, *(o.format("/dev/zero") for o in option))
        tap.ok(r.rc == 2 and ("the most that is read" in r.err or "unknown file" in r.err),
               f"{what} are of limited length", r)
        r = fwd.run(*IDLE, *(o.format(d) for o in option))
        tap.ok(r.rc == 2 and "it is a directory; give a file or a pipe" in r.err,
               f"{what} of a directory", r)

# What a shell gives in a file's place.
for source in "/dev/stdin", "/dev/fd/0":
    done = subprocess.run([fwd.FWD, *map(str, IDLE), "--cmdline-file", source, "--duration", "0.1"],
                          input=b"show config fwd\n", stdout=subprocess.PIPE)
    tap.ok(done.returncode == 0 and b"ports=1" in done.stdout, f"commands from {source}", done)

# SIGUSR1 does no harm from the first instruction of main() on, and is answered once carriers run.
def has_begun(process):
    """True once main() has blocked or taken SIGUSR1."""
    with open(f"/proc/{process.pid}/status") as f:
        masks = [int(line.split()[1], 16) for line in f if line.startswith(("SigBlk:", "SigCgt:"))]
    return (masks[0] | masks[1]) >> (signal.SIGUSR1 - 1) & 1


def report_at_start(ms):
    """Sends SIGUSR1 so long after main() has begun."""
    with fwd.Running(*IDLE, "--duration", "0.5") as haul:
        netns.wait_for(lambda: has_begun(haul.process), "main() to begin")
        time.sleep(ms / 1000)  # at any moment
        haul.process.send_signal(signal.SIGUSR1)
        return ended(haul)


delays = range(0, 300, 30 if netns.fewer() else 15)
early = [(ms, r) for ms, r in zip(delays, beside(report_at_start, delays))
         if r.rc != 0 or "coroutines that have not ended" not in r.err]
tap.ok(not early, "SIGUSR1 at the start", early)


def ended_at_start(case):
    """The result of a start that waits for something, and gets a signal."""
    sig, who = case
    with tempfile.TemporaryDirectory() as d:
        args, kept = who(d)
        with fwd.Running(*args) as haul:
            netns.wait_for(haul.takes_signals, "signals to be taken")
            haul.process.send_signal(sig)
            r = ended(haul)
        if kept:
            kept.close()
    return r


cases = [(sig, who) for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
         for who in (silent_peer, no_writer)]
for (sig, who), r in zip(cases, beside(ended_at_start, cases)):
    lines = [line for line in r.err.splitlines() if line.startswith("haul-fwd: ")]
    # It ends by the error of the interrupted call, with a line, or by the signal.
    tap.ok(r.rc in (1, 2, -sig) and lines, f"{sig.name} ends a start: {who.__name__}", r)

# The main thread waits for a CPU: an idle-class thread beside busy ones, for seconds.
def starves(haul):
    """True while its CPU time stands still, for longer than a start may take."""
    def ran():
        with open(f"/proc/{haul.process.pid}/task/{haul.process.pid}/schedstat") as f:
            return f.read().split()[0]
    before, until = ran(), time.monotonic() + 4
    while time.monotonic() < until and ran() == before and haul.process.poll() is None:
        time.sleep(0.01)  # between looks
    return time.monotonic() >= until


def keep_busy(cpus):
    os.sched_setaffinity(0, cpus)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    except PermissionError:
        pass  # its waits are shorter then


def state_of(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()[0]


with tempfile.TemporaryDirectory() as d:
    cpus = os.sched_getaffinity(0)
    one = {max(cpus)}  # others have their carriers on the first ones
    with fwd.Running(*no_writer(d)[0]) as haul:
        pid = haul.process.pid
        netns.wait_for(lambda: netns.waits_in(haul.process, "wait_for_partner"),
                       "the FIFO to be opened")
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"],
                                 preexec_fn=lambda: keep_busy(one)) for _ in range(16)]
        os.sched_setaffinity(pid, one)  # of the main thread alone
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
        haul.process.send_signal(signal.SIGINT)
        netns.wait_for(lambda: haul.process.poll() is not None or state_of(pid) == "R",
                       "the main thread to wait for a CPU")
        starved = starves(haul)
        for b in busy:
            b.kill()
            b.wait()
        if haul.process.poll() is None:
            os.sched_setaffinity(pid, cpus)
        r = haul.wait()
    print(f"# {'starved' if starved else 'it got the CPU'}")
    tap.ok(r.rc in (1, 2) and "does not end" not in r.err,
           "a start that waits for a CPU is not ended by the clock", r)

# Handlers that would take minutes: a burst of 32 packets, each a gigabyte or a hundred seconds.
for service in ("--service-memory", 1 << 30), ("--service", "100s"):
    for handler in "burst", "coroutine":
        with fwd.Running("--port", "null:", "--carriers", 1, *service, "--handler",
                         handler) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            haul.process.send_signal(signal.SIGINT)
            r = ended(haul)
        tap.ok(r.rc == 0 and r.json, f"SIGINT ends {' '.join(map(str, service))}, {handler}", r)

# The output has no reader.
for sig in signal.SIGINT, signal.SIGTERM:
    reader, writer = os.pipe()
    with fwd.Running("--port", "null:", "--carriers", 1, options=("--period", "0.001"),
                     out=writer) as haul:
        os.close(writer)

        netns.wait_for(lambda: netns.waits_in(haul.process, "pipe_write"), "the pipe to be full")
        haul.process.send_signal(sig)
        r = ended(haul)
    os.close(reader)
    tap.ok(r.rc == 1 and "stdout cannot be written" in r.err, f"{sig.name}, and stdout is full", r)

# All three signals end it in the same way and leave nothing behind.
for kind in "afpacket", "afxdp":
    if not netns.can_open(tap, kind):
        continue
    for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        netns.veth("v0", "v1")
        with fwd.Running("--port", f"{kind}:v0", "--carriers", 1) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            set_up = not is_clean("v0")
            r = haul.end(sig)
        tap.ok(r.rc == 0 and r.json and set_up and is_clean("v0"),
               f"{sig.name}: figures, exit 0, {kind} as it was", f"{r}\n{interface('v0')}")
        netns.ip("link del v0")

with fwd.Running(*IDLE, preexec_fn=lambda: signal.signal(
        signal.SIGHUP, signal.SIG_IGN)) as haul:
    netns.wait_for(haul.runs, "haul-fwd to run")
    haul.process.send_signal(signal.SIGHUP)
    reports = haul.said().count(" s\n")
    netns.wait_for(lambda: haul.said().count(" s\n") > reports + 2 or
                   haul.process.poll() is not None, "more reports")
    goes_on = haul.process.poll() is None
    r = haul.end(signal.SIGTERM)
tap.ok(goes_on and r.rc == 0, "SIGHUP under nohup does nothing", r)

# It ends by itself within a second, or at once by a second signal; either may come first.
with fwd.Running(*IDLE) as haul:
    netns.wait_for(haul.runs, "haul-fwd to run")
    haul.process.send_signal(signal.SIGSTOP)
    haul.process.send_signal(signal.SIGINT)
    haul.process.send_signal(signal.SIGTERM)
    haul.process.send_signal(signal.SIGCONT)
    r = ended(haul)
tap.ok(r.rc in (-signal.SIGTERM, -signal.SIGINT), "a second signal ends it at once", r)

# Reports that fell due while it was stopped are not printed later.
with fwd.Running(*IDLE, options=("--json", "--period", "0.2")) as haul:
    netns.wait_for(haul.runs, "haul-fwd to run")
    haul.process.send_signal(signal.SIGSTOP)
    netns.wait_for(lambda: "T (stopped)" in open(f"/proc/{haul.process.pid}/status").read(),
                   "it to stop")
    time.sleep(1)  # reports fall due
    haul.process.send_signal(signal.SIGCONT)
    reports = haul.said().count(" s\n")
    netns.wait_for(lambda: haul.said().count(" s\n") > reports + 1, "more reports")
    r = haul.end()
stamps = re.findall(r"^(\d+\.\d) s$", r.err, re.M)
tap.ok(r.rc == 0 and len(stamps) == len(set(stamps)), "no report for the time that it stood still",
       stamps)
tap.done()
