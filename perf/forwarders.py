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

import machine

BURST = 32
RING = 512
MBUFS = 16384
MEMORY_MB = 512
MEMORY_LEAST_MB = 128  # enough for the pool; with fewer huge pages neither side has any
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

    def times(self, threads):
        """Seconds of the forwarding threads on a CPU, and waiting for one, from the kernel's
        schedstat. Zero if the process is gone. The forwarders are the busiest threads besides the
        main one, which starts up."""
        found = [(0, 0)] * threads
        pid = self.process.pid
        for path in set(glob.glob(f"/proc/{pid}/task/*/schedstat")) - {
                f"/proc/{pid}/task/{pid}/schedstat"}:
            with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as books:
                ran, waited, _ = map(int, books.read().split())
                found.append((ran / 1e9, waited / 1e9))
        return tuple(map(sum, zip(*sorted(found)[-threads:])))

    def stop_timed(self, threads):
        """Ends it; returns its output, and the times until it stopped forwarding."""
        times = self.times(threads)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        while self.process.poll() is None:  # on a busy machine it may get the signal late
            times = max(times, self.times(threads))
            time.sleep(0.01)
        if times[0] == 0:
            raise Failed(f"{self.name}: the kernel keeps no /proc/PID/task/TID/schedstat")
        return self.wait(PATIENCE), times


@contextlib.contextmanager
def running(command, kind=Program):
    program = kind(command)
    try:
        yield program
    finally:
        program.kill()


def huge_megabytes(programs, free):
    """Megabytes of huge pages for each of programs that run at a time, of so many that are free; 0:
    none has any."""
    share = free // programs
    return min(share, MEMORY_MB) if share >= MEMORY_LEAST_MB else 0


def memory(huge, prefix):
    """huge: megabytes of huge pages; 0: ordinary pages."""
    if huge:
        return ["--in-memory", "--single-file-segments", "-m", str(huge)]
    return ["--no-huge", "--no-shconf", "-m", str(MEMORY_MB), f"--file-prefix={prefix}"]


def testpmd(vdevs, mode, cpus, main_cpu, huge, queues=1, more=()):
    """testpmd's command line: it forwards on cpus, while its main lcore sleeps on main_cpu. Lines
    are written at once, although it writes to a pipe. Without --disable-link-check it would wait
    nine seconds for the other end of a memif."""
    lcores = ",".join([f"0@{main_cpu}"] + [f"{i + 1}@{cpu}" for i, cpu in enumerate(cpus)])
    command = ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", lcores, "--no-pci",
               *memory(huge, f"perf-{os.getpid()}-{cpus[0]}-{main_cpu}")]
    command += [f"--vdev={vdev}" for vdev in vdevs]
    return command + [
        "--", f"--forward-mode={mode}", f"--burst={BURST}", f"--rxd={RING}", f"--txd={RING}",
        f"--rxq={queues}", f"--txq={queues}", f"--total-num-mbufs={MBUFS}",
        f"--nb-cores={len(cpus)}", "--no-lsc-interrupt", "--disable-link-check", *more]


def haul_fwd(program, specs, mode, handler, cpus, huge, more=()):
    """haul-fwd's command line. It takes as many huge pages as it needs."""
    carriers = ",".join(map(str, cpus)) if len(cpus) > 1 else f"{cpus[0]}-{cpus[0]}"
    command = [program, "--mode", mode, "--handler", handler, "--carriers", carriers,
               "--burst", str(BURST), "--rxd", str(RING), "--txd", str(RING),
               "--mbufs", str(MBUFS), "--period", "1", "--json"]
    for spec in specs:
        command += ["--port", spec]
    return command + list(more) + ([] if huge else ["--eal", "--no-huge"])


def haul_modes(program):
    """The names in haul-fwd's --mode."""
    done = subprocess.run([program, "--help"], stdout=subprocess.PIPE, text=True)
    return re.search(r"--mode\s+(\S+)", done.stdout).group(1).split("|")


class Peer(Program):
    """testpmd at its prompt, as a generator or a sink."""

    def ask(self, command, sign):
        """The lines from a command on up to one with the sign."""
        with self.news:
            first = len(self.lines)
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"{self.name}: ended: {self.last_line()}") from None
        self.wait_for(lambda lines: any(sign in line for line in lines[first:]), PATIENCE)
        return "\n".join(self.lines[first:])

    def count(self, way, ports):
        """(packets of the ports up to now, time): way is RX or TX."""
        said = self.ask("show port stats all\nshow fwd stats all",
                        "Accumulated forward statistics")
        blocks = re.split(r"NIC statistics for port (\d+)", said)
        found = dict(zip(map(int, blocks[1::2]), blocks[2::2]))
        now = time.monotonic()
        return sum(int(re.search(rf"{way}-packets: (\d+)", found[i]).group(1))
                   for i in ports), now

    def rate(self, way, ports, seconds):
        """Packets per second, from the first one on."""
        end = time.monotonic() + PATIENCE
        while self.count(way, ports)[0] == 0:
            if time.monotonic() > end:
                raise Failed(f"{self.name}: no packets")
            time.sleep(0.05)
        time.sleep(0.3)
        packets, since = self.count(way, ports)
        time.sleep(seconds)
        more, now = self.count(way, ports)
        return (more - packets) / (now - since)

    def end_forwarding(self):
        """The number of packets sent, over all ports."""
        self.ask("stop", "Accumulated forward statistics")
        self.wait_for(lambda lines: "Done." in lines[-2:], PATIENCE)
        return testpmd_packets("\n".join(self.lines), "TX")


def wait_until_up(program):
    """Waits for a forwarder's first report."""
    program.wait_for(lambda lines: any("NIC statistics" in line or re.match(r"\d+\.\d s$", line)
                                       for line in lines), PATIENCE)
    for line in program.lines:
        if "in ordinary pages" in line:  # the other side would have huge pages
            raise Failed(line)


def testpmd_packets(output, way):
    """The total of packets: way is RX or TX."""
    accumulated = output.rsplit("Accumulated forward statistics", 1)
    found = re.search(rf"{way}-packets:\s+(\d+)", accumulated[-1])
    if len(accumulated) == 1 or not found:
        raise Failed("dpdk-testpmd: no forward statistics at its end")
    return int(found.group(1))


def haul_result(output):
    """haul-fwd's JSON object, found in its output."""
    start = output.find("\n{") + 1 if not output.startswith("{") else 0
    try:
        return json.JSONDecoder().raw_decode(output[start:])[0]
    except ValueError:
        raise Failed("haul-fwd: no JSON at its end") from None


def haul_packets(output, way):
    return sum(port[way.lower() + "_packets"] for port in haul_result(output)["ports"])


def counted(lines, way, ports):
    """The number of packets of all ports of testpmd up to its last period."""
    found = [int(match.group(1)) for match in
             (re.search(rf"{way}-packets: (\d+) ", line) for line in lines) if match]
    return sum(found[-ports:])


def instructions(command, way, packets, packets_of):
    """(instructions of the forwarding thread, packets) of a whole run under callgrind. haul-fwd
    ends by itself, testpmd after at least that number of packets."""
    with tempfile.TemporaryDirectory() as scratch:
        valgrind = ["valgrind", "--tool=callgrind", "--fair-sched=try", "--separate-threads=yes",
                    "--callgrind-out-file=" + os.path.join(scratch, "callgrind.out")]
        at = command.index("dpdk-testpmd") if "dpdk-testpmd" in command else 0
        with running(valgrind + command[at:]) as program:
            if program.is_peer:
                ports = sum(word.startswith("--vdev=") for word in command)
                program.wait_for(lambda lines: counted(lines, way, ports) >= packets,
                                 10 * PATIENCE)
                program.process.send_signal(signal.SIGINT)
            output = program.wait(10 * PATIENCE)
        # The first thread starts up, reports and waits, for a time that depends on the machine.
        found = [total(path) for path in glob.glob(os.path.join(scratch, "callgrind.out-*"))
                 if not path.endswith("-01")]
    if not found:
        raise Failed(f"valgrind {command[0]}: {output.splitlines()[-1]}")
    return max(found), packets_of(output)


def total(path):
    """The instructions in a file of callgrind's."""
    with open(path, encoding="ascii", errors="replace") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("totals:"))
