# SPDX-License-Identifier: BSD-3-Clause
"""Lost output: a full disk, a closed stdout, a reader that exits.

Usage: output.py THIEF PROGRAM...
"""
import contextlib
import os
import signal
import subprocess
import sys

import netns

thief = sys.argv[1]  # takes huge pages while EAL starts, so that the program restarts itself
programs = {os.path.basename(path): path for path in sys.argv[2:]}
RUNS = {
    "haul-fwd": ["--port", "null:", "--carriers", "1", "--duration", "0.1"],
    "haul-echo": ["--port", "null:", "--ip", "10.9.9.2/24", "--carriers", "1", "--duration", "0.1"],
    "haul-http": ["--listen", "127.0.0.1:0", "--carriers", "1", "--duration", "0.1"],
    "haul-doctor": ["--machine", "core:4 pu:2"],
    "haul-dns": ["--port", "null:", "--address", "10.9.9.2/24", "--upstream", "10.9.9.1",
                 "--carriers", "1", "--duration", "0.1"],
    "haul-top": ["--once", "--interval", "100ms"],
}
ENDLESS = {
    "haul-fwd": ["--port", "null:", "--carriers", "1", "--period", "0.05"],
    "haul-echo": ["--port", "null:", "--ip", "10.9.9.2/24", "--carriers", "1", "--period", "0.05"],
    "haul-http": ["--listen", "127.0.0.1:0", "--carriers", "1", "--period", "0.05"],
    "haul-dns": ["--port", "null:", "--address", "10.9.9.2/24", "--upstream", "10.9.9.1",
                 "--carriers", "1", "--period", "0.05"],
}

tap = netns.Tap()


def run(name, args, **streams):
    # Python ignores SIGPIPE; a shell's children do not.
    return subprocess.run([programs[name], *args], stdin=subprocess.DEVNULL, text=True, timeout=60,
                          restore_signals=True, **streams)


def one_line(name, r):
    lines = r.stderr.splitlines()
    said = [line for line in lines if line.startswith(f"{name}: output is lost: ")]
    return r.returncode == 1 and len(said) == 1 and lines[-1] == said[0]


def lost(name, args):
    shown = " ".join([name, *args])
    with open("/dev/full", "w") as full:
        r = run(name, args, stdout=full, stderr=subprocess.PIPE)
    tap.ok(one_line(name, r), f"{shown}: stdout is full", r)
    r = run(name, args, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    tap.ok(one_line(name, r), f"{shown}: stdout is closed", r)
    read, write = os.pipe()
    os.close(read)
    r = run(name, args, stdout=write, stderr=subprocess.PIPE)
    tap.ok(r.returncode == -signal.SIGPIPE and "stdout" not in r.stderr,
           f"{shown}: the reader has gone", r)
    if "--port" in args:
        r = run(name, args, stdout=write, stderr=subprocess.PIPE, env=os.environ | {
            "LD_PRELOAD": thief, "ASAN_OPTIONS": "verify_asan_link_order=0:" +
            os.environ.get("ASAN_OPTIONS", "")})
        tap.ok(r.returncode == -signal.SIGPIPE and "stdout" not in r.stderr and
               "free huge pages could not be mapped" in r.stderr,
               f"{shown}: the reader has gone, begun anew", r)
    r = run(name, args, stdout=write, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    tap.ok(one_line(name, r) and "its reader has gone" in r.stderr,
           f"{shown}: the reader has gone, SIGPIPE is ignored", r)
    os.close(write)


def reader_goes(name):
    p = subprocess.Popen([programs[name], *ENDLESS[name]], stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = p.stdout.readline()
    p.stdout.close()
    said = p.stderr.read()
    rc = p.wait(60)
    tap.ok(first and rc == -signal.SIGPIPE and "output" not in said,
           f"{name}: ends when its reader goes", f"{rc} {first} {said}")


@contextlib.contextmanager
def watched(name):
    """haul-top needs a program that runs: yields its arguments for that."""
    if name != "haul-top":
        yield []
        return
    http = subprocess.Popen([programs["haul-http"], *ENDLESS["haul-http"]], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    http.stdout.readline()
    drain = subprocess.Popen(["cat"], stdin=http.stdout, stdout=subprocess.DEVNULL)
    try:
        yield ["--pid", str(http.pid)]
    finally:
        http.terminate()
        http.wait()
        drain.wait()


def all_of(name, runs):
    for args in (["--help"], ["--version"], runs, [*runs, "--json"]):
        lost(name, args)
    # The number of a closed stderr is not reused for a port either.
    r = run(name, runs, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.close(2))
    tap.ok(r.returncode == 0, f"{name}: runs with stderr closed", r)
    if name in ENDLESS:
        reader_goes(name)


for program in programs:
    with watched(program) as more:
        all_of(program, [*RUNS[program], *more])
tap.done()
