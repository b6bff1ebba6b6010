# SPDX-License-Identifier: BSD-3-Clause
"""What a poller takes from another program on its CPU, or on the other half of its core."""
import mmap
import os
import struct
import time

from .intervals import median_ci, seed_of
from .program import Process

LEAD = 0.03  # seconds for the neighbour to be under way


class Neighbour:
    """A program that counts, on a CPU, for as long as it is entered."""

    def __init__(self, path, cpu, scratch):
        self.path, self.cpu, self.scratch = path, cpu, scratch
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


def summary(poller, load, where, lost):
    middle, low, high = median_ci(lost, seed_of("neighbour", poller, load, where))
    return {"poller": poller, "load": load, "where": where, "lost_share": middle,
            "ci": None if low is None else [low, high], "runs": [round(v, 4) for v in lost]}
