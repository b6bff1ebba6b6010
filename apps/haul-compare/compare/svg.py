# SPDX-License-Identifier: BSD-3-Clause
"""Drawing in SVG: scales, axes, markers, and labels that do not overlap."""
import math
import re
from html import escape

from . import theme

LINE = 16  # pixels between lines of labels
CHAR = 7.6  # about the width of a character


def clean(text):
    """Text for XML, which allows few control characters."""
    return escape(re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", str(text)))


def xy(number):
    return f"{number:.1f}".removesuffix(".0")


class Scale:
    """Values to pixels."""

    def __init__(self, low, high, start, end, log=False):
        self.low, self.high, self.start, self.end, self.log = low, high, start, end, log

    def at(self, value):
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        share = (min(max(value, low), high) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """[(value, True if it has a label), ...]"""
        return _log_ticks(self.low, self.high) if self.log else [
            (v, True) for v in _even_ticks(self.low, self.high)]


def _log_ticks(low, high):
    decades = math.log10(high / low)
    labelled = (1, 2, 5) if decades < 2.2 else (1,)
    found = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for digit in range(1, 10):
            value = digit * 10.0 ** power
            if low * 0.999 <= value <= high * 1.001 and (decades < 5 or digit == 1):
                found.append((value, digit in labelled))
    return found


def _even_ticks(low, high, about=6):
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def log_scale(values, start, end):
    """From a round number below the lowest to one above the highest; None without values."""
    values = [v for v in values if v and v > 0]
    if not values:
        return None
    low, high = _round_down(min(values)), _round_up(max(values))
    return Scale(low, high if high > low * 1.5 else low * 10, start, end, log=True)


def _round_down(value):
    power = 10.0 ** math.floor(math.log10(value))
    return max(m * power for m in (0.5, 1, 2, 5) if m * power <= value * 1.0001)


def _round_up(value):
    power = 10.0 ** math.floor(math.log10(value))
    return min(m * power for m in (1, 2, 5, 10) if m * power >= value * 0.9999)


def even_scale(values, start, end, least=0.0):
    """From 0 to a round number above the highest."""
    high = max([v for v in values if v is not None] + [least])
    if high <= 0:
        return None
    ticks = _even_ticks(0, high)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high
    return Scale(0, math.ceil(high / step - 1e-6) * step, start, end)


_SHAPES = {
    "square": [(-.9, -.9), (.9, -.9), (.9, .9), (-.9, .9)],
    "up": [(0, -1.2), (1.1, .8), (-1.1, .8)],
    "down": [(0, 1.2), (1.1, -.8), (-1.1, -.8)],
    "diamond": [(0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)],
    "pentagon": [(1.15 * math.sin(a), -1.15 * math.cos(a))
                 for a in (math.tau * n / 5 for n in range(5))],
}
_STROKES = {
    "cross": [(-.9, -.9, .9, .9), (-.9, .9, .9, -.9)],
    "plus": [(-1.2, 0, 1.2, 0), (0, -1.2, 0, 1.2)],
    "star": [(0, -1.2, 0, 1.2), (-1, -.6, 1, .6), (-1, .6, 1, -.6)],
}


def marker(slot, x, y, size=4.0, hollow=False, about=""):
    """The marker of a line; about is shown when the pointer rests on it."""
    shape = theme.SLOTS[slot][3]
    kind = "mark hollow" if hollow else "mark"
    title = f"<title>{clean(about)}</title>" if about else ""
    if shape == "circle":
        return f'<circle class="s{slot} {kind}" cx="{xy(x)}" cy="{xy(y)}" r="{xy(size)}">' \
               f"{title}</circle>"
    if shape in _STROKES:
        d = "".join(f"M{xy(x + a * size)} {xy(y + b * size)}L{xy(x + c * size)} {xy(y + e * size)}"
                    for a, b, c, e in _STROKES[shape])
        kind = "mark open"
        if hollow:  # a stroke has no inside
            d += f"M{xy(x + size * 1.7)} {xy(y)}a{xy(size * 1.7)} {xy(size * 1.7)} 0 1 0 0 .01Z"
    else:
        d = "M" + "L".join(f"{xy(x + a * size)} {xy(y + b * size)}"
                           for a, b in _SHAPES[shape]) + "Z"
    return f'<path class="s{slot} {kind}" d="{d}">{title}</path>'


def spread(wanted, low, high, gap=LINE):
    """Positions for labels: as near as possible to where they are wanted, gap apart, from low to
    high; in the order of the input."""
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    positions = []
    for n in order:
        positions.append(max(wanted[n], low, positions[-1] + gap if positions else low))
    for n in reversed(range(len(positions))):
        most = high if n == len(positions) - 1 else positions[n + 1] - gap
        positions[n] = min(positions[n], most)
    found = [0.0] * len(wanted)
    for n, position in zip(order, positions):
        found[n] = position
    return found


class Drawing:
    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts = []

    def add(self, markup):
        self.parts.append(markup)

    def text(self, x, y, text, kind="", anchor="start", turn=False):
        kind = f' class="{kind}"' if kind else ""
        anchor = f' text-anchor="{anchor}"' if anchor != "start" else ""
        turn = f' transform="rotate(-90 {xy(x)} {xy(y)})"' if turn else ""
        self.add(f'<text x="{xy(x)}" y="{xy(y)}"{kind}{anchor}{turn}>{clean(text)}</text>')

    def path(self, points, kind):
        """A line through points; nothing if there is only one."""
        points = list(points)
        if len(points) > 1:
            d = "M" + "L".join(f"{xy(x)} {xy(y)}" for x, y in points)
            self.add(f'<path class="{kind}" d="{d}"/>')

    def box(self, x, y, width, height, kind):
        self.add(f'<rect class="{kind}" x="{xy(x)}" y="{xy(y)}" width="{xy(width)}" '
                 f'height="{xy(height)}"/>')

    def svg(self, css=""):
        """For a page; with a style sheet, as a file of its own, which has its own background."""
        style = css and f"<style>{css}</style>" \
                        f'<rect class="page" width="{self.width}" height="{self.height}"/>'
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} '
                f'{self.height}" role="img" aria-label="{clean(self.title)}">{style}'
                + "\n".join(self.parts) + "</svg>")


def axes(drawing, x, y, name_x, name_y, labels=(str, str), left=True):
    """Grid, ticks and names of a panel. labels: how values become text; left: with the labels of
    the vertical axis, which panels beside each other share."""
    bottom, top = y.start, y.end
    for value, labelled in y.ticks():
        at = y.at(value)
        if labelled:
            drawing.path([(x.start, at), (x.end, at)], "grid")
            if left:
                drawing.text(x.start - 7, at + 4, labels[1](value), "small", "end")
    last = -1e9
    for value, labelled in x.ticks():
        at = x.at(value)
        text = labels[0](value)
        drawing.path([(at, bottom), (at, bottom + (5 if labelled else 3))], "axis")
        if labelled:
            drawing.path([(at, bottom), (at, top)], "grid")
        if labelled and at - last > len(text) * CHAR * 0.9 + 8:
            drawing.text(at, bottom + 18, text, "small", "middle")
            last = at
    drawing.path([(x.start, bottom), (x.end, bottom)], "axis")
    drawing.text((x.start + x.end) / 2, bottom + 37, name_x, "dim", "middle")
    if name_y and left:
        drawing.text(x.start - 58, (bottom + top) / 2, name_y, "dim", "middle", turn=True)


def end_labels(drawing, ends, x, low, high):
    """Names right of the lines: ends is [(x, y, slot, name), ...]."""
    ends = list(ends)
    positions = spread([y for _, y, _, _ in ends], low, high)
    for (from_x, from_y, slot, name), position in zip(ends, positions):
        drawing.path([(from_x + 7, from_y), (x - 12, position)], f"s{slot} lead")
        drawing.add(marker(slot, x - 4, position))
        drawing.text(x + 6, position + 4, name, "small")


def legend(drawing, entries, x, y, right):
    """[(slot, name), ...] in lines; returns the height that they take."""
    at, top = x, y
    for slot, name in entries:
        width = 46 + len(str(name)) * CHAR
        if at > x and at + width > right:
            at, y = x, y + LINE + 5
        drawing.path([(at, y - 4), (at + 26, y - 4)], f"s{slot} line")
        drawing.add(marker(slot, at + 13, y - 4))
        drawing.text(at + 32, y, name, "small")
        at += width
    return y - top + LINE
