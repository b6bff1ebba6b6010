#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/pictures/sched.svg, the rooms of lib/sched with three walks, from the tables of
docs/internals/sched.md. Lint `floors` says when the picture is not that of the tables.

Usage: rooms.py [--check]
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "internals" / "sched.md"
PICTURE = HERE / "sched.svg"
BESIDE = {"steal": "look"}  # drawn on one floor: neither uses the other
WIDTH, LEFT, ROW, GAP = 860, 20, 23, 16
LETTER = 7.4  # the widest of a file's name, on average

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" \
font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12">
  <title>The rooms of lib/sched, and three walks through them</title>
  <style>
    .page {{ fill: #ffffff; stroke: #d0d7de }}
    .room {{ fill: #eef4fb; stroke: #7fa7d1 }}
    .file {{ fill: #ffffff; stroke: #c3ccd5 }}
    text {{ fill: #1f2328 }}
    .name {{ font-weight: 600; font-size: 14px }}
    .dim {{ fill: #57606a }}
    .A {{ fill: #3b6ea5 }} .B {{ fill: #a85f10 }} .C {{ fill: #2e7d4f }}
    .step {{ fill: #ffffff; font-size: 9px; font-weight: 600; text-anchor: middle }}
    @media (prefers-color-scheme: dark) {{
      .page {{ fill: #0d1117; stroke: #30363d }}
      .room {{ fill: #14202e; stroke: #3f6796 }}
      .file {{ fill: #0d1117; stroke: #3a434d }}
      text {{ fill: #e6edf3 }}
      .dim {{ fill: #9aa4af }}
    }}
  </style>
  <rect class="page" x="0.5" y="0.5" width="{w1}" height="{h1}" rx="8"/>
"""


def rows(text, head):
    """The cells of the rows of the tables whose first column has this head."""
    found = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells:
            found = False
        elif cells[0] == head:
            found = True
        elif found and not cells[0].startswith("---"):
            yield cells


def read(text):
    rooms = [(name.strip("`"), re.findall(r"`(\w+)`", files))
             for name, _, files in rows(text, "room")]
    titles = [(letter, what.replace("`", "")) for letter, what in rows(text, "walk")]
    steps = {}
    for step, file, _ in rows(text, "step"):
        steps.setdefault(file.strip("`"), []).append(step)
    return rooms, titles, steps


def chip(x, y, room, file, steps):
    """A file with the numbers of the steps that are made in it: its SVG and its width."""
    marks = steps.get(f"{room}/{file}", [])
    width = 12 + LETTER * len(file) + 19 * len(marks)
    out = [f'  <rect class="file" x="{x:.1f}" y="{y}" width="{width:.1f}" height="18" rx="4"/>',
           f'  <text x="{x + 6:.1f}" y="{y + 13}">{file}</text>']
    at = x + 12 + LETTER * len(file) + 6
    for mark in marks:
        out += [f'  <rect class="{mark[0]}" x="{at - 8:.1f}" y="{y + 2}" width="17" height="14" '
                'rx="7"/>',
                f'  <text class="step" x="{at + 0.5:.1f}" y="{y + 12}">{mark}</text>']
        at += 19
    return out, width


def draw_files(x, y, width, name, files, steps):
    """The files of a room: their SVG and the height of the room."""
    out, at, row = [], x + 74, y + 8
    for file in files:
        svg, used = chip(at, row, name, file, steps)
        if at + used > x + width - 8:
            at, row = x + 74, row + ROW
            svg, used = chip(at, row, name, file, steps)
        out += svg
        at += used + 6
    return out, max(row + ROW + 3 - y, 46)


def draw_room(x, y, width, height, name, floor):
    return [f'  <rect class="room" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>',
            f'  <text class="name" x="{x + 10}" y="{y + 20}">{name}</text>',
            f'  <text class="dim" x="{x + 10}" y="{y + 37}">floor {floor}</text>']


def floors(rooms):
    """The floors from the ground up, each a list of rooms."""
    up = []
    for room in rooms:
        if up and BESIDE.get(room[0]) == up[-1][0][0]:
            up[-1].append(room)
        else:
            up.append([room])
    return up


def draw(text):
    rooms, titles, steps = read(text)
    out, y = [], 16
    up = floors(rooms)
    for floor in range(len(up), 0, -1):
        here = up[floor - 1]
        width = (WIDTH - 2 * LEFT - GAP * (len(here) - 1)) // len(here)
        at = [LEFT + i * (width + GAP) for i in range(len(here))]
        files = [draw_files(x, y, width, *room, steps) for x, room in zip(at, here)]
        height = max(height for _, height in files)
        for x, (name, _), (svg, _) in zip(at, here, files):
            out += draw_room(x, y, width, height, name, floor) + svg
        y += height + 10
    for letter, what in titles:
        y += 20
        out += [f'  <rect class="{letter}" x="{LEFT}" y="{y - 11}" width="17" height="14" rx="7"/>',
                f'  <text class="step" x="{LEFT + 8.5}" y="{y - 1}">{letter}</text>',
                f'  <text class="dim" x="{LEFT + 24}" y="{y}">{what}</text>']
    y += 18
    return HEAD.format(w=WIDTH, h=y, w1=WIDTH - 1, h1=y - 1) + "\n".join(out) + "\n</svg>\n"


def is_drawn():
    return PICTURE.exists() and PICTURE.read_text() == draw(PAGE.read_text())


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if is_drawn() else f"{PICTURE} is not that of {PAGE}")
    PICTURE.write_text(draw(PAGE.read_text()))
