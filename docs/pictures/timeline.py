#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/pictures/timeline.svg of a trace that haul-trace has made of trace_story's.

Usage: timeline.py HAUL_TRACE STORY
"""
import os
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
LEFT, WIDTH, ROW, GAP = 120, 860, 20, 14
COLOURS = {"client": "#4c78a8", "server": "#f58518", "writer": "#54a24b", "asleep": "#e4e4e4",
           "parked": "#d0d7e5", "sleeps": "#cfe3cd", "mutex": "#e45756", "ask": "#9ecae9",
           "request": "#ffbf79"}


def load(trace, story):
    sys.argv = ["haul_trace.py", trace, story, os.path.join(TOP, "docs/guide/timeline.md")]
    sys.path[:0] = [os.path.join(TOP, "tests"), os.path.join(TOP, "tests/unit")]
    import haul_trace
    with tempfile.TemporaryDirectory() as work:
        raw, out = os.path.join(work, "raw"), os.path.join(work, "out")
        subprocess.run([story, raw, "1"], check=True)
        subprocess.run([trace, "--in", raw, "--out", out], check=True, stdout=subprocess.DEVNULL)
        return haul_trace.Import(haul_trace.decode(out)).tables


class Drawing:
    def __init__(self, tables):
        self.tables, self.parts, self.at = tables, [], {}
        self.begin, self.end = tables.query("SELECT MIN(ts), MAX(ts + dur) FROM slice "
                                            "WHERE dur > 0 AND name IN ('client', 'writer')")[0]
        self.tracks = [row for row in tables.query(
            "SELECT DISTINCT track.id, COALESCE(thread.name, track.name) FROM track "
            "JOIN slice ON slice.track_id = track.id LEFT JOIN thread ON thread.utid = track.id "
            "ORDER BY 1")]
        self.height = 30

    def x(self, ts):
        return LEFT + WIDTH * (min(max(ts, self.begin), self.end) - self.begin) / \
            (self.end - self.begin)

    def depth(self, parents, number):
        n = 0
        while parents.get(number):
            number, n = parents[number], n + 1
        return n

    def slices(self, track, name):
        rows = self.tables.query("SELECT id, ts, dur, name, parent_id FROM slice "
                                 f"WHERE track_id = {track} ORDER BY ts, id")
        parents = {row[0]: row[4] for row in rows}
        deepest = max(self.depth(parents, row[0]) for row in rows)
        top = self.height
        self.parts.append(f'<text x="8" y="{top + 14}" font-weight="bold">{escape(name)}</text>')
        for number, ts, dur, what, _ in rows:
            y = top + ROW * self.depth(parents, number)
            x, width = self.x(ts), max(self.x(ts + max(dur, 0)) - self.x(ts), 2)
            self.at[number] = (x, y + ROW / 2)
            if dur <= 0:
                continue
            note = f"{what}: {dur / 1000:.1f} us"
            self.parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 2}" rx="2" '
                f'fill="{COLOURS.get(what, "#bab0ac")}"><title>{escape(note)}</title></rect>')
            if width > 7 * len(note):
                self.parts.append(f'<text x="{x + 4:.1f}" y="{y + 13}">{escape(note)}</text>')
        self.height = top + ROW * (deepest + 1) + GAP

    def arrows(self):
        for out, into in self.tables.query("SELECT slice_out, slice_in FROM flow"):
            (x0, y0), (x1, y1) = self.at[out], self.at[into]
            self.parts.append(f'<path d="M{x0:.1f} {y0} C{x0 + 20:.1f} {y0} {x1 - 20:.1f} {y1} '
                              f'{x1:.1f} {y1}" fill="none" stroke="#222" marker-end="url(#a)"/>')

    def svg(self):
        for track, name in self.tracks:
            self.slices(track, name.split(" 0x")[0])
        self.arrows()
        ms = (self.end - self.begin) / 1e6
        self.parts.append(f'<text x="{LEFT}" y="18">0</text><text x="{LEFT + WIDTH}" y="18" '
                          f'text-anchor="end">{ms:.1f} ms</text>')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" '
                f'height="{self.height}" font-family="sans-serif" font-size="11">'
                '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
                'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
                '<rect width="100%" height="100%" fill="white"/>' + "\n".join(self.parts) +
                "</svg>\n")


def main():
    with open(os.path.join(HERE, "timeline.svg"), "w", encoding="utf-8") as file:
        file.write(Drawing(load(*sys.argv[1:3])).svg())


if __name__ == "__main__":
    main()
