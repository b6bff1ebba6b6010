# SPDX-License-Identifier: BSD-3-Clause
"""What a poller takes from another program on its CPU, or on the other half of its core."""
import mmap
import os
import struct
import time

from .cost import cpu_ns
from .intervals import median_ci
from .program import Process
from .run import said

LEAD = 0.03  # seconds for the neighbour to be under way


class Neighbour:
    """A program that counts, on a CPU, for as long as it is entered."""

    def __init__(self, path, cpu, scratch):
        self.path, self.cpu, self.scratch = path, cpu, scratch
        self.spent_ns = 0  # CPU time of all its processes
        self.file = os.path.join(scratch, "count")

    def __enter__(self):
        with open(self.file, "wb") as file:
            file.write(bytes(8))
        self.process = Process("neighbour", [self.path, str(self.cpu), self.file], self.scratch)
        with open(self.file, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 8)
        self.process.wait_for(self.count, "count")
        return self

    def __exit__(self, *_):
        self.spent_ns += cpu_ns(self.process.pid)
        self.process.kill()
        self.memory.close()

    def count(self):
        return struct.unpack("=Q", self.memory[:8])[0]

    def rate(self, seconds):
        count, at = self.count(), time.monotonic()
        time.sleep(seconds)
        self.process.check()
        return (self.count() - count) / (time.monotonic() - at)


def alone(neighbour, rest, seconds):
    """Its rate while nothing that we measure runs."""
    rest()
    with neighbour as running:
        time.sleep(LEAD)
        return running.rate(seconds)


class Loss:
    """What a neighbour loses beside a poller: each time its rate alone, and its rate beside it."""

    def __init__(self, neighbour, watch, rest, seconds):
        self.neighbour, self.watch, self.rest, self.seconds = neighbour, watch, rest, seconds

    def watched(self, measure):
        """(rate, what disturbed it or None)"""
        before = self.watch.now()
        rate = measure()
        return rate, said(*self.watch.others(before, self.watch.now()))

    def alone(self):
        return self.watched(lambda: alone(self.neighbour, self.rest, self.seconds))

    def beside(self, side, poller, pps, arrivals):
        return self.watched(lambda: beside(self.neighbour, side, poller, pps, arrivals,
                                           self.seconds))


def beside(neighbour, side, poller, pps, arrivals, seconds):
    """Its rate beside a poller; pps 0: without packets."""
    side.subject.select(poller)
    side.subject.begin()
    try:
        with neighbour as running:
            if pps:
                side.generator.load(pps, arrivals)
                side.generator.start()
            time.sleep(LEAD + 0.05)
            found = running.rate(seconds)
            if pps:
                side.generator.stop()
    finally:
        side.subject.finish()
    return found


def summary(poller, load, where, measured):
    """measured: (lost share, what disturbed it or None) of each run."""
    lost = [share for share, disturbed in measured if not disturbed] or \
        [share for share, _ in measured]
    middle, low, high = median_ci(lost)
    return {"poller": poller, "load": load, "where": where, "lost_share": middle,
            "ci": None if low is None else [low, high], "runs": [round(v, 4) for v in lost],
            "disturbed": sum(bool(disturbed) for _, disturbed in measured)}
