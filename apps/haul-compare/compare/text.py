# SPDX-License-Identifier: BSD-3-Clause
"""report.txt: the result, the advice and the most important figures, for a terminal."""
import textwrap

from . import units
from .measured import word
from .plots import Lines
from .tables import groups

COLUMNS = 88
HEAD = ["poller", "p50", "p99", "(95 %)", "p99.9", "CPU", "(95 %)", "lost", "runs"]


def _wrapped(text, first="", then=""):
    return textwrap.wrap(text, COLUMNS, initial_indent=first, subsequent_indent=then,
                         break_long_words=False, break_on_hyphens=False) or [first.rstrip()]


def _cells(point):
    p99, cpu = point.interval("p99_ns"), point.interval("cpu_share")
    return [point.poller, units.time(point.value("p50_ns")), units.time(point.value("p99_ns")),
            units.times(*p99) if p99 else units.MISSING, units.time(point.value("p999_ns")),
            units.percent(point.value("cpu_share")),
            units.percents(*cpu) if cpu else units.MISSING, units.count(point.value("lost")),
            f"{len(point.clean)}" + "!" * bool(point.disturbed)]


def _table(rows):
    widths = [max(len(r[n]) for r in rows) for n in range(len(HEAD))]
    for row in rows:
        yield "  " + "  ".join([row[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])


def _figures(measured):
    for arrivals in measured.arrivals():
        lines = Lines(measured, arrivals)
        for heading, points in groups(lines):
            yield f"{arrivals} arrivals, {heading}"
            yield from _table([HEAD] + [_cells(p) for p in points])
            yield ""
    if any(p.disturbed for p in measured.points):
        yield "!: runs that the machine disturbed were left out"
        yield ""


def _how(measured):
    machine, versions = measured.about("machine"), measured.about("versions")
    yield "machine   " + ", ".join(f"{k} {word(v)}" for k, v in machine.items() if v is not None)
    yield "versions  " + ", ".join(f"{k} {word(v)}" for k, v in versions.items() if v is not None)
    for name in "link", "work":
        yield f"{name:8}  " + ", ".join(f"{k} {word(v)}" for k, v in measured.about(name).items()
                                        if isinstance(v, (str, int, float)))
    yield "command   " + measured.text("command", "?")
    yield "started   " + measured.text("started", "?")


def as_text(measured, advice):
    out = [*_wrapped(advice["sentence"]), ""]
    if advice["option"]:
        out += [f"  {advice['option']}", ""]
    for line in advice["warnings"] + advice["lines"]:
        out += _wrapped(line, "- ", "  ")
    out += ["", *_figures(measured)]
    for note in measured.notes:
        out += _wrapped(f"note: {word(note, longest=1000)}", "", " " * 6)
    for what, often, at in measured.disturbed_by():
        out += _wrapped(f"disturbed: {what} ({often} times such; the first after "
                        f"{units.time(at * 1e9)})", "", " " * 11)
    for line in _how(measured):
        out += _wrapped(line, "", " " * 10)
    return "\n".join(out) + "\n"
