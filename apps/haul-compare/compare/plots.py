# SPDX-License-Identifier: BSD-3-Clause
"""The pictures over load: latency, CPU, and p99 against CPU, which decides."""
from . import theme, units
from .choice import LOSS
from .measured import load_name
from .svg import LINE, Drawing, axes, end_labels, even_scale, log_scale, marker

WIDTH = 1080
LEFT, RIGHT = 74, 148  # for the labels of the vertical axis; for the names of lines
TOP, BOTTOM = 42, 46
NAMES = {"p50_ns": "p50", "p90_ns": "p90", "p99_ns": "p99", "p999_ns": "p99.9"}
LATENCY = "latency from intended send time"
OFFERED = "offered load (packets per second)"


class Lines:
    """The lines of one kind of arrivals, each with the slot that it has in all pictures."""

    def __init__(self, measured, arrivals, limit=(None, None)):
        self.measured = measured
        self.arrivals = arrivals
        self.limit_name, self.limit = limit
        self.slots = theme.slots(measured.pollers())
        self.pollers = [p for p in measured.pollers() if measured.line(arrivals, p)]
        self.loads = measured.loads(arrivals)
        self.has_load = all(p.load is not None for p in measured.at(arrivals))

    def points(self, poller, name):
        return [p for p in self.measured.line(self.arrivals, poller) if p.offered
                and (p.value(name) or name == "cpu_share" and p.value(name) == 0)]

    def values(self, name):
        """All of them with their intervals: what an axis must show."""
        found = []
        for poller in self.pollers:
            for point in self.points(poller, name):
                found += [point.value(name), *(point.interval(name) or ())]
        return found

    def about(self, point, name):
        """What the pointer shows at a point."""
        value = units.percent if name == "cpu_share" else units.time
        both = units.percents if name == "cpu_share" else units.times
        text = (f"{point.poller} at {load_name(point.key(), self.has_load)}, "
                f"{units.rate(point.offered)}: {NAMES.get(name, 'CPU')} {value(point.value(name))}")
        if point.interval(name):
            text += f" (95 %: {both(*point.interval(name))})"
        return text


def doubtful(point):
    """True if its figures are to be read with care: drawn hollow."""
    loss = point.loss()
    return not point.reliable() or bool(loss) and sorted(loss)[len(loss) // 2] > LOSS


def load_scale(rates, start, end):
    """A logarithmic axis where the loads are far apart."""
    rates = [r for r in rates if r]
    if rates and max(rates) > 15 * min(rates):
        return log_scale(rates, start, end)
    return even_scale(rates, start, end)


def _draw_line(drawing, lines, points, name, x, y, sizes=None):
    """The line of a poller with its intervals; x is a function. Returns the line's last
    position, its slot and its name, or None."""
    if not points:
        return None
    slot = lines.slots[points[0].poller]
    positions = [(p, x(p), y.at(p.value(name))) for p in points]
    drawing.path([(px, py) for _, px, py in positions], f"s{slot} line")
    for point, px, _ in positions:
        found = point.interval(name)
        if found:
            drawing.path([(px, y.at(found[0])), (px, y.at(found[1]))], f"s{slot} bar")
    for n, (point, px, py) in enumerate(positions):
        drawing.add(marker(slot, px, py, sizes[n] if sizes else 3.8, doubtful(point),
                           lines.about(point, name)))
    return *positions[-1][1:], slot, points[0].poller


def _limit(drawing, lines, name, x, y):
    """The target, where the picture has its axis."""
    if lines.limit_name == name and y.low <= lines.limit <= y.high:
        at = y.at(lines.limit)
        drawing.path([(x.start, at), (x.end, at)], "limit")
        drawing.text(x.end, TOP - 14, "dashed: target", "small dim", "end")


def nothing(title, why="not measured"):
    drawing = Drawing(WIDTH, 60, title)
    drawing.text(LEFT, 34, why, "dim")
    return drawing


def latency(lines, names=("p50_ns", "p99_ns", "p999_ns")):
    """A panel for each percentile, with the same axes."""
    height = 400
    title = "latency over offered load"
    drawing = Drawing(WIDTH, height, title)
    gap = 36
    width = (WIDTH - LEFT - RIGHT - gap * (len(names) - 1)) / len(names)
    y = log_scale([v for n in names for v in lines.values(n)], height - BOTTOM, TOP)
    rates = [p.offered for n in names for poller in lines.pollers
             for p in lines.points(poller, n)]
    if not y or not rates:
        return nothing(title)
    ends = []
    for n, name in enumerate(names):
        start = LEFT + n * (width + gap)
        x = load_scale(rates, start, start + width)
        axes(drawing, x, y, OFFERED if n == len(names) // 2 else "", LATENCY,
             (units.count, units.time), left=n == 0)
        drawing.text(start, TOP - 14, NAMES[name], "head")
        _limit(drawing, lines, name, x, y)
        ends = []
        for i, poller in enumerate(lines.pollers):
            shift = 1.5 * (i - (len(lines.pollers) - 1) / 2)
            ends.append(_draw_line(drawing, lines, lines.points(poller, name), name,
                                   lambda p, x=x, by=shift: x.at(p.offered) + by, y))
    end_labels(drawing, filter(None, ends), WIDTH - RIGHT + 26, TOP, height - BOTTOM)
    return drawing


def cpu(lines):
    """CPU over load; at the left, the share taken while there are no packets."""
    height, strip = 380, 70
    title = "CPU over offered load"
    idle = {p: lines.measured.idle_cpu(p) for p in lines.pollers}
    values = lines.values("cpu_share") + [v for v in idle.values() if v is not None]
    y = even_scale(values, height - BOTTOM, TOP, least=1.0)
    rates = [p.offered for poller in lines.pollers for p in lines.points(poller, "cpu_share")]
    if not rates:
        return nothing(title)
    drawing = Drawing(WIDTH, height, title)
    x = load_scale(rates, LEFT + strip + 20, WIDTH - RIGHT)
    axes(drawing, x, y, OFFERED, "", (units.count, units.percent), left=False)
    for value, _ in y.ticks():
        drawing.path([(LEFT, y.at(value)), (LEFT + strip, y.at(value))], "grid")
        drawing.text(LEFT - 7, y.at(value) + 4, units.percent(value), "small", "end")
    drawing.path([(LEFT, y.start), (LEFT + strip, y.start)], "axis")
    drawing.text(LEFT + strip / 2, y.start + 18, "no packets", "small", "middle")
    drawing.text(LEFT - 58, (y.start + y.end) / 2, "CPU (share of one CPU)", "dim", "middle", True)
    _limit(drawing, lines, "cpu_share", x, y)
    ends = []
    for n, poller in enumerate(lines.pollers):
        slot = lines.slots[poller]
        if idle[poller] is not None:
            at = LEFT + strip * (n + 1) / (len(lines.pollers) + 1)
            drawing.add(marker(slot, at, y.at(idle[poller]), 3.8, False,
                               f"{poller} without packets: {units.percent(idle[poller])}"))
        ends.append(_draw_line(drawing, lines, lines.points(poller, "cpu_share"), "cpu_share",
                               lambda p: x.at(p.offered), y))
    end_labels(drawing, filter(None, ends), WIDTH - RIGHT + 26, TOP, height - BOTTOM)
    return drawing


def deciding(lines, chosen):
    """p99 against CPU. chosen: {load: poller} of the advice, ringed."""
    height = 500
    title = "p99 against CPU"
    points = {poller: [p for p in lines.points(poller, "p99_ns")
                       if p.value("cpu_share") is not None] for poller in lines.pollers}
    y = log_scale(lines.values("p99_ns"), height - BOTTOM, TOP)
    x = even_scale([v for found in points.values() for p in found
                    for v in (p.value("cpu_share"), *(p.interval("cpu_share") or ()))],
                   LEFT, WIDTH - RIGHT, least=0.01)
    if not y or not any(points.values()):
        return nothing(title)
    drawing = Drawing(WIDTH, height, title)
    axes(drawing, x, y, "\u2190 less is better: CPU (share of one CPU)",
         "\u2190 less is better: p99", (units.percent, units.time))
    _limit(drawing, lines, "p99_ns", x, y)
    if lines.limit_name == "cpu_share" and lines.limit <= x.high:
        drawing.text(x.end, TOP - 14, "dashed: target", "small dim", "end")
        drawing.path([(x.at(lines.limit), y.start), (x.at(lines.limit), y.end)], "limit")
    ends = []
    for poller, found in points.items():
        if not found:
            continue
        slot = lines.slots[poller]
        for point in found:
            _bar(drawing, slot, point, x, y)
            if chosen.get(point.key()) == poller:
                _ring(drawing, x.at(point.value("cpu_share")), y.at(point.value("p99_ns")))
        ends.append(_draw_line(drawing, lines, found, "p99_ns",
                               lambda p: x.at(p.value("cpu_share")), y,
                               [size_of(lines, p) for p in found]))
    end_labels(drawing, ends, WIDTH - RIGHT + 26, TOP, height - BOTTOM)
    _sizes(drawing, lines)
    return drawing


def _bar(drawing, slot, point, x, y):
    found = point.interval("cpu_share")
    if found:
        at = y.at(point.value("p99_ns"))
        drawing.path([(x.at(found[0]), at), (x.at(found[1]), at)], f"s{slot} bar")


def _ring(drawing, x, y):
    drawing.add(f'<circle class="axis" cx="{x:.1f}" cy="{y:.1f}" r="11"/>')


def size_of(lines, point):
    """Larger for a higher load."""
    rank = lines.loads.index(point.key())
    return 3.0 + 3.6 * rank / max(len(lines.loads) - 1, 1)


def _sizes(drawing, lines):
    """What the sizes of markers mean."""
    at = LEFT
    drawing.text(at, TOP - 18, "load:", "small dim")
    at += 44
    for rank, load in enumerate(lines.loads):
        size = 3.0 + 3.6 * rank / max(len(lines.loads) - 1, 1)
        name = load_name(load, lines.has_load)
        if at > WIDTH - RIGHT - 120:
            break
        drawing.add(f'<circle class="axis" cx="{at:.1f}" cy="{TOP - 22}" r="{size:.1f}"/>')
        drawing.text(at + size + 5, TOP - 18, name, "small dim")
        at += size + 5 + LINE + len(name) * 7
    drawing.add(f'<circle class="axis" cx="{at + 12:.1f}" cy="{TOP - 22}" r="11"/>')
    drawing.text(at + 28, TOP - 18, "advised at its load", "small dim")
