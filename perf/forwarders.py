# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd and dpdk-testpmd, run with the same ports, burst, rings, pool, memory and CPU."""

import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

from machine import has_hugepages

BURST = 32
RING = 512
MBUFS = 16384
MEMORY_MB = 512
TESTPMD_PERIOD = 2  # at an interval of one second testpmd reports only every second time
PATIENCE = 30  # seconds beyond the expected time of a run


class Failed(Exception):
    """The failure of a program, in one line."""


class Program:
    """A process whose output is read line by line; SIGINT ends it."""

    def __init__(self, command):
        self.is_peer = "dpdk-testpmd" in command
        self.name = "dpdk-testpmd" if self.is_peer else "haul-fwd"
        self.lines = []
        self.news = threading.Condition()
        self.ended = False
        # testpmd ends with its stdin. Its output goes to a pipe; a terminal's would be
        # buffered in the same way.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip())
                self.news.notify()
        with self.news:
            self.ended = True
            self.news.notify()

    def wait_for(self, condition, seconds):
        """Waits until condition(lines) is true; returns its value."""
        with self.news:
            done = self.news.wait_for(lambda: condition(self.lines) or self.ended, seconds)
            found = condition(self.lines)
        if not found:
            raise Failed(f"{self.name}: {'ended' if done else 'silent'}: {self.last_line()}")
        return found

    def last_line(self):
        return next((line for line in reversed(self.lines) if line.strip()), "no output")

    def wait(self, seconds):
        """Waits for exit status 0; returns all output."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f"{self.name}: does not end: {self.last_line()}") from None
        self.reader.join()
        # testpmd may crash at its end, after the other end of a memif has gone; its output is
        # complete.
        if code != 0 and not self.is_peer:
            raise Failed(f"{self.name}: exit code {code}: {self.last_line()}")
        return "\n".join(self.lines)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.wait(PATIENCE)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def times(self):
        """Seconds of the forwarding thread on a CPU, and waiting for one, from the kernel's
        schedstat. Zero if the process is gone. The forwarder is the busiest thread besides the main
        one, which starts up."""
        found = [(0, 0)]
        pid = self.process.pid
        for path in set(glob.glob(f"/proc/{pid}/task/*/schedstat")) - {
                f"/proc/{pid}/task/{pid}/schedstat"}:
            with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as books:
                ran, waited, _ = map(int, books.read().split())
                found.append((ran / 1e9, waited / 1e9))
        return max(found)

    def stop_timed(self):
        """Ends it; returns its output, and the times until it stopped forwarding."""
        times = self.times()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        while self.process.poll() is None:  # on a busy machine it may get the signal late
            times = max(times, self.times())
            time.sleep(0.01)
        if times[0] == 0:
            raise Failed(f"{self.name}: the kernel keeps no /proc/PID/task/TID/schedstat")
        return self.wait(PATIENCE), times


@contextlib.contextmanager
def running(command):
    program = Program(command)
    try:
        yield program
    finally:
        program.kill()


def has_hugepages_for(programs):
    """True if that number of processes can have huge pages at a time."""
    return has_hugepages(programs * MEMORY_MB)


def memory(huge, prefix):
    if huge:
        return ["--in-memory", "--single-file-segments", "-m", str(MEMORY_MB)]
    return ["--no-huge", "--no-shconf", "-m", str(MEMORY_MB), f"--file-prefix={prefix}"]


def testpmd(vdevs, mode, cpu, main_cpu, huge, tx_first=False):
    """testpmd's command line: it forwards on cpu, while its main lcore sleeps on main_cpu."""
    command = ["dpdk-testpmd", "--lcores", f"0@{main_cpu},1@{cpu}", "--no-pci",
               *memory(huge, f"perf-{os.getpid()}-{cpu}")]
    command += [f"--vdev={vdev}" for vdev in vdevs]
    command += ["--", f"--forward-mode={mode}", f"--burst={BURST}", f"--rxd={RING}",
                f"--txd={RING}", f"--total-num-mbufs={MBUFS}", "--nb-cores=1",
                "--no-lsc-interrupt", "--stats-period=1"]
    return command + (["--tx-first"] if tx_first else ["-a"])


def haul_fwd(program, vdevs, mode, handler, cpu, huge, until, tx_first=False):
    """haul-fwd's command line; until: arguments that set its end, if not at SIGINT."""
    command = [program, "--mode", mode, "--handler", handler, "--carriers", f"{cpu}-{cpu}",
               "--burst", str(BURST), "--rxd", str(RING), "--txd", str(RING),
               "--mbufs", str(MBUFS), "--period", "1", "--json"]
    for vdev in vdevs:
        command += ["--port", vdev]
    command += until + (["--tx-first", "1"] if tx_first else [])
    return command + ([] if huge else ["--eal", "--no-huge"])


def rates(lines, ports):
    """testpmd's received packets per second, per period, summed over its ports."""
    found = [int(match.group(1)) for match in
             (re.search(r"Rx-pps:\s+(\d+)", line) for line in lines) if match]
    return [sum(found[i:i + ports]) for i in range(0, len(found) - ports + 1, ports)]


def received(lines, ports):
    """The number of packets received by testpmd on all ports up to its last period."""
    found = [int(match.group(1)) for match in
             (re.search(r"RX-packets: (\d+) ", line) for line in lines) if match]
    return sum(found[-ports:])


def testpmd_rate(program, ports, seconds):
    """Mean of testpmd's periods over the given seconds, without the first two (start-up)."""
    wanted = 2 + (seconds + 1) // TESTPMD_PERIOD
    found = program.wait_for(
        lambda lines: len(rates(lines, ports)) >= wanted and rates(lines, ports),
        seconds + PATIENCE)
    return sum(found[2:wanted]) / (wanted - 2)


def wait_until_up(program):
    """Waits for a forwarder's first report."""
    program.wait_for(lambda lines: any("NIC statistics" in line or re.match(r"\d+\.\d s$", line)
                                       for line in lines), PATIENCE)
    for line in program.lines:
        if "in ordinary pages" in line:  # the other side would have huge pages
            raise Failed(line)


def testpmd_packets(output):
    """The total of forwarded packets."""
    accumulated = output.split("Accumulated forward statistics", 1)[-1]
    found = re.search(r"RX-packets:\s+(\d+)", accumulated)
    if not found:
        raise Failed("dpdk-testpmd: no forward statistics at its end")
    return int(found.group(1))


def haul_result(output):
    """haul-fwd's JSON object, found in its output."""
    start = output.find("\n{") + 1 if not output.startswith("{") else 0
    try:
        return json.JSONDecoder().raw_decode(output[start:])[0]
    except ValueError:
        raise Failed("haul-fwd: no JSON at its end") from None


def haul_packets(result):
    return sum(port["rx_packets"] for port in result["ports"])


def instructions(command, packets, packets_of):
    """(instructions, packets) of a whole run under callgrind. haul-fwd ends by itself, testpmd
    after receiving about that number of packets."""
    with tempfile.TemporaryDirectory() as scratch:
        valgrind = ["valgrind", "--tool=callgrind", "--fair-sched=try",
                    "--callgrind-out-file=" + os.path.join(scratch, "callgrind.out")]
        with running(valgrind + command) as program:
            if program.is_peer:
                ports = sum(word.startswith("--vdev=") for word in command)
                program.wait_for(lambda lines: received(lines, ports) >= packets, 10 * PATIENCE)
                program.process.send_signal(signal.SIGINT)
            output = program.wait(10 * PATIENCE)
    collected = re.search(r"Collected : (\d+)", output)
    if not collected:
        raise Failed(f"valgrind {command[0]}: {output.splitlines()[-1]}")
    return int(collected.group(1)), packets_of(output)
