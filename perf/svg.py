# SPDX-License-Identifier: BSD-3-Clause
"""Charts of ratios: named places along x, a logarithmic y, a mark for each series."""
import math

COLORS = ["#1b6ca8", "#d1495b", "#2e8b57", "#b8860b", "#7b4ab5", "#555555", "#00838f"]
MARKS = ["circle", "square", "diamond", "triangle", "circle", "square", "diamond"]
LEFT, TOP, BOTTOM, GAP = 58, 34, 46, 30
STEPS = [1, 2, 5]


def text(x, y, words, anchor="middle", size=12, weight="normal"):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return (f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{words}</text>')


def mark(kind, x, y, color):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{color}"/>'
    points = {"square": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
              "diamond": [(0, -6), (6, 0), (0, 6), (-6, 0)],
              "triangle": [(0, -6), (5.5, 4), (-5.5, 4)]}[kind]
    return ('<polygon points="' + " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in points)
            + f'" fill="{color}"/>')


def ticks(low, high):
    steps = STEPS if high / low > 4 else range(1, 20)
    found = [step * 10 ** e for e in range(-4, 6) for step in steps]
    return [t for t in found if low * 0.999 <= t <= high * 1.001]


def panel(x0, width, height, title, below, places, series, lines):
    """series: {name: [a ratio or None for each place]}."""
    values = [v for row in series.values() for v in row if v] + [1]
    low, high = min(values) / 1.25, max(values) * 1.25
    bottom = TOP + height

    def at_x(i):
        return x0 + width * (i + 0.5) / len(places)

    def at_y(v):
        return bottom - height * math.log(v / low) / math.log(high / low)

    out = [text(x0 + width / 2, TOP - 14, title, size=13, weight="bold"),
           f'<rect x="{x0}" y="{TOP}" width="{width}" height="{height}" fill="none" '
           'stroke="#999"/>']
    for t in ticks(low, high):
        color = "#333" if t == 1 else "#ddd"
        out.append(f'<line x1="{x0}" x2="{x0 + width}" y1="{at_y(t):.1f}" y2="{at_y(t):.1f}" '
                   f'stroke="{color}"/>')
        out.append(text(x0 - 6, at_y(t) + 4, f"{t:g}", "end", 11))
    for i, place in enumerate(places):
        for k, line in enumerate(place.split("\n")):
            out.append(text(at_x(i), bottom + 16 + 13 * k, line, size=11))
    out.append(text(x0 + width / 2, bottom + 34, below, size=12))
    for n, row in enumerate(series.values()):
        shift = 0 if lines else (n - (len(series) - 1) / 2) * 11
        points = [(at_x(i) + shift, at_y(v)) for i, v in enumerate(row) if v]
        if lines:
            out.append('<polyline fill="none" stroke-width="1.6" stroke="' + COLORS[n]
                       + '" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')
        out += [mark(MARKS[n], x, y, COLORS[n]) for x, y in points]
    return out


def chart(path, panels, below="", lines=True, width=330, height=250, key=150):
    """panels: [(title, places, series)], with the same names of series in all panels."""
    out, x = [], LEFT
    for title, places, series in panels:
        out += panel(x, width, height, title, below, places, series, lines)
        x += width + LEFT + GAP - 20
    x -= GAP
    for n, name in enumerate(panels[0][2]):
        y = TOP + 14 + 20 * n
        out.append(mark(MARKS[n], x, y - 4, COLORS[n]))
        out.append(text(x + 12, y, name, "start", 12))
    total = x + key
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} '
                f'{TOP + height + BOTTOM}" font-family="sans-serif">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n'
                + "\n".join(out) + "\n</svg>\n")
