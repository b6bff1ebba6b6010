# SPDX-License-Identifier: BSD-3-Clause
"""The open-loop generator: haul-fwd --mode generate, which stays for all loads."""
import os

from .program import Failed, Fwd

SOON = 0.05  # seconds from the start to the first packet (START_IN of haul-fwd)
NEVER = "0/1000s"  # a last phase without packets: the generator stays until it is stopped
DRAIN = "100ms"


class Generator:
    def __init__(self, path, name, spec, cpu, work, seed, scratch, more=()):
        self.scratch = scratch
        self.fwd = Fwd(f"generator {name}", path, [
            "--port", spec, "--mode", "generate", "--rate", "1", "--drain", DRAIN,
            "--carriers", f"{cpu}-{cpu}", "--flows", str(work["flows"]),
            "--seed", str(seed), *(["--sizes", work["sizes"]] if work["sizes"] else []), *more],
            scratch)
        self.pid = self.fwd.pid
        self.set = {}
        self.seed = seed

    def change(self, name, value):
        if self.set.get(name) != value:
            self.fwd.do(f"set {name} {value}")
            self.set[name] = value

    def load(self, pps, arrivals, seconds=None):
        """Chooses the next load: packets per second for a time (None: until it is stopped), or
        phases as haul-fwd --rate has them."""
        if not isinstance(pps, str):
            pps = f"{pps:.3f}" if seconds is None else f"{pps:.3f}/{seconds:.6f}s,{NEVER}"
        self.change("rate", pps)
        self.change("arrivals", arrivals)
        self.seed += 1  # each run has gaps of its own
        self.change("seed", self.seed)

    def start(self):
        said = self.fwd.ask("start")
        if "forwarding -" not in said:
            raise Failed(f"the {self.fwd.what}: {said.strip().splitlines()[-1]}")

    def stop(self):
        """Waits for the last packets; returns what was sent and received."""
        self.fwd.ask("stop")
        figures = self.fwd.figures()
        found = figures.get("generator")
        if not found:
            raise Failed(f"the {self.fwd.what} has no figures after its stop")
        return found

    def keep_samples(self, number):
        self.change("samples", number)

    def samples(self):
        """(intended time since the start, latency) of the packets kept, in ns."""
        path = os.path.join(self.scratch, "samples.csv")
        self.fwd.do(f"save samples {path}")
        with open(path, encoding="ascii") as file:
            next(file)
            rows = [tuple(map(int, line.split(","))) for line in file]
        os.unlink(path)
        return rows

    def end(self):
        self.fwd.end()
