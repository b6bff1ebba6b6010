# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of distributions, of a step of the load, and of a neighbour."""
from itertools import accumulate

from . import theme, units
from .measured import LOADS_SHOWN, load_name, positive, word
from .plots import LATENCY, LEFT, WIDTH, nothing
from .svg import Drawing, Scale, axes, even_scale, legend, log_scale, marker

PERCENTILES = (0.1, 0.01, 0.001)  # shares above p90, p99, p99.9
ALL = 0.995
NO_LOAD = 0.05  # of the highest load
ROW = 24
LINE_LEGEND = 15  # one line of the legend is in the space above the first panel


def near_loads(lines):
    """The measured loads next to 1, 10, 50 and 90 % of the maximum; all of few."""
    loads = lines.loads
    if not lines.has_load or len(loads) <= len(LOADS_SHOWN):
        return loads[-len(LOADS_SHOWN):]
    found = {min((v for v in loads if v > 0), key=lambda v: abs(v - wanted), default=None)
             for wanted in LOADS_SHOWN}
    return sorted(v for v in found if v is not None)


def exceeding(histogram):
    """[(latency, share of packets above it), ...] from its buckets."""
    total = sum(count for _, count in histogram)
    sums = accumulate(count for _, count in histogram)
    return [(bound, 1 - done / total) for (bound, _), done in zip(histogram, sums)] if total else []


def ccdf(lines):
    """For each of four loads, how many packets take longer than a time."""
    title = "share of packets that take longer"
    panels = [(load, {p: curve for p in lines.pollers if (curve := _curve(lines, p, load))})
              for load in near_loads(lines)]
    panels = [(load, curves) for load, curves in panels if curves]
    if not panels:
        return nothing(title)
    shares = [share for _, curves in panels for c in curves.values() for _, share in c if share > 0]
    floor = max(min(shares, default=0.01), 1e-6)
    names = sorted({p for _, curves in panels for p in curves}, key=lines.pollers.index)
    top, high, gap = 62, 250, 84
    rows = (len(panels) + 1) // 2
    drawing = Drawing(WIDTH, top + rows * (high + gap) - 12, title)
    top += legend(drawing, [(lines.slots[p], p) for p in names], LEFT, 16, WIDTH - 20) - LINE_LEGEND
    drawing.height = top + rows * (high + gap) - 12
    times = [v for _, curves in panels for c in curves.values() for v, share in c
             if share < ALL]  # the fastest packets need no space
    width = (WIDTH - LEFT - 20 - 66) / 2
    for n, (load, curves) in enumerate(panels):
        start = LEFT + (n % 2) * (width + 66)
        from_y = top + (n // 2) * (high + gap)
        x = log_scale(times, start, start + width)
        y = log_scale([floor, 1.0], from_y + high, from_y)
        axes(drawing, x, y, LATENCY, "" if n % 2 else "packets above",
             (units.time, units.percent))
        drawing.text(start, from_y - 9, load_name(load, lines.has_load)
                     + (" of the maximum" if lines.has_load else ""), "head")
        for poller, curve in curves.items():
            _draw_curve(drawing, lines.slots[poller], curve, x, y, poller)
    return drawing


def _curve(lines, poller, load):
    point = lines.measured.point(lines.arrivals, poller, load)
    return exceeding([b for b in point.histogram() if b[0] > 0]) if point else []


def _draw_curve(drawing, slot, curve, x, y, poller):
    """Steps, from all packets down to the slowest one; markers at p90, p99, p99.9."""
    corners = [(x.at(curve[0][0]), y.at(1.0))]
    share_before = 1.0
    for bound, share in curve:
        if share < y.low:
            share = 0.0
        if x.at(bound) - corners[-1][0] > 0.6 or share == 0:
            corners += [(x.at(bound), y.at(max(share_before, y.low))),
                       (x.at(bound), y.at(max(share, y.low)))]
            share_before = share
        if share == 0:
            break
    drawing.path(corners, f"s{slot} line thin")
    for wanted in PERCENTILES:
        reached = next((bound for bound, share in curve if share <= wanted), None)
        if reached and wanted > y.low:
            drawing.add(marker(slot, x.at(reached), y.at(wanted), 3.4, False,
                               f"{poller}: {units.percent(wanted)} above {units.time(reached)}"))


class Step:
    """A poller while the load steps from 0 to half of the maximum and back."""

    def __init__(self, raw):
        self.poller = word(raw.get("poller"))
        lists = [raw.get(n) if isinstance(raw.get(n), list) else []
                 for n in ("at_ms", "offered_pps", "p50_ns", "p99_ns")]
        length = min(len(lists[0]), max(map(len, lists[1:])))
        self.at, self.offered, self.p50, self.p99 = (
            [units.finite(v) for v in column[:length]] + [None] * (length - len(column))
            for column in lists)

    def series(self, column):
        return [(at, v) for at, v in zip(self.at, column) if at is not None and v and v > 0]

    def width(self):
        """Milliseconds of one entry."""
        gaps = [b - a for a, b in zip(self.at, self.at[1:]) if None not in (a, b) and b > a]
        return sorted(gaps)[len(gaps) // 2] if gaps else 1.0


def steps(measured):
    """A panel for each poller, with the same axes; the load is shaded."""
    title = "step response"
    found = [s for s in map(Step, measured.steps) if s.series(s.p50) or s.series(s.p99)]
    found.sort(key=lambda s: measured.pollers().index(s.poller))
    slots = theme.slots(measured.pollers())
    times = [v for s in found for column in (s.p50, s.p99) for _, v in s.series(column)]
    ends = [a for s in found for a in s.at if a is not None]
    if not found or not times or max(ends) <= min(ends):
        return nothing(title)
    across, high, gap, top = 3, 160, 70, 34
    rows = -(-len(found) // across)
    drawing = Drawing(WIDTH, top + rows * (high + gap) - 20, title)
    width = (WIDTH - LEFT - 16 - 24 * (across - 1)) / across
    for n, step in enumerate(found):
        start = LEFT + (n % across) * (width + 24)
        from_y = top + (n // across) * (high + gap)
        x = Scale(min(ends), max(ends), start, start + width)
        y = log_scale(times, from_y + high, from_y)
        _shade(drawing, step, x, y)
        axes(drawing, x, y, "time (ms)" if n + across >= len(found) else "", "latency",
             (units.digits_of, units.time), left=n % across == 0)
        drawing.add(marker(slots[step.poller], start + 5, from_y - 13))
        drawing.text(start + 15, from_y - 9, step.poller, "head")
        for column, kind in (step.p50, "thin"), (step.p99, ""):
            drawing.path([(x.at(a), y.at(v)) for a, v in step.series(column)],
                         f"s{slots[step.poller]} line {kind}".strip())
    return drawing


def _shade(drawing, step, x, y):
    """Where packets are offered."""
    most = max((v for v in step.offered if v), default=0)
    loaded = [at for at, rate in zip(step.at, step.offered)
              if at is not None and rate and rate > most * NO_LOAD]
    if loaded:
        from_x, to_x = x.at(min(loaded)), x.at(max(loaded) + step.width())
        drawing.box(from_x, y.end, to_x - from_x, y.start - y.end, "shade")


def neighbours(measured):
    """What a program beside the poller loses of its work: a row for each poller and load."""
    title = "what a neighbour loses"
    found = [n for n in measured.neighbours if units.finite(n.get("lost_share")) is not None]
    kinds = sorted({word(n.get("where")) for n in found})
    if not found:
        return nothing(title)
    slots = theme.slots(measured.pollers())
    drawing = Drawing(WIDTH, 0, title)
    top = 30
    for where in kinds:
        top = _neighbours_at(drawing, [n for n in found if word(n.get("where")) == where], where,
                             slots, top)
    drawing.height = top - 30
    return drawing


def _neighbours_at(drawing, found, where, slots, top):
    name = {"core": "on the same core", "sibling": "on the SMT sibling"}.get(where, where)
    drawing.text(LEFT, top - 8, f"neighbour {name}", "head")
    order = list(slots)
    found = sorted(found, key=lambda n: (order.index(word(n.get("poller"))),
                                         positive(n.get("load")) or 0))
    bottom = top + ROW * len(found) + 8
    left = LEFT + 220
    y = Scale(0, len(found), top, bottom)
    x = even_scale([1.0], left, WIDTH - 40)
    for value, _ in x.ticks():
        drawing.path([(x.at(value), top), (x.at(value), bottom)], "grid")
        drawing.text(x.at(value), bottom + 18, units.percent(value), "small", "middle")
    drawing.path([(left, bottom), (x.end, bottom)], "axis")
    drawing.text((left + x.end) / 2, bottom + 37, "work that the neighbour loses", "dim", "middle")
    for n, row in enumerate(found):
        _neighbour(drawing, row, x, y.at(n + 0.5), slots, left)
    return bottom + 46 + 34


def _neighbour(drawing, row, x, at, slots, left):
    poller = word(row.get("poller"))
    load = positive(row.get("load"))
    slot = slots[poller]
    lost = min(max(units.finite(row.get("lost_share")), 0.0), 1.0)
    name = poller if load is None else \
        f"{poller} at {units.percent(load)}" if load else f"{poller} without packets"
    drawing.text(left - 12, at + 4, name, "small", "end")
    drawing.path([(x.at(0), at), (x.at(lost), at)], f"s{slot} lead")
    ci = row.get("ci")
    ends = [units.finite(v) for v in ci] if isinstance(ci, list) and len(ci) == 2 else []
    known = len(ends) == 2 and None not in ends
    if known:
        drawing.path([(x.at(ends[0]), at), (x.at(ends[1]), at)], f"s{slot} bar")
    runs = row.get("runs") if isinstance(row.get("runs"), list) else []
    for run in filter(lambda v: v is not None, map(units.finite, runs)):
        drawing.path([(x.at(run), at - 5), (x.at(run), at + 5)], f"s{slot} lead")
    drawing.add(marker(slot, x.at(lost), at, 4.2, not known, f"{name}: {units.percent(lost)}"))

