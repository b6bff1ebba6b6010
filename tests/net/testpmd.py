# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-testpmd at its prompt, as the other end of a port under test."""
import collections
import os
import re
import shutil
import subprocess
import threading

import netns

BURST = 32
SIGN = "Accumulated forward statistics"  # ends what testpmd says of its streams
Count = collections.namedtuple("Count", "rx tx rx_bytes tx_bytes missed")


def need():
    if not shutil.which("dpdk-testpmd"):
        netns.skip_all("dpdk-testpmd is not installed (Debian: dpdk-dev)")


def dpdk_of(program):
    """The version of DPDK's libraries that a program loads."""
    said = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"librte_eal\.so\.(\S+)", said)[1]


def has_dpdk_of(program):
    """True if dpdk-testpmd has the DPDK of this program: PMDs of others have other words."""
    return dpdk_of(program) == dpdk_of(shutil.which("dpdk-testpmd"))


class Testpmd(netns.Child):
    """Forwards on one lcore. Its ports are vdevs; port 0 is the one whose packets are counted."""

    def __init__(self, *vdevs):
        self.vdevs = vdevs

    def __enter__(self):
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        self.lines = []
        self.news = threading.Condition()
        # stdbuf: its output would stay in a buffer, since it goes to a pipe. Its own name for its
        # files: other testpmds may run.
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", f"(0,1)@({cpus})", "--no-pci",
             "--no-huge", "-m", "128", "--no-shconf", "--no-telemetry",
             f"--file-prefix=haul-test-{os.getpid()}", *(f"--vdev={vdev}" for vdev in self.vdevs),
             "--", "-i", "--nb-cores=1", "--total-num-mbufs=8192", "--no-lsc-interrupt",
             "--no-flush-rx", "--disable-link-check", f"--burst={BURST}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.say("show fwd stats all")  # answered once its ports have started
        return self

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line)
                self.news.notify()
        with self.news:
            self.lines.append("(end)\n")
            self.news.notify()

    def __str__(self):
        return "dpdk-testpmd:\n" + "".join(self.lines[-40:])

    def say(self, *commands):
        """Gives commands, of which the last one prints statistics; returns all output up to
        those."""
        with self.news:
            first = len(self.lines)
            self.process.stdin.write("".join(command + "\n" for command in commands))
            self.process.stdin.flush()
            self.news.wait_for(lambda: any(re.fullmatch(r" *\++\n|\(end\)\n", line)
                                           for line in self.lines[first:]), 120)
            said = "".join(self.lines[first:])
        if SIGN not in said:
            raise RuntimeError(f"no answer from {self}")
        return said

    def answer(self, command):
        """What it says of a command, without the echo and the figures that follow."""
        said = self.say(command, "show fwd stats all").replace("testpmd> ", "")
        lines = [line for line in said.splitlines()
                 if line not in (command, "show fwd stats all")]
        return re.split(r"\n *-+ Forward statistics|\n *\++ Accumulated",
                        "\n".join(["", *lines]))[0]

    def count(self, port=0):
        said = self.say(f"show port stats {port}", "show fwd stats all")
        return Count(*(int(re.search(rf"{name}: +(\d+)", said).group(1)) for name in
                       ("RX-packets", "TX-packets", "RX-bytes", "TX-bytes", "RX-missed")))

    def start(self, mode, how=""):
        said = self.say(f"set fwd {mode}", f"start {how}", "show fwd stats all")
        if "packet forwarding" not in said:
            raise RuntimeError(f"it does not start: {self}")

    def stop(self):
        self.say("stop")

    def wait_for(self, reached, what):
        """Waits until reached(count) is true; returns the count."""
        found = []

        def look():
            found[:] = [self.count()]
            return reached(found[0])
        try:
            netns.wait_for(look, what, 120)
        except TimeoutError as e:
            raise TimeoutError(f"{e}: {found}\n{self}") from None
        return found[0]

    def quit(self):
        """Ends it while it does not forward. Returns its exit code."""
        self.process.stdin.write("quit\n")
        self.process.stdin.flush()
        return self.process.wait(120)
