# SPDX-License-Identifier: BSD-3-Clause
"""What report.json says was measured, as the report and the advice read it: every figure may be
missing, and what is no number is missing."""
import re
import statistics

from . import units
from .intervals import FEWEST, median_ci

INTERVALS = {"p50_ns": "p50_ci_ns", "p99_ns": "p99_ci_ns", "p999_ns": "p999_ci_ns",
             "cpu_share": "cpu_ci"}
# The simplest first: no setting, then one. What haul-fwd has no --poller for comes last.
SIMPLEST = ["spin", "block", "pause", "sleep", "adaptive"]
DEFAULTS_US = {"pause": 1, "sleep": 100, "adaptive": 50}
ARRIVALS = ["poisson", "constant", "burst"]
LOADS_SHOWN = [0.01, 0.1, 0.5, 0.9]


def dicts(value):
    """The objects of a list; nothing if it is no list."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def entry(value):
    return value if isinstance(value, dict) else {}


def word(value, otherwise="?", longest=200):
    """A name, in one line, without control characters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""
    return "".join(c if c.isprintable() else "?" for c in text[:longest]) or otherwise


def positive(value):
    value = units.finite(value)
    return value if value is not None and value >= 0 else None


def setting_us(poller):
    """The number in "adaptive:20us", or the poller's default."""
    name, _, setting = poller.partition(":")
    found = re.match(r"\d+(\.\d+)?", setting)
    return float(found[0]) if found else DEFAULTS_US.get(name, 0)


def is_haul(poller):
    """Haul's pollers can be advised; the others are there to compare with."""
    return poller.partition(":")[0] in SIMPLEST


def simplicity(poller):
    """Sorts the simplest first; of two settings of a poller the one nearer to its default."""
    name = poller.partition(":")[0]
    rank = SIMPLEST.index(name) if name in SIMPLEST else len(SIMPLEST)
    return rank, abs(setting_us(poller) - DEFAULTS_US.get(name, 0)), setting_us(poller), poller


def shown_order(poller):
    """From pollers that never sleep to those that always do, then the others."""
    name = poller.partition(":")[0]
    order = ["spin", "pause", "adaptive", "sleep", "block"]
    return (order.index(name) if name in order else len(order)), -setting_us(poller), poller


class Point:
    """A poller at a load. Figures are medians over the runs that nothing disturbed."""

    def __init__(self, raw):
        self.raw = raw
        self.poller = word(raw.get("poller"))
        self.arrivals = word(raw.get("arrivals"), "arrivals not named")
        self.load = positive(raw.get("load"))
        self.offered = positive(raw.get("offered_pps"))
        self.runs = dicts(raw.get("runs"))
        self.clean = [r for r in self.runs if not r.get("disturbed")]
        # Runs that were made again are only counted; those kept are in the list, too.
        kept = len(self.runs) - len(self.clean)
        self.disturbed = max(int(positive(raw.get("disturbed")) or 0), kept)
        self._known = {}

    def key(self):
        return self.load if self.load is not None else self.offered

    def over_runs(self, name):
        values = [positive(r.get(name)) for r in self.clean]
        return [v for v in values if v is not None]

    def value(self, name):
        value = positive(self.raw.get(name))
        if value is None and self.over_runs(name):
            value = statistics.median(self.over_runs(name))
        return value

    def interval(self, name):
        """(low, high), or None if the runs support none."""
        if name not in self._known:
            self._known[name] = self._interval(name)
        return self._known[name]

    def _interval(self, name):
        given = self.raw.get(INTERVALS.get(name))
        if isinstance(given, list) and len(given) == 2:
            low, high = map(positive, given)
        else:
            _, low, high = median_ci(self.over_runs(name))
        if low is None or high is None:
            return None
        return min(low, high), max(low, high)

    def reliable(self):
        """True if enough runs were not disturbed to support an interval."""
        return len(self.clean) >= FEWEST

    def loss(self):
        """The share of packets that the measured program or the link lost, by run; the generator's
        own losses are not the poller's fault."""
        shares = []
        for run in self.clean or [self.raw]:
            sent, lost = positive(run.get("sent")), positive(run.get("lost"))
            if not sent or lost is None:
                continue
            by = positive(entry(run.get("lost_by")).get("generator")) or 0
            shares.append(max(lost - by, 0) / sent)
        return shares

    def histogram(self):
        """[(upper bound in ns, packets), ...] in order."""
        found = self.raw.get("histogram")
        pairs = [tuple(map(positive, pair)) for pair in found
                 if isinstance(pair, (list, tuple)) and len(pair) == 2] \
            if isinstance(found, list) else []
        return sorted(p for p in pairs if None not in p and p[1] > 0)


class Measured:
    def __init__(self, data):
        self.data = entry(data)
        self.points = [p for p in map(Point, dicts(self.data.get("points")))
                       if p.key() is not None]
        self.idle = dicts(self.data.get("idle"))
        self.steps = dicts(self.data.get("steps"))
        self.neighbours = dicts(self.data.get("neighbours"))
        self.disturbances = dicts(self.data.get("disturbances"))
        notes = self.data.get("notes")
        self.notes = [n for n in notes if isinstance(n, str)] if isinstance(notes, list) else []

    def about(self, name):
        return entry(self.data.get(name))

    def text(self, name, otherwise=""):
        return word(self.data.get(name), otherwise, 4000)

    def pollers(self):
        """Of all parts, in the order in which they are shown."""
        parts = [p.poller for p in self.points]
        for part in self.idle, self.steps, self.neighbours:
            parts += [word(p.get("poller")) for p in part]
        return sorted(set(parts), key=shown_order)

    def arrivals(self):
        """The one with most points first: the plots and the advice are about it."""
        points = [p.arrivals for p in self.points]

        def order(name):
            kind = name.partition(":")[0]
            return (-points.count(name), ARRIVALS.index(kind) if kind in ARRIVALS
                    else len(ARRIVALS), name)

        return sorted(set(points), key=order)

    def at(self, arrivals):
        """Points with these arrivals."""
        return [p for p in self.points if p.arrivals == arrivals]

    def loads(self, arrivals):
        return sorted({p.key() for p in self.at(arrivals)})

    def line(self, arrivals, poller):
        """The points of a poller, by load."""
        return sorted((p for p in self.at(arrivals) if p.poller == poller),
                      key=lambda p: p.key())

    def point(self, arrivals, poller, load):
        return next((p for p in self.line(arrivals, poller) if p.key() == load), None)

    def offered(self, arrivals, load):
        """Packets per second at a load: pollers may differ by rounding."""
        rates = [p.offered for p in self.at(arrivals) if p.key() == load and p.offered is not None]
        return statistics.median(rates) if rates else None

    def idle_cpu(self, poller):
        """The share of a CPU that the poller takes without any packets."""
        found = [positive(i.get("cpu_share")) for i in self.idle if word(i.get("poller")) == poller]
        return next((v for v in found if v is not None), None)

    def runs(self):
        """(runs kept, runs that were disturbed: made again or kept)"""
        return sum(len(p.clean) for p in self.points), sum(p.disturbed for p in self.points)

    def disturbed_by(self):
        """[(what, how often, seconds after the start), ...], alike ones together, the most frequent
        first."""
        found = {}
        for disturbance in self.disturbances:
            what = word(disturbance.get("what"))
            kind = re.sub(r"\d+(\.\d+)?", "#", what)
            first = found.setdefault(kind, [what, 0, positive(disturbance.get("at_s")) or 0])
            first[1] += 1
        return sorted(map(tuple, found.values()), key=lambda f: -f[1])

    def ended_early(self):
        """Why there is less than was asked for, or None."""
        if self.data.get("complete", True) is True and not self.data.get("ended_because"):
            return None
        return word(self.data.get("ended_because"), "not complete")


def load_name(point_key, has_load=True):
    """ "50 %" of the maximum, or a rate where no maximum is known."""
    return units.percent(point_key) if has_load else units.rate(point_key)
