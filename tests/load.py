# SPDX-License-Identifier: BSD-3-Clause
"""What the machine was like while tests ran: its disk, its load, its timers."""
import math
import mmap
import os
import shutil
import signal
import struct
import tempfile
import threading
import time

TESTS_MB = 60  # of a disk: files of tests that run at once


def free_mb(folder):
    return shutil.disk_usage(folder).free / 1e6


class Sleepers:
    """A process on each CPU that sleeps for a moment, again and again, and notes its longest sleep.
    Timers of a virtual machine's CPU may stand still for minutes: then what sleeps there does not
    wake up, and what runs there is not preempted."""

    NAP, TOO_LONG = 0.05, 5  # seconds
    NOTE = struct.Struct("ddd")  # began its sleep, its longest sleep, when that ended

    def __init__(self, cpus):
        self.notes = {cpu: mmap.mmap(-1, self.NOTE.size) for cpu in cpus}
        for cpu, note in self.notes.items():
            self.write(note, time.monotonic(), 0, 0)
            parent = os.getpid()
            if os.fork() == 0:
                try:
                    self.sleep(cpu, note, parent)
                finally:
                    os._exit(0)

    def write(self, note, *values):
        note[:] = self.NOTE.pack(*values)

    def sleep(self, cpu, note, parent):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.sched_setaffinity(0, {cpu})
        longest, when = 0, 0
        while os.getppid() == parent:
            began = time.monotonic()
            self.write(note, began, longest, when)
            time.sleep(self.NAP)  # what is measured
            now = time.monotonic()
            if now - began > longest:
                longest, when = now - began, now

    def __str__(self):
        said, now = "", time.monotonic()
        for cpu, note in self.notes.items():
            began, longest, when = self.NOTE.unpack(note[:])
            longest, when = max((longest, when), (now - began, now))
            if longest > self.TOO_LONG:
                at = time.strftime("%H:%M:%S", time.localtime(time.time() - now + when))
                said += (f"; the timers of CPU {cpu} stood still for {longest:.0f} s until {at}: "
                         "failures may be due to that")
        return said


class Machine(threading.Thread):
    """A full disk or a high load makes tests fail that are right, and is over when people look."""

    def __init__(self):
        super().__init__(daemon=True)
        self.free, self.load = math.inf, 0
        self.sleepers = Sleepers(os.sched_getaffinity(0))
        self.look()

    def look(self):
        self.free = min(self.free, free_mb("."), free_mb(tempfile.gettempdir()))
        self.load = max(self.load, os.getloadavg()[0])

    def run(self):
        while True:
            self.look()
            time.sleep(0.5)  # between looks

    def __str__(self):
        full = ": too little, so failures may be due to that" * (self.free < TESTS_MB)
        return (f"disk: {self.free:.0f} MB free at least{full}; load: {self.load:.1f} at most"
                f"{self.sleepers}")
