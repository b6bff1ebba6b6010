# SPDX-License-Identifier: BSD-3-Clause
"""Colours, dashes and markers of lines, and the style sheets of pictures and page.

The colours are as far apart as a search has found for readers with normal sight and for those who
see two of the three colours, each on white and on black; tests/unit/compare_report.py checks it.
Lines also differ in dash and marker, so a print without colours can be read.
"""
from .measured import shown_order

# A slot of a line: colour on white, colour on black, dash, marker, and for which pollers.
SLOTS = [
    ("#114ea9", "#3794ff", "", "circle", "spin"),
    ("#e8433a", "#e0683a", "14 3", "square", "block"),
    ("#007f2b", "#0edb85", "8 3", "up", "adaptive"),
    ("#ce8100", "#dd9b00", "10 3 2 3", "diamond", "adaptive"),
    ("#2b3f00", "#fffd79", "2 3", "down", "adaptive"),
    ("#78537b", "#b273bc", "5 3", "pentagon", "sleep"),
    ("#2f241b", "#dcffe6", "4 2", "cross", "kernel-epoll"),
    ("#0199da", "#94d3ff", "3 2 1 2", "plus", "dpdk-interrupt"),
    ("#8a8d82", "#7f9f8e", "1 2", "star", "pause"),
]
LIGHT = {"page": "#ffffff", "ink": "#1f2328", "dim": "#59636e", "grid": "#e3e7eb",
         "axis": "#8c959f", "box": "#f6f8fa", "edge": "#d0d7de", "shade": "#e8edf2",
         "link": "#0550ae", "warn": "#9a6700"}
DARK = {"page": "#0d1117", "ink": "#e6edf3", "dim": "#9198a1", "grid": "#262c34",
        "axis": "#6e7681", "box": "#161b22", "edge": "#3d444d", "shade": "#1d2530",
        "link": "#79c0ff", "warn": "#d29922"}

_PICTURE = """
svg text {{ fill: {ink}; }}
svg .dim {{ fill: {dim}; }}
svg .grid {{ stroke: {grid}; }}
svg .axis {{ stroke: {axis}; }}
svg .shade {{ fill: {shade}; }}
svg .page {{ fill: {page}; }}
svg .mark {{ stroke: {page}; }}
svg .mark.hollow {{ fill: {page}; }}
svg .limit {{ stroke: {ink}; }}
"""
_PICTURE_ALWAYS = """
svg text { font: 14px system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif; }
svg text.small { font-size: 12.5px; }
svg text.head { font-weight: 600; }
svg .grid { stroke-width: 1; fill: none; }
svg .shade { shape-rendering: crispEdges; }
svg .axis { stroke-width: 1; fill: none; }
svg .line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
svg .thin { stroke-width: 1.3; }
svg .bar { fill: none; stroke: currentColor; stroke-width: 1.4; opacity: 0.6; }
svg .lead { fill: none; stroke: currentColor; stroke-width: 1; opacity: 0.4; }
svg .mark { fill: currentColor; stroke-width: 1; }
svg .mark.open, svg .mark.hollow { stroke: currentColor; stroke-width: 2; }
svg .mark.open { fill: none; }
svg .limit { fill: none; stroke-width: 1.3; stroke-dasharray: 6 4; }
"""
_PAGE = """
:root {{ color-scheme: {scheme}; }}
body {{ background: {page}; color: {ink}; }}
a {{ color: {link}; }}
.dim, figcaption, th {{ color: {dim}; }}
.box, pre {{ background: {box}; border-color: {edge}; }}
table, th, td {{ border-color: {edge}; }}
.warn {{ border-color: {warn}; }}
"""
_PAGE_ALWAYS = """
body { font: 16px/1.5 system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif;
       max-width: 1120px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 15px; font-weight: 600; margin: 0 0 8px; }
h2 { font-size: 20px; margin: 44px 0 6px; }
h3 { font-size: 16px; margin: 24px 0 6px; }
.result { font-size: 23px; line-height: 1.4; font-weight: 600; margin: 0 0 16px; }
.box, pre { border-width: 1px; border-style: solid; border-radius: 8px;
            padding: 12px 16px; }
.warn { border-width: 1px 1px 1px 5px; border-style: solid; border-radius: 6px;
        padding: 8px 14px; }
pre, code { font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
            font-size: 14px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 8px 0; }
.result code { font-size: 0.88em; white-space: nowrap; }
figure { margin: 12px 0 0; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 680px; height: auto; }
figcaption { font-size: 14px; margin-top: 4px; max-width: 90ch; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { border-style: solid; border-width: 0 0 1px; padding: 3px 9px; text-align: right;
         white-space: nowrap; }
th { font-weight: 600; vertical-align: bottom; white-space: normal; }
th.name, td.name { text-align: left; }
tr.group th { text-align: left; padding-top: 14px; font-size: 14px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 18px; margin: 8px 0; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
ul { padding-left: 22px; }
li { margin: 3px 0; }
@page { margin: 11mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  .result { font-size: 14pt; }
  h2 { font-size: 13pt; margin-top: 18pt; }
  h3 { font-size: 11pt; margin-top: 12pt; }
  figcaption, pre, code { font-size: 9pt; }
  figure, tbody, tr, .box, pre { break-inside: avoid; }
  h2, h3, thead { break-after: avoid; }
  figure svg { min-width: 0; }
  figure, .scroll { overflow: visible; }
  table { font-size: 7pt; }
  tr.group th { font-size: 8pt; padding-top: 8pt; }
  th, td { padding: 1.5px 4px; }
}
"""


def _lines(dark):
    return "\n".join(f".s{n} {{ color: {slot[1 if dark else 0]}; }}"
                     for n, slot in enumerate(SLOTS))


def _dashes():
    return "\n".join(f"svg .s{n}.line {{ stroke-dasharray: {slot[2]}; }}"
                     for n, slot in enumerate(SLOTS) if slot[2])


def _both(always, template):
    """Paper is white, whatever the screen is."""
    light = template.format(**LIGHT, scheme="light dark") + _lines(False)
    dark = template.format(**DARK, scheme="light dark") + _lines(True)
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n{always}"


def picture_css():
    """For a picture in a file of its own."""
    return _both(_PICTURE_ALWAYS + _dashes(), _PICTURE)


def page_css():
    return _both(_PICTURE_ALWAYS + _dashes() + _PAGE_ALWAYS, _PICTURE + _PAGE)


def slots(pollers):
    """The slot of each poller: the same in all pictures of a report."""
    free = list(range(len(SLOTS)))
    found = {}
    for poller in sorted(pollers, key=shown_order):
        name = poller.partition(":")[0]
        mine = [n for n in free if SLOTS[n][4] == name]
        if mine:
            found[poller] = mine[0]
            free.remove(mine[0])
    for poller in sorted(pollers, key=shown_order):
        if poller not in found:
            free = free or list(range(len(SLOTS)))
            found[poller] = free.pop(0)
    return found
