# SPDX-License-Identifier: BSD-3-Clause
"""Programs that serve packets, one at a time on a CPU, for perf/overload and perf/flood: haul-fwd
with a time of computing for each packet, and dpdk-testpmd with as much work in its noisy mode."""

import collections
import contextlib
import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

import machine

MBUFS = 16384
START_UP = 60  # seconds, at most
WRITES = 1000  # with each packet, to find how long one takes
CALIBRATIONS = 3  # the best counts
PATIENCE = 5  # seconds for an end
PROMPT_GAP = 0.05  # seconds between questions

# port: a --port of haul-fwd; device: the same for testpmd, as --vdev. ready: true when it serves.
Place = collections.namedtuple("Place", "port device ready")


class Prompt:
    """The prompt of a server that runs."""

    def __init__(self, send, receive):
        self.send, self.receive = send, receive
        self.times = []  # of all answers, s

    def ask(self):
        """Packets that the server has received so far. EOFError: it has ended."""
        since = time.monotonic()
        self.send(b"show port stats 0\n")
        said = b""
        while b"Rx-pps" not in said or not said.endswith(b"> "):
            news = self.receive()
            if not news:
                raise EOFError
            said += news
        self.times.append(time.monotonic() - since)
        return int(re.findall(rb"RX-packets: (\d+)", said)[-1])


class Asking(threading.Thread):
    """Asks a prompt now and then, until it is told to stop, or the server ends: testpmd may crash
    when the other end of a memif goes."""

    def __init__(self, prompt):
        super().__init__()
        self.prompt, self.ends = prompt, threading.Event()

    def run(self):
        with contextlib.suppress(EOFError, BrokenPipeError):
            while not self.ends.wait(PROMPT_GAP):
                self.prompt.ask()

    def __enter__(self):
        self.start()
        return self.prompt

    def __exit__(self, *_):
        self.ends.set()
        self.join()


def end(p):
    """testpmd may hang at its end, when the other end of a memif has gone."""
    p.terminate()
    p.stdin.close()
    try:
        p.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        p.kill()


@contextlib.contextmanager
def running(command, ready, env=None):
    with tempfile.TemporaryFile() as err, subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err,
            bufsize=0) as p:
        try:
            until = time.monotonic() + START_UP
            while not ready():
                if p.poll() is not None or time.monotonic() > until:
                    err.seek(0)
                    sys.exit(f"{command[0]} does not start: {err.read().decode()}")
                time.sleep(0.01)
            yield p
        finally:
            end(p)


def haul(program, folder, cpu, place, *args):
    """haul-fwd; yields its prompt."""
    control = os.path.join(folder, "prompt")
    command = [program, "--port", place.port, "--mode", "macswap", "--carriers", f"{cpu}-{cpu}",
               "--period", "0", "--json", "--control", control, *map(str, args)]

    @contextlib.contextmanager
    def start():
        with running(command, lambda: os.path.exists(control) and place.ready(),
                     os.environ | {"RUNTIME_DIRECTORY": folder}), \
                socket.socket(socket.AF_UNIX) as s:
            s.connect(control)
            yield Prompt(s.sendall, lambda: s.recv(1 << 16))
    return start()


def noisy(writes, cpu, main_cpu, place, ring=512):
    """dpdk-testpmd's noisy mode with that many writes to memory for each packet; yields its prompt.
    testpmd takes the number of cache lines for the number of bytes, so these are 64 KiB."""
    command = ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", f"0@{main_cpu},1@{cpu}", "--no-pci",
               "--no-huge", "--no-shconf", "-m", "512", f"--file-prefix=servers-{os.getpid()}",
               f"--vdev={place.device}", "--", "--interactive", "--auto-start",
               "--forward-mode=noisy", "--noisy-lkup-memory=4",
               f"--noisy-lkup-num-writes={writes}", f"--rxd={ring}", f"--txd={ring}",
               f"--total-num-mbufs={MBUFS}", "--no-lsc-interrupt", "--disable-link-check"]

    @contextlib.contextmanager
    def start():
        with running(command, place.ready) as p:
            def receive():
                if not select.select([p.stdout], [], [], START_UP)[0]:
                    sys.exit("dpdk-testpmd's prompt is silent")
                return os.read(p.stdout.fileno(), 1 << 16)

            said = b""
            while b"testpmd> " not in said:
                said += receive()
            yield Prompt(p.stdin.write, receive)
    return start()


def writes_for(service, rate):
    """How many writes take so many us: rate(WRITES) is packets a second with that many."""
    return round(WRITES * service * max(rate(WRITES) for _ in range(CALIBRATIONS)) / 1e6)


def generate(program, folder, cpu, port, *args):
    """Runs haul-fwd's generator to its end, and returns its figures."""
    done = subprocess.run(
        [program, "--port", port, "--mode", "generate", "--carriers", f"{cpu}-{cpu}", "--period",
         "0", "--json", *map(str, args)], env=os.environ | {"RUNTIME_DIRECTORY": folder},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"the generator failed: {done.stderr}")
    return json.loads(done.stdout)["generator"]
