# SPDX-License-Identifier: BSD-3-Clause
"""The figures as tables: for report.csv, and with intervals for readers."""
import csv
import io

from . import units
from .measured import INTERVALS, entry, load_name, positive, word

PLAIN = ["offered_pps", "achieved_pps", "sent", "received", "lost"]
LOST_BY = ["generator", "link", "subject"]
TIMES = ["p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"]
COSTS = ["cpu_share", "cpu_ns_per_packet"]
SHARES = ["work", "empty", "asleep"]
REST = ["wakeups_ps", "syscalls_per_packet", "switches_per_packet", "packets_per_poll", "energy_w"]


def _ends(name):
    """The columns of an interval: p99_low_ns, p99_high_ns; cpu_low, cpu_high."""
    stem, _, unit = name.partition("_")
    unit = "_ns" if unit == "ns" else ""
    return [f"{stem}_low{unit}", f"{stem}_high{unit}"]


def columns():
    names = ["poller", "arrivals", "load", *PLAIN, *(f"lost_by_{n}" for n in LOST_BY)]
    for name in TIMES + COSTS:
        names += [name, *(_ends(name) if name in INTERVALS else [])]
    return names + [f"share_{n}" for n in SHARES] + REST + ["runs", "disturbed"]


def row(point):
    """The figures of a point, by column; None if there is none."""
    cells = {"poller": point.poller, "arrivals": point.arrivals, "load": point.load,
             "runs": len(point.clean), "disturbed": point.disturbed}
    for name in PLAIN + TIMES + COSTS + REST:
        cells[name] = point.value(name)
    for name in INTERVALS:
        cells.update(zip(_ends(name), point.interval(name) or (None, None)))
    for name in LOST_BY:
        cells[f"lost_by_{name}"] = positive(entry(point.raw.get("lost_by")).get(name))
    for name in SHARES:
        cells[f"share_{name}"] = positive(entry(point.raw.get("share")).get(name))
    return cells


def _idle(raw):
    """A poller without packets."""
    cells = {"poller": word(raw.get("poller")), "arrivals": "none", "load": 0, "offered_pps": 0,
             "cpu_share": positive(raw.get("cpu_share")),
             "wakeups_ps": positive(raw.get("wakeups_ps"))}
    for name in SHARES:
        cells[f"share_{name}"] = positive(entry(raw.get("share")).get(name))
    return cells


def _plain(value):
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def as_csv(measured):
    out = io.StringIO()
    names = columns()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for cells in [*map(_idle, measured.idle), *map(row, measured.points)]:
        writer.writerow([_plain(cells.get(name)) for name in names])
    return out.getvalue()


def _per_packet(value):
    if value is None:
        return units.MISSING
    return units.digits_of(value) if value >= 0.001 or not value else "< 0.001"


def _with_interval(point, name, one, both):
    value = one(point.value(name))
    found = point.interval(name)
    return f"{value} ({both(*found)})" if found else value


def _shares(point):
    cells = [positive(entry(point.raw.get("share")).get(n)) for n in SHARES]
    return [units.percent(c) for c in cells]


def _lost_by(point):
    """Who lost packets, and how many."""
    by = {n: positive(entry(point.raw.get("lost_by")).get(n)) for n in LOST_BY}
    return ", ".join(f"{n} {units.count(v)}" for n, v in by.items() if v)


def _runs(point):
    return f"{len(point.clean)}" + (f", {point.disturbed} disturbed" if point.disturbed else "")


LATENCIES = [
    ("achieved", lambda p: units.rate(p.value("achieved_pps"))),
    ("lost", lambda p: units.count(p.value("lost"))),
    ("p50 (95 %)", lambda p: _with_interval(p, "p50_ns", units.time, units.times)),
    ("p90", lambda p: units.time(p.value("p90_ns"))),
    ("p99 (95 %)", lambda p: _with_interval(p, "p99_ns", units.time, units.times)),
    ("p99.9 (95 %)", lambda p: _with_interval(p, "p999_ns", units.time, units.times)),
    ("max", lambda p: units.time(p.value("max_ns"))),
    ("runs", _runs),
]
CPU = [
    ("CPU (95 %)", lambda p: _with_interval(p, "cpu_share", units.percent, units.percents)),
    ("CPU per packet", lambda p: units.time(p.value("cpu_ns_per_packet"))),
    ("work", lambda p: _shares(p)[0]),
    ("empty polls", lambda p: _shares(p)[1]),
    ("asleep", lambda p: _shares(p)[2]),
    ("wake-ups/s", lambda p: units.count(round(p.value("wakeups_ps") or 0, 1)
     if p.value("wakeups_ps") is not None else None)),
    ("system calls per packet", lambda p: _per_packet(p.value("syscalls_per_packet"))),
    ("switches per packet", lambda p: _per_packet(p.value("switches_per_packet"))),
    ("packets per poll", lambda p: _per_packet(p.value("packets_per_poll"))),
    ("lost by", _lost_by),
]
ENERGY = ("energy", lambda p: units.MISSING if p.value("energy_w") is None
          else f"{units.digits_of(p.value('energy_w'))} W")


def cpu_columns(measured):
    """With energy where it was measured."""
    known = any(p.value("energy_w") is not None for p in measured.points)
    return CPU + [ENERGY] * known


def groups(lines):
    """(heading, points) of each load, from the lowest."""
    for load in lines.loads:
        points = [p for poller in lines.pollers
                  if (p := lines.measured.point(lines.arrivals, poller, load))]
        rate = units.rate(lines.measured.offered(lines.arrivals, load))
        name = load_name(load, lines.has_load)
        yield (f"{name} of the maximum: {rate}" if lines.has_load else rate), points
