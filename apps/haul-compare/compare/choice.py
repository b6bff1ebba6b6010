# SPDX-License-Identifier: BSD-3-Clause
"""Which pollers are best at a load, as far as the runs support it.

Each goal gives a poller a cost for each run. A poller is allowed at a load unless it meets the
target less well than another, or its cost is clearly above the lowest one: the interval of the
ratio of the two costs begins above MARGIN. Neighbouring loads with a poller in common that is
allowed at all of them get the same poller, the simplest of those; so noise that changes the order
of pollers that are about as good does not change the choice.
"""
import math
import statistics

from . import units
from .intervals import FEWEST, median_ci, ratio_ci
from .measured import is_haul, positive, simplicity

MARGIN = 1.1  # a difference below a tenth is not worth another poller
CPU_FLOOR = 0.05  # of a CPU, added: between 1 % and 2 % of a CPU nobody needs to choose
LOSS = 0.001  # a poller that loses more is left out, unless all do
SIMILAR = 1.25  # worst costs of pollers that do as well over the whole range
TARGETS = {"p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns", "p99.9": "p999_ns",
           "cpu": "cpu_share"}


class Balance:
    """Without a target: half the CPU is worth twice the p99."""
    name = None
    limit = None

    @staticmethod
    def costs(point):
        both = [(positive(r.get("p99_ns")), positive(r.get("cpu_share"))) for r in point.clean]
        return [p99 * (cpu + CPU_FLOOR) for p99, cpu in both if p99 and cpu is not None]

    @staticmethod
    def cost(point):
        """Of the medians."""
        p99, cpu = point.value("p99_ns"), point.value("cpu_share")
        return p99 * (cpu + CPU_FLOOR) if p99 and cpu is not None else math.inf

    @staticmethod
    def met(_):
        return True


class Limit:
    """A figure must not exceed a limit; among those that keep it, the other one decides."""

    def __init__(self, text, name, limit):
        self.text = text
        self.name = name
        self.limit = limit

    def costs(self, point):
        if self.name == "cpu_share":
            return [p99 for p99 in point.over_runs("p99_ns") if p99]
        return [cpu + CPU_FLOOR for cpu in point.over_runs("cpu_share")]

    def cost(self, point):
        """Of the medians, if they keep the limit."""
        value = point.value("p99_ns" if self.name == "cpu_share" else "cpu_share")
        kept = (point.value(self.name) or math.inf) <= self.limit
        return (value if self.name == "cpu_share" else value + CPU_FLOOR) \
            if kept and value is not None else math.inf

    def met(self, point):
        """True, False, or None if the interval holds the limit."""
        low, high = _bounds(point, self.name)
        if high <= self.limit:
            return True
        return False if low > self.limit else None

    def missed_by(self, point):
        """The figures to make small where no poller meets the target."""
        return [value for value in point.over_runs(self.name) if value]

    def says(self):
        if self.name == "cpu_share":
            return f"at most {units.percent(self.limit)} of a CPU"
        return f"a {self.text.partition('=')[0].strip()} of at most {units.time(self.limit)}"


def _bounds(point, name):
    found = point.interval(name)
    if found:
        return found
    value = point.value(name)
    return (value, value) if value is not None else (math.inf, math.inf)


def parse(text):
    """The goal of --target p99=100us or cpu=20%; ValueError says what is wrong."""
    if not text:
        return Balance()
    name, equals, value = str(text).partition("=")
    name = name.strip().lower()
    if not equals or name not in TARGETS:
        raise ValueError("not a target, such as p99=100us or cpu=20%")
    if name != "cpu":
        try:
            limit = units.duration(value)
        except ValueError:
            raise ValueError("not a time, such as 100us") from None
    else:
        number = value.strip().removesuffix("%").strip()
        try:
            limit = float(number) / 100
        except ValueError:
            limit = math.nan
        if not limit > 0:
            raise ValueError("not a share of a CPU, such as 20%")
        if limit > 1:
            raise ValueError("a poller has one CPU: give at most 100%, such as 20%")
    if limit <= 0:
        raise ValueError("must be more than 0")
    return Limit(str(text), TARGETS[name], limit)


class Judgement:
    """One load: who is allowed there, and how sure that is."""

    def __init__(self, load, offered):
        self.load = load
        self.offered = offered
        self.points = {}  # those that can be judged, by poller
        self.unreliable = []  # pollers with too few undisturbed runs
        self.unreliable_costs = {}  # what their runs say, disturbed ones if there are no others
        self.lossy = []  # pollers that lose clearly more packets than others
        self.allowed = []  # the simplest first
        self.alike = []  # also allowed, but an earlier advice was for another
        self.best = None  # the lowest cost, of those that meet the target
        self.costs = {}  # median of each poller that can be judged
        self.mets = {}  # of each poller: does it meet the target? None: the runs cannot tell
        self.met = True  # the same of the best one
        self.maybe = []  # pollers of which the runs cannot tell
        self.sure = []  # allowed by the runs at this load alone

    def decided(self):
        return bool(self.allowed)

    def perhaps_better(self, poller):
        """Pollers that could not be judged here, and look better than this one."""
        return [n for n in self.unreliable if self.unreliable_costs[n] < self.costs[poller]]

    def keep(self, poller):
        """Keeps an earlier choice that the runs do not contradict."""
        if poller in self.allowed + self.maybe:
            self.alike = [n for n in self.allowed if n != poller]
            self.allowed = [poller]


def _lossy(points):
    """Pollers whose loss is clearly above what the best one loses."""
    losses = {name: point.loss() for name, point in points.items()}
    medians = [statistics.median(v) for v in losses.values() if v]
    bound = max(LOSS, 2 * min(medians)) if medians else math.inf
    lossy = []
    for name, shares in losses.items():
        _, low, _ = median_ci(shares)
        if low is not None and low > bound:
            lossy.append(name)
    return lossy


def _near_the_best(names, costs):
    """Those whose cost is not clearly above the lowest."""
    medians = {name: statistics.median(costs[name]) for name in names}
    best = min(names, key=lambda n: (medians[n], simplicity(n)))
    near = []
    for name in names:
        _, low, _ = ratio_ci(costs[name], costs[best])
        if name == best or low is not None and low <= MARGIN:
            near.append(name)
    return best, near


def judge(measured, arrivals, load, goal):
    judgement = Judgement(load, measured.offered(arrivals, load))
    found = {p.poller: p for p in measured.at(arrivals) if p.key() == load and is_haul(p.poller)}
    judgement.unreliable = sorted(n for n, p in found.items() if not p.reliable())
    judgement.unreliable_costs = {n: goal.cost(found[n]) for n in judgement.unreliable}
    points = {n: p for n, p in found.items() if p.reliable() and len(goal.costs(p)) >= FEWEST}
    judgement.lossy = _lossy(points)
    points = {n: p for n, p in points.items() if n not in judgement.lossy}
    judgement.points = points
    if len(points) < 2:  # one poller alone is no choice
        return judgement
    costs = {n: goal.costs(p) for n, p in points.items()}
    judgement.costs = {n: statistics.median(c) for n, c in costs.items()}
    judgement.mets = met = {n: goal.met(p) for n, p in points.items()}
    keep = [n for n in points if met[n]]
    judgement.maybe = sorted((n for n in points if met[n] is None), key=simplicity)
    if keep:
        judgement.best, near = _near_the_best(keep, costs)
    else:
        judgement.met = None if judgement.maybe else False
        missed = {n: goal.missed_by(points[n]) for n in judgement.maybe or points}
        judgement.best, near = _near_the_best(list(missed), missed)
    judgement.sure = judgement.allowed = sorted(near, key=simplicity)
    return judgement


def bridge(judgements):
    """If the runs at a load cannot tell whether a poller meets the target, allows it if it meets
    the target at a load beside it: else noise at the limit would change the choice at each load."""
    found = [j for j in judgements if j.decided()]
    for n, judgement in enumerate(found):
        beside = {name for other in found[max(n - 1, 0):n + 2] for name in other.sure
                  if other.mets[name]}
        more = [name for name in judgement.maybe
                if name in beside and name not in judgement.allowed]
        judgement.allowed = sorted(judgement.allowed + more, key=simplicity)


class Segment:
    """Neighbouring loads with the same poller."""

    def __init__(self, judgement):
        self.judgements = [judgement]
        self.allowed = list(judgement.allowed)
        self.poller = self.allowed[0]
        self.from_pps = 0.0
        self.to_pps = None  # None: up to the highest load measured

    def take(self, judgement):
        """True if the next load has an allowed poller in common."""
        both = [n for n in self.allowed if n in judgement.allowed]
        if not both or (judgement.met is False) != (self.judgements[0].met is False):
            return False
        self.judgements.append(judgement)
        self.allowed = both
        self.poller = both[0]
        return True

    def met(self):
        """Does the poller meet the target? None if the runs cannot tell at one of the loads."""
        mets = [j.mets[self.poller] for j in self.judgements]
        return False if False in mets else None if None in mets else True

    def alike(self):
        """Pollers that the runs do not distinguish from this one."""
        return [n for n in self.allowed if n != self.poller
                and all(n in j.sure for j in self.judgements)]

    def undecided(self):
        return bool(self.alike()) or self.met() is None or any(
            j.alike or j.perhaps_better(self.poller) for j in self.judgements)

    def points(self, poller):
        return [j.points[poller] for j in self.judgements if poller in j.points]


def segments(judgements):
    """The fewest segments, from the lowest load on."""
    found = []
    for judgement in (j for j in judgements if j.decided()):
        if not found or not found[-1].take(judgement):
            found.append(Segment(judgement))
    for below, above in zip(found, found[1:]):
        first, last = below.judgements[-1].offered, above.judgements[0].offered
        if first and last:  # the change is somewhere between two measured loads
            below.to_pps = above.from_pps = units.rounded(math.sqrt(first * last), 2)
    if found and not judgements[0].decided():  # nothing is known about lower loads
        found[0].from_pps = found[0].judgements[0].offered or 0.0
    return found


def _worst(poller, judgements, goal):
    """Sorts pollers by what they do at the load that suits them least."""
    mets = [goal.met(j.points[poller]) if poller in j.points else False for j in judgements]
    worst = max((j.costs[poller] / j.costs[j.best] for j in judgements
                 if poller in j.costs and j.costs[j.best] > 0), default=math.inf)
    return (mets.count(False), mets.count(None)), worst


def for_all_loads(judgements, goal, earlier=None):
    """The poller for a load that goes through the whole range: it misses the target at the fewest
    loads, next leaves it open at the fewest, and does well at the one that suits it least."""
    decided = [j for j in judgements if j.decided()]
    candidates = {n for j in decided for n in j.points}
    if not candidates:
        return None
    worst = {n: _worst(n, decided, goal) for n in candidates}
    fewest, least = min(worst.values())
    near = [n for n in candidates
            if worst[n][0] == fewest and worst[n][1] <= least * SIMILAR]
    return earlier if earlier in near else min(near, key=simplicity)
