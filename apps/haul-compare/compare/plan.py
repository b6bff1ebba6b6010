# SPDX-License-Identifier: BSD-3-Clause
"""Which runs are made, in which order, and how long each takes, so that all fit into the time."""
import random

from .options import KINDS

LOADS_FEW = 0.01, 0.1, 0.5, 0.9
OTHER_ARRIVALS_AT = 0.1, 0.5  # of the maximum
RUN_SECONDS = 0.2  # the shortest, as planned
RUN_SECONDS_LEAST = 0.12  # the shortest, if runs had to be made again
RUN_SECONDS_MOST = 3.0
PACKETS = 300  # at least, in a run: a slow load runs for longer
OVERHEAD = 0.16  # seconds of a run besides: start, drain, figures; measured later
# Shares of the time, besides runs: start and maximum, idle, step, neighbour, report.
SHARE_MAXIMUM, SHARE_IDLE, SHARE_STEPS, SHARE_NEIGHBOURS, SHARE_END = 0.06, 0.03, 0.04, 0.12, 0.02
SHARE_RUNS = 1 - (SHARE_MAXIMUM + SHARE_IDLE + SHARE_STEPS + SHARE_NEIGHBOURS + SHARE_END)


class Cell:
    """A load with a kind of arrivals, at which all pollers are measured."""

    def __init__(self, load, pps, arrivals):
        self.load, self.pps, self.arrivals = load, pps, arrivals

    def seconds(self, usual):
        return min(max(usual, PACKETS / self.pps), max(RUN_SECONDS_MOST, usual))


def loads_of(asked, maximum):
    """(share, rate) of each load; asked are shares of the maximum, or rates above 1."""
    found = {}
    for load in asked:
        pps = load * maximum if load <= 1 else load
        found[round(pps, 3)] = load if load <= 1 else pps / maximum
    return sorted((share, pps) for pps, share in found.items())


def cells_of(loads, arrivals):
    cells = [Cell(share, pps, arrivals[0]) for share, pps in loads]
    nearest = {min(loads, key=lambda entry: abs(entry[0] - at)) for at in OTHER_ARRIVALS_AT}
    for kind in arrivals[1:]:
        cells += [Cell(share, pps, kind) for share, pps in sorted(nearest)]
    return cells


class Plan:
    """left_out: what did not fit into the time, in words."""

    def __init__(self, options, pollers, maximum, seconds):
        self.pollers, self.maximum = pollers, maximum
        self.budget = seconds
        self.rounds = options.runs
        self.left_out = []
        self.overhead = OVERHEAD
        loads, arrivals = list(options.loads), list(options.arrivals)
        self.cells = cells_of(loads_of(loads, maximum), arrivals)
        if self.run_seconds() < RUN_SECONDS and len(arrivals) > 1 and \
                "arrivals" not in options.asked:
            self.left_out.append(f"arrivals {', '.join(arrivals[1:])}")
            arrivals = arrivals[:1]
            self.cells = cells_of(loads_of(loads, maximum), arrivals)
        if self.run_seconds() < RUN_SECONDS and not options.asked & {"loads", "load"}:
            loads = [load for load in loads if load in LOADS_FEW]
            self.left_out.append("loads other than 1, 10, 50 and 90 %")
            self.cells = cells_of(loads_of(loads, maximum), arrivals)
        while self.rounds > 1 and self.run_seconds() < RUN_SECONDS:
            self.rounds -= 1
        if self.rounds < options.runs:
            self.left_out.append(f"{options.runs - self.rounds} of {options.runs} runs of each "
                                 "poller at each load")

    def run_seconds(self, rounds_left=None, budget=None):
        """The length of runs with which so many rounds fit into so many seconds."""
        rounds = self.rounds if rounds_left is None else rounds_left
        budget = self.budget if budget is None else budget
        runs = rounds * len(self.cells) * len(self.pollers)
        least, most = 0.0, RUN_SECONDS_MOST
        for _ in range(20):
            middle = (least + most) / 2
            needed = rounds * len(self.pollers) * sum(c.seconds(middle) for c in self.cells) + \
                runs * self.overhead
            least, most = (middle, most) if needed <= budget else (least, middle)
        return least

    def order(self, number, seed):
        """The runs of a round: loads in a random order; at each, all pollers one after the other,
        so that they meet the same state of the machine. Every other round has them in reverse, and
        each begins with another poller."""
        rng = random.Random(seed * 1000 + number)
        cells = list(self.cells)
        rng.shuffle(cells)
        at = number // 2 % len(self.pollers)
        pollers = self.pollers[at:] + self.pollers[:at]
        if number % 2:
            pollers.reverse()
        return [(cell, poller) for cell in cells for poller in pollers]


def sort_pollers(names):
    """As given, but haul's first: they share a process."""
    return sorted(names, key=lambda name: name.partition(":")[0] not in KINDS)
