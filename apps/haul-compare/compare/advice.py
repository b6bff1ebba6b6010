# SPDX-License-Identifier: BSD-3-Clause
"""The advice: which poller at which load, what it costs, when to change, and what the runs do not
support. choice.py decides, this file puts it into words."""
from . import units
from .choice import CPU_FLOOR, MARGIN, bridge, for_all_loads, judge, parse, segments
from .earlier import Earlier
from .intervals import FEWEST
from .measured import Measured, word

OFTEN = 0.2  # a larger share of disturbed runs is said before anything else
MOST = 0.5  # with a larger share the result itself says that the runs leave it open
RULE = (f"Without a target, half the CPU is worth twice the p99: the poller with the lowest p99 x "
        f"(CPU + {units.percent(CPU_FLOOR)}) wins.")


def option_of(poller):
    return f"--poller {poller}" if poller else None


def _range(points, name):
    values = [v for v in (p.value(name) for p in points) if v is not None]
    return (min(values), max(values)) if values else (None, None)


def _price(points):
    """ "3 to 9 % of a CPU, p99 40 to 52 us" """
    return (f"{units.percents(*_range(points, 'cpu_share'))} of a CPU, "
            f"p99 {units.times(*_range(points, 'p99_ns'))}")


def _span(segment, last):
    top = segment.to_pps
    if not segment.from_pps:
        return f"up to {units.rate(top if top else last)}"
    if segment.from_pps == (top or last):
        return f"at {units.rate(last)}"
    return f"from {units.rate(segment.from_pps)} " + (
        f"to {units.rate(top)}" if top else f"up to {units.rate(last)}")


def _named(names):
    names = list(names)
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class Advice:
    """The advice for one kind of arrivals."""

    def __init__(self, measured, arrivals, goal):
        self.measured = measured
        self.goal = goal
        self.judgements = [judge(measured, arrivals, load, goal)
                           for load in measured.loads(arrivals)]
        self.earlier = Earlier(measured.data, arrivals)
        for judgement in self.judgements:
            judgement.keep(self.earlier.poller(judgement.offered))
        bridge(self.judgements)
        self.segments = segments(self.judgements)
        self.best_for_all = for_all_loads(self.judgements, goal, self.earlier.option)

    def decided(self):
        return bool(self.segments)

    def last(self):
        """The highest load that could be judged."""
        rates = [j.offered for j in self.judgements if j.decided() and j.offered]
        return max(rates, default=None)

    def option(self):
        if len(self.segments) == 1:
            return self.segments[0].poller
        return self.best_for_all

    def by_load(self):
        rows = []
        for segment in self.segments:
            points = segment.points(segment.poller)
            p99, cpu = _range(points, "p99_ns"), _range(points, "cpu_share")
            rows.append({
                "from_pps": segment.from_pps, "to_pps": segment.to_pps or self.last(),
                "poller": segment.poller, "option": option_of(segment.poller),
                "p99_ns": p99[1], "cpu_share": cpu[1], "p99_range_ns": list(p99),
                "cpu_range": list(cpu), "undecided": segment.undecided(),
                "not_told_apart": segment.alike() + sorted(
                    {n for j in segment.judgements for n in j.alike}),
                "meets_target": segment.met() if self.goal.name else None})
        return rows

    def _part(self, segment, all_miss):
        words = f"{option_of(segment.poller)} {_span(segment, self.last())}"
        if segment.met() is False and not all_miss:
            words += ", where it comes nearest"
        price = _price(segment.points(segment.poller))
        beside = segment.points("spin") if segment.poller != "spin" else []
        if len(beside) < len(segment.judgements):  # not the same loads
            beside = []
        return f"{words} ({price}{'; spin: ' + _price(beside) if beside else ''})"

    def sentence(self):
        """The result in one sentence."""
        if not self.decided():
            return "No poller is advised: " + self.why_not() + "."
        all_miss = all(s.met() is False for s in self.segments)
        parts = [self._part(s, all_miss) for s in self.segments]
        if not self.goal.name:
            start = "Take "
        elif all_miss:
            start = f"No poller keeps the target, {self.goal.says()}; nearest is "
        else:
            start = f"For {self.goal.says()}, take "
        if self.is_doubtful():
            start = "The machine was too busy to be sure: " + start[0].lower() + start[1:]
        return start + ", then ".join(parts) + "."

    def is_doubtful(self):
        kept, disturbed = self.measured.runs()
        return (disturbed > MOST * (kept + disturbed) and
                any(s.undecided() for s in self.segments))

    def why_not(self):
        if not self.measured.points:
            return "nothing was measured"
        if not self.judgements:
            return "no load was measured"
        if any(j.unreliable for j in self.judgements):
            kept, disturbed = self.measured.runs()
            if disturbed > OFTEN * (kept + disturbed):
                return (f"the machine was disturbed in {disturbed} of {kept + disturbed} runs; "
                        "measure again when it is quiet")
            return f"an interval needs {FEWEST} undisturbed runs of each poller; measure longer"
        return "fewer than two of haul's pollers were measured at the same load"

    def changes(self):
        """When to change from one poller to the next."""
        for below, above in zip(self.segments, self.segments[1:]):
            first, last = below.judgements[-1].offered, above.judgements[0].offered
            if below.poller != above.poller and first and last:
                yield (f"Change from {below.poller} to {above.poller} between "
                       f"{units.rate(first)} and {units.rate(last)}: nothing was measured between "
                       "these loads.")

    def doubts(self):
        for segment in self.segments:
            where = _span(segment, self.last())
            if segment.alike():
                names = _named([segment.poller, *segment.alike()])
                yield (f"Undecided {where}: the runs do not tell {names} apart; "
                       f"{segment.poller} is the simplest of them.")
            alike = {n for j in segment.judgements for n in j.alike}
            if alike:
                yield (f"Undecided {where}: {_named(sorted(alike))} may do as well as "
                       f"{segment.poller}, which the report of {self.earlier.started} advised.")
            open_at = [units.rate(j.offered) for j in segment.judgements
                       if j.mets[segment.poller] is None]
            if open_at:
                yield (f"Undecided at {_named(open_at)}: the interval of {segment.poller} includes "
                       f"the target, {self.goal.says()}.")
            for judgement in segment.judgements:
                if judgement.perhaps_better(segment.poller):
                    yield (f"Undecided at {units.rate(judgement.offered)}: "
                           f"{_named(judgement.perhaps_better(segment.poller))} may be better, but "
                           f"fewer than {FEWEST} of the runs were undisturbed.")
                others = [n for n in judgement.maybe
                          if judgement.costs[n] < judgement.costs[segment.poller]]
                if judgement.mets[segment.poller] and others:
                    yield (f"Undecided at {units.rate(judgement.offered)}: {_named(others)} would "
                           "be better, and may keep the target: intervals include it.")
            if segment.met() is False and any(s.met() is not False for s in self.segments):
                yield f"No poller keeps the target {where}."
        lossy = sorted({n for j in self.judgements for n in j.lossy})
        if lossy:
            yield f"Left out at loads where they lose packets: {_named(lossy)}."
        silent = [j for j in self.judgements if not j.decided()]
        if silent and self.decided():
            rates = _named(units.rate(j.offered) for j in silent)
            yield (f"Nothing is decided at {rates}: too few undisturbed runs.")
        partly = sorted({n for j in self.judgements if j.decided() for n in j.unreliable})
        if partly:
            yield (f"Not judged at some loads, where fewer than {FEWEST} of their runs were "
                   f"undisturbed: {_named(partly)}.")

    def whole_range(self):
        if len({s.poller for s in self.segments}) > 1 and self.best_for_all:
            points = [j.points[self.best_for_all] for j in self.judgements
                      if self.best_for_all in j.points]
            yield (f"For a load that goes through the whole range, take "
                   f"{option_of(self.best_for_all)} ({_price(points)}).")


def _disturbed(measured):
    """What is said about the machine before anything else."""
    kept, disturbed = measured.runs()
    if not disturbed:
        return
    what = [what for what, _, _ in measured.disturbed_by()]
    yield (f"The machine was disturbed in {disturbed} of {kept + disturbed} runs, which do not "
           "count" + (f": {'; '.join(what[:3])}" if what else "") + ".")
    if kept and disturbed > OFTEN * (kept + disturbed):
        yield "The advice rests on the other runs only; measure again when the machine is quiet."


def _other_arrivals(measured, main, goal):
    for arrivals in measured.arrivals()[1:]:
        other = Advice(measured, arrivals, goal)
        if other.decided() and [s.poller for s in other.segments] != [
                s.poller for s in main.segments]:
            parts = ", then ".join(f"{s.poller} {_span(s, other.last())}" for s in other.segments)
            yield f"With {arrivals} arrivals: {parts}."


def _peers(measured, advice):
    """A program on the kernel's sockets, beside what is advised, at the middle load."""
    if not advice.decided() or "kernel-epoll" not in measured.pollers():
        return
    arrivals = measured.arrivals()[0]
    both = [(measured.point(arrivals, "kernel-epoll", p.key()), p)
            for s in advice.segments for p in s.points(s.poller)]
    both = [(kernel, p) for kernel, p in both if kernel and kernel.value("p99_ns") is not None]
    if both:
        kernel, ours = both[len(both) // 2]
        yield (f"At {units.rate(ours.offered)} a program on kernel sockets (epoll) takes "
               f"{_price([kernel])}; {ours.poller} {_price([ours])}.")
        kind = word(measured.about("link").get("kind"))
        if kind != "veth":  # a kernel socket cannot be at the end of the others
            yield (f"The program on kernel sockets is measured over a veth pair, all others over "
                   f"{kind}: a part of the difference is the link's. --link veth has one for all.")


def advise(data, target=None):
    """The advice as report.json has it; ValueError if the target cannot be read."""
    goal = parse(target)
    measured = Measured(data)
    arrivals = measured.arrivals()
    advice = Advice(measured, arrivals[0] if arrivals else None, goal)
    sentence = advice.sentence()
    early = measured.ended_early()
    warnings = list(_disturbed(measured))
    if early:
        warnings.insert(0, f"Not complete ({early}): this is about what was measured until then.")
    lines = [*advice.changes(), *advice.whole_range(), *advice.doubts(),
             *_other_arrivals(measured, advice, goal), *_peers(measured, advice)]
    if advice.decided():
        lines.append(RULE if not goal.name else "The target is met where the whole interval is.")
        lines.append(f"A difference counts if the 95 % interval of its ratio begins above "
                     f"{MARGIN}; the simplest of pollers that are not told apart is advised.")
    return {"sentence": sentence, "warnings": warnings, "lines": lines,
            "text": "\n".join([sentence, *warnings, *lines]),
            "option": option_of(advice.option()), "by_load": advice.by_load(),
            "arrivals": arrivals[0] if arrivals else None, "target": target or None,
            "undecided": not advice.decided() or any(s.undecided() for s in advice.segments)}
