# SPDX-License-Identifier: BSD-3-Clause
"""The four files of a report, from what was measured; and again from its report.json."""
import json
import math
import os

from . import choice, page, tables, text, textfile
from .advice import advise
from .earlier import taken_from
from .measured import INTERVALS, Measured, entry

FORMAT = 1


def _finite(value):
    """Without numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value


def _line(value):
    return json.dumps(value, allow_nan=False)


def _json(data):
    """A line for each entry of the report, and for each of its points: for grep and diff."""
    entries = []
    for name, value in _finite(data).items():
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(map(_line, value)) + "]"
        else:
            text = _line(value)
        entries.append(f" {_line(name)}: {text}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _with_intervals(measured):
    """Intervals that only the runs tell, written down."""
    for point in measured.points:
        for name, key in INTERVALS.items():
            if point.raw.get(key) is None and point.interval(name):
                point.raw[key] = list(point.interval(name))


def _earlier(path, data, target):
    """What to keep of the report that is there, if it is one."""
    try:
        return taken_from(read(path), data, target)
    except (OSError, ValueError):
        return None


def _recorded(target):
    """The target that the file has, if it can be read."""
    try:
        choice.parse(target)
        return target
    except ValueError:
        return None


def write(data, directory, target=None, anew=False):
    """Writes report.json, report.csv, report.txt and report.html; returns the advice. OSError if a
    file cannot be written: report.json, with all that was measured, is written first. ValueError if
    the target cannot be read. anew: nothing was measured, so an earlier report has no say."""
    target = target or _recorded(entry(data.get("advice")).get("target"))
    goal = choice.parse(target)
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "report.json")
    if not anew:
        data = {**data, "earlier": _earlier(path, data, target)}
    if not data.get("advice"):
        textfile.replace(path, _json(data))  # whatever happens to the advice
    # Out of the file as it will be read again, so that a report remade from it is the same.
    data = json.loads(_json({**data, "format": FORMAT}))
    measured = Measured(data)
    _with_intervals(measured)
    data["advice"] = advice = advise(data, target)
    textfile.replace(path, _json(data))
    for name, content in [("report.csv", tables.as_csv(measured)),
                          ("report.txt", text.as_text(measured, advice)),
                          ("report.html", page.as_html(measured, advice,
                                                       (goal.name, goal.limit)))]:
        textfile.replace(os.path.join(directory, name), content)
    return advice


def read(path):
    """What report.json holds; ValueError, in one line, if it is no report."""
    try:
        data = json.loads(textfile.read(path))
    except (ValueError, RecursionError) as e:
        raise ValueError(f"{path}: not a report: {e}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{path}: not a report of haul-compare in format {FORMAT}")
    return data


def remake(path, directory=None, target=None):
    """Draws a report anew from its report.json, beside it unless a directory is given."""
    return write(read(path), directory or os.path.dirname(os.path.abspath(path)), target,
                 anew=True)
