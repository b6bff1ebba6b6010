# SPDX-License-Identifier: BSD-3-Clause
"""haul-compare under test: starting it, waiting for what it says, its children, its reports."""
import json
import os
import signal
import subprocess
import sys
import tempfile

import netns

COMPARE = sys.argv[1] if len(sys.argv) > 1 else "haul-compare"
PATIENCE = 200  # seconds; a comparison takes 12 of a quiet machine
# A short comparison; its figures are of no interest to tests that end it. With work for each packet
# the highest rate is found soon.
SHORT = ("--minutes", "0.2", "--pollers", "sleep:50,sleep:200", "--loads", "2k", "--arrivals",
         "constant", "--service", "100us", "--disturbed", "keep")
MEMIF = *SHORT, "--link", "memif"


def children(pid):
    """{process id: command line} of the children of a process."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                parent = int(f.read().rpartition(")")[2].split()[1])
            if parent == pid:
                with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as f:
                    found[int(name)] = f.read().replace("\0", " ")
        except OSError:
            continue
    return found


def users_of(network):
    """The processes in a network namespace."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/net") == network:
                found.append(int(name))
        except OSError:
            continue
    return found


class Compare(netns.Child):
    """A haul-compare that runs."""

    def __init__(self, out, *args, stdout=None, stderr=None, **popen):
        self.out = out
        self.said_to = stderr or tempfile.TemporaryFile("w+")
        self.printed_to = stdout or tempfile.TemporaryFile("w+")
        # Of those that are killed, a folder of scratch files stays: beside the report.
        popen.setdefault("env", {**os.environ, "TMPDIR": os.path.dirname(out)})
        self.process = subprocess.Popen(
            [COMPARE, "--out", out, *map(str, args)], stdin=subprocess.DEVNULL,
            stdout=self.printed_to, stderr=self.said_to, start_new_session=True, **popen)
        self.pid = self.process.pid

    def said(self):
        if not hasattr(self.said_to, "fileno"):
            return ""
        return os.pread(self.said_to.fileno(), 1 << 20, 0).decode()

    def errors(self):
        """Its own lines, without those about other programs on the machine."""
        return [line for line in self.said().splitlines()
                if line.startswith("haul-compare: ") and "disturb" not in line]

    def wait_for(self, text):
        netns.wait_for(lambda: text in self.said() or self.process.poll() is not None,
                       f"haul-compare to say: {text}", PATIENCE)
        return text in self.said()

    def child(self, word):
        """The id of the child with this word in its command line."""
        return next((pid for pid, command in children(self.pid).items() if word in command), None)

    def send(self, number):
        os.killpg(self.pid, number)  # as a terminal does at Ctrl-C

    def wait(self):
        return self.process.wait(PATIENCE)

    def end(self, number=signal.SIGINT):
        self.send(number)
        return self.wait()

    def report(self, folder=None):
        """The report's data, or None."""
        try:
            with open(os.path.join(folder or self.out, "report.json"), encoding="utf-8") as f:
                return json.load(f)
        except FileNotFoundError:
            return None

    def __str__(self):
        printed = os.pread(self.printed_to.fileno(), 1 << 20, 0).decode() \
            if hasattr(self.printed_to, "fileno") else ""
        return f"exit {self.process.poll()}\n{self.said()}{printed}"


def run(*args, **popen):
    """Runs it until it ends by itself: (exit code, stdout, stderr)."""
    done = subprocess.run([COMPARE, *map(str, args)], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, **popen)
    return done.returncode, done.stdout, done.stderr
