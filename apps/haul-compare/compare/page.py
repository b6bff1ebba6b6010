# SPDX-License-Identifier: BSD-3-Clause
"""report.html: one file, which loads nothing and needs no script."""
import re

from . import plots, shapes, tables, theme, units
from .measured import Measured, word
from .svg import clean

NAMES = {"cpu": "CPU", "cpus": "CPUs", "smt": "SMT", "memory_mb": "memory (MB)",
         "virtual": "virtual machine", "haul": "haul", "dpdk": "DPDK", "commit": "commit"}
HOW_TO_READ = {
    "latency": "Lower is better. Bars are 95 % intervals over runs; a hollow marker has fewer than "
               "five undisturbed runs, or lost more than 0.1 % of its packets (latencies are of "
               "packets that arrived).",
    "cpu": "Time of the measured program's threads on a CPU. At the left, the share that it takes "
           "while there are no packets.",
    "deciding": "Best is at the lower left. A line connects the loads of a poller; a larger marker "
                "is a higher load. Where a line is nearly vertical, latency changes and CPU does "
                "not; where it is nearly horizontal, the reverse.",
    "ccdf": "At 1 % is the p99: one packet of a hundred takes longer. Markers are p90, p99 and "
            "p99.9. A line ends at the slowest packet.",
    "steps": "The load steps from nothing to half of the maximum and back (shaded). Strong: p99, "
             "thin: p50 of the packets due in each interval. A peak at the step is the time that a "
             "poller needs to wake up.",
    "neighbour": "How much less another program gets done while the poller runs beside it. Ticks "
                 "are runs; a hollow marker has too few of them for an interval.",
}


def _figure(drawing, caption):
    return f"<figure>{drawing.svg()}<figcaption>{clean(caption)}</figcaption></figure>"


def _list(items):
    return "<ul>" + "".join(f"<li>{clean(i)}</li>" for i in items) + "</ul>" if items else ""


def _facts(pairs):
    rows = "".join(f"<dt>{clean(NAMES.get(k, k))}</dt><dd>{clean(word(v, '-', 1000))}</dd>"
                   for k, v in pairs if v is not None and not isinstance(v, (dict, list)))
    return f"<dl>{rows}</dl>" if rows else "<p>Not recorded.</p>"


def _advised(advice):
    """The advice by load, as a table."""
    if not advice["by_load"]:
        return ""
    head = "".join(f'<th class="name">{h}</th>' for h in
                   ("load", "option", "CPU", "p99", "not told apart from"))
    rows = ""
    for part in advice["by_load"]:
        first, last = units.rate(part["from_pps"]), units.rate(part["to_pps"])
        cells = [f"{first} to {last}" if part["from_pps"] else f"up to {last}", None,
                 units.percents(*part["cpu_range"]), units.times(*part["p99_range_ns"]),
                 ", ".join(part["not_told_apart"]) or ("undecided" if part["undecided"] else "")]
        option = f"<code>{clean(part['option'])}</code>"
        rows += "<tr>" + "".join(
            f'<td class="name">{option if c is None else clean(c)}</td>' for c in cells) + "</tr>"
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>{rows}</table></div>'


def _options_marked(sentence):
    return re.sub(r"--poller [\w:.-]+", r"<code>\g<0></code>", clean(sentence))


def _result(measured, advice):
    started = measured.text("started")
    parts = [f"<h1>haul-compare{' · ' + clean(started) if started else ''}</h1>",
             f'<p class="result">{_options_marked(advice["sentence"])}</p>']
    parts += [f'<p class="warn">{clean(warning)}</p>' for warning in advice["warnings"]]
    parts.append('<div class="box">')
    if advice["option"]:
        parts.append(f"<pre>{clean(advice['option'])}</pre>")
    parts += [_advised(advice), _list(advice["lines"]), "</div>"]
    return "".join(parts)


def _chosen(lines, advice):
    """The advised poller at each load."""
    chosen = {}
    for part in advice["by_load"] if advice["arrivals"] == lines.arrivals else []:
        for load in lines.loads:
            rate = lines.measured.offered(lines.arrivals, load)
            if rate and part["from_pps"] <= rate <= (part["to_pps"] or rate):
                chosen.setdefault(load, part["poller"])
    return chosen


def _plots(measured, advice, limit):
    lines = plots.Lines(measured, (measured.arrivals() or [""])[0], limit)
    others = [plots.Lines(measured, a, limit) for a in measured.arrivals()[1:]]
    yield "Latency over load", _figure(plots.latency(lines), HOW_TO_READ["latency"]), [
        (o.arrivals, _figure(plots.latency(o), "")) for o in others]
    yield "CPU over load", _figure(plots.cpu(lines), HOW_TO_READ["cpu"]), []
    yield ("p99 against CPU", _figure(plots.deciding(lines, _chosen(lines, advice)),
                                      HOW_TO_READ["deciding"]),
           [(o.arrivals, _figure(plots.deciding(o, _chosen(o, advice)), "")) for o in others])
    yield "How many packets take longer", _figure(shapes.ccdf(lines), HOW_TO_READ["ccdf"]), []
    yield "Step response", _figure(shapes.steps(measured), HOW_TO_READ["steps"]), []
    yield "Neighbour", _figure(shapes.neighbours(measured), HOW_TO_READ["neighbour"]), []


def _table(lines, columns):
    head = '<th class="name">poller</th>' + "".join(f"<th>{clean(h)}</th>" for h, _ in columns)
    rows = ""
    for heading, points in tables.groups(lines):
        rows += (f'<tbody><tr class="group"><th colspan="{len(columns) + 1}">{clean(heading)}'
                 "</th></tr>")
        for point in points:
            rows += f'<tr><td class="name">{clean(point.poller)}</td>' + "".join(
                f"<td>{clean(cell(point))}</td>" for _, cell in columns) + "</tr>"
        rows += "</tbody>"
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>{rows}</table></div>'


def _tables(measured):
    parts = ["<h2>Figures</h2>"]
    for arrivals in measured.arrivals():
        lines = plots.Lines(measured, arrivals)
        parts += [f"<h3>Latency and loss, {clean(arrivals)} arrivals</h3>",
                  _table(lines, tables.LATENCIES),
                  f"<h3>CPU, {clean(arrivals)} arrivals</h3>",
                  _table(lines, tables.cpu_columns(measured))]
    if not measured.points:
        parts.append("<p>Nothing was measured.</p>")
    return "".join(parts)


def _about(measured):
    maximum = measured.about("maximum")
    link, work = measured.about("link"), measured.about("work")
    text = ["A generator sends packets at times that nothing slows down; the measured program "
            "returns each; latency counts from the time at which a packet should have been sent.",
            "The pollers take turns, run by run. A figure is the median over runs, an interval is "
            "a bootstrap at 95 % over them. A run that something else on the machine disturbed "
            "does not count, and is made again where there is time; a point of which all runs were "
            "disturbed shows those, hollow, and has no say in the advice."]
    if maximum.get("pps") is not None:
        text.append(f"Loads are shares of {units.rate(units.finite(maximum['pps']))}, the maximum "
                    f"without loss of {word(maximum.get('poller'))} "
                    f"({word(maximum.get('how'), 'found by this program')}).")
    disturbances = [f"{what} ({often} times such; the first after {units.time(at * 1e9)})"
                    for what, often, at in measured.disturbed_by()]
    notes = [word(n, longest=1000) for n in measured.notes]
    seconds = units.finite(measured.data.get("seconds"))
    whole = [("started", measured.data.get("started")),
             ("took", None if seconds is None else units.time(seconds * 1e9))]
    return "".join([
        "<h2>How it was measured</h2>", *(f"<p>{clean(t)}</p>" for t in text),
        "<h3>Command</h3>", f"<pre>{clean(measured.text('command', '?'))}</pre>",
        _facts(whole), "<h3>Link and work</h3>", _facts([*link.items(), *work.items()]),
        "<h3>Machine</h3>", _facts(measured.about("machine").items()),
        "<h3>Versions</h3>", _facts(measured.about("versions").items()),
        "<h3>What the figures are</h3>" + _facts(measured.about("how").items())
        if measured.about("how") else "",
        "<h3>Notes</h3>" + _list(notes) if notes else "",
        "<h3>Disturbances</h3>" + _list(disturbances) if disturbances else ""])


def as_html(measured, advice, limit=(None, None)):
    body = [_result(measured, advice)]
    for heading, figure, more in _plots(measured, advice, limit):
        body.append(f"<section><h2>{clean(heading)}</h2>{figure}")
        body += [f"<h3>{clean(name)} arrivals</h3>{other}" for name, other in more]
        body.append("</section>")
    body += [_tables(measured), _about(measured)]
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
            f"<title>haul-compare: {clean(advice['option'] or 'report')}</title>"
            f"<style>{theme.page_css()}</style></head>\n<body>\n" + "\n".join(body)
            + "\n</body></html>\n")


def deciding_picture(data):
    """p99 against CPU as a file of its own, from what report.json holds."""
    measured = Measured(data)
    lines = plots.Lines(measured, (measured.arrivals() or [""])[0])
    return plots.deciding(lines, _chosen(lines, data["advice"])).svg(theme.picture_css()) + "\n"
