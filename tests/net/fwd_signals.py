# SPDX-License-Identifier: BSD-3-Clause
"""Signals: they end haul-fwd at any point, and its interfaces and files are removed."""
import os
import re
import signal
import socket
import subprocess
import tempfile

import netns

import fwd

netns.enter()
tap = netns.Tap()

# Longer than any stop takes, and longer than a user would wait.
PATIENCE = 20

IDLE = "--port", "null:no-rx=1", "--carriers", 1, "--poller", "sleep"  # leaves the CPUs to others


def ended(haul):
    try:
        return haul.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        haul.process.kill()
        return haul.wait()


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


def no_primary(d):
    return ["--port", "null:", "--eal", "--proc-type=secondary"], None


for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    for who in silent_peer, no_writer, no_primary:
        with tempfile.TemporaryDirectory() as d:
            args, kept = who(d)
            with fwd.Running(*args) as haul:
                netns.wait_for(haul.takes_signals, "signals to be taken")
                haul.process.send_signal(sig)
                r = ended(haul)
            if kept:
                kept.close()
        lines = [line for line in r.err.splitlines() if line.startswith("haul-fwd: ")]
        # It ends by the error of the interrupted call, with a line, or by the signal.
        tap.ok(r.rc in (1, 2, -sig) and lines,
               f"{sig.name} ends a start: {who.__name__}", r)

# The output has no reader.
for sig in signal.SIGINT, signal.SIGTERM:
    reader, writer = os.pipe()
    with fwd.Running("--port", "null:", "--carriers", 1, options=("--period", "0.001"),
                     out=writer) as haul:
        os.close(writer)

        def writes():
            with open(f"/proc/{haul.process.pid}/wchan") as f:
                return "pipe_write" in f.read() or haul.process.poll() is not None
        netns.wait_for(writes, "the pipe to be full")
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
with fwd.Running(*IDLE, options=("--json", "--period", "1")) as haul:
    netns.wait_for(haul.runs, "haul-fwd to run")
    haul.process.send_signal(signal.SIGSTOP)
    netns.wait_for(lambda: "T (stopped)" in open(f"/proc/{haul.process.pid}/status").read(),
                   "it to stop")
    netns.time.sleep(4)
    haul.process.send_signal(signal.SIGCONT)
    reports = haul.said().count(" s\n")
    netns.wait_for(lambda: haul.said().count(" s\n") > reports + 1, "more reports")
    r = haul.end()
stamps = re.findall(r"^(\d+\.\d) s$", r.err, re.M)
tap.ok(r.rc == 0 and len(stamps) == len(set(stamps)), "no report for the time that it stood still",
       stamps)
tap.done()
