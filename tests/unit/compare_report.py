# SPDX-License-Identifier: BSD-3-Clause
"""The files of a report: well-formed, self-contained, in order, the same when made again, and made
of whatever was measured."""
import copy
import csv
import io
import itertools
import json
import math
import os
import random
import re
import tempfile
import traceback
import xml.etree.ElementTree

import compare_sample as sample
from compare import report, svg, tables, theme
from compare.measured import Measured
from tap import Tap

FILES = ["report.csv", "report.html", "report.json", "report.txt"]
ORDER = ["Latency over load", "CPU over load", "p99 against CPU", "How many packets take longer",
         "Step response", "Neighbour", "Figures", "How it was measured"]
JUNK = [None, True, 0, -1, 1e308, 5e-324, float("nan"), float("inf"), "", "x" * 500, "12", [], {},
        [None], [1, 2], {"a": 1}, "<b>&\x00", 10 ** 400, [[]], [{}]]
HOSTILE = '<script>alert(1)</script>"\'&\x00\x1b[31m\nnew line\u202e ]]> {x} %s'


def made(data, target=None):
    """The files of a report, by name."""
    with tempfile.TemporaryDirectory() as folder:
        report.write(copy.deepcopy(data), folder, target)
        assert sorted(os.listdir(folder)) == FILES
        return contents(folder)


def contents(folder):
    found = {}
    for name in FILES:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found[name] = file.read()
    return found


def parsed(html):
    """The page as XML, which it also is."""
    return xml.etree.ElementTree.fromstring(html.split("\n", 1)[1])


def headings(page):
    return [e.text for e in page.iter("h2")]


def texts(page):
    return " ".join(" ".join(page.itertext()).split())


def loads_nothing(page, html):
    """What a browser would fetch or run."""
    wrong = [e.tag for e in page.iter() if e.tag.split("}")[-1] in
             ("script", "link", "img", "image", "iframe", "object", "embed", "use", "base")]
    wrong += [f"{k}={v}" for e in page.iter() for k, v in e.attrib.items()
              if k.split("}")[-1] in ("src", "href", "srcset") or k.startswith("on")]
    return wrong + re.findall(r"@import|url\([^)]*\)", html)


def whole(tap):
    data = sample.sample(1, arrivals=("poisson", "burst:32"), loads=[0.01, 0.1, 0.5, 0.9])
    files = made(data)
    tap.ok(sorted(files) == FILES, "four files", sorted(files))
    page = parsed(files["report.html"])
    tap.ok(headings(page) == ORDER, "all parts, in order", headings(page))
    result = texts(page.find(".//p[@class='result']"))
    advice = json.loads(files["report.json"])["advice"]
    tap.ok(result == advice["sentence"] and result in " ".join(files["report.txt"].split()),
           "the sentence of the result leads the page and the text", result)
    tap.ok(texts(page).index(result) < texts(page).index(ORDER[0]), "... before all plots")
    tap.ok(not loads_nothing(page, files["report.html"]), "the page loads nothing and runs nothing",
           loads_nothing(page, files["report.html"]))
    tap.ok("prefers-color-scheme: dark" in files["report.html"]
           and "@media print" in files["report.html"], "styles for dark screens and for paper")
    for poller in sample.POLLERS:
        drawn = [f for f in page.iter("figure") if poller in texts(f)]
        tap.ok(len(drawn) >= 6, f"{poller} is in all pictures", len(drawn))
    for what in data["command"], data["machine"]["cpu"], data["versions"]["commit"]:
        tap.ok(what in texts(page) and what in files["report.txt"], f"the page and the text say "
               f"{what}")
    return data, files


def figures(tap, data, files):
    rows = list(csv.DictReader(io.StringIO(files["report.csv"])))
    measured = [r for r in rows if r["arrivals"] != "none"]
    points = json.loads(files["report.json"])["points"]
    tap.ok(len(measured) == len(points) == len(data["points"]), "CSV has a row for each point",
           (len(measured), len(points)))
    wrong = [(row["poller"], name) for row, point in zip(measured, points)
             for name in ("offered_pps", "p50_ns", "p99_ns", "p999_ns", "max_ns", "cpu_share",
                          "wakeups_ps", "lost")
             if float(row[name]) != point[name]]
    tap.ok(not wrong, "CSV and JSON have the same figures", wrong[:5])
    wrong = [point["poller"] for row, point in zip(measured, points)
             if [float(row["p99_low_ns"]), float(row["p99_high_ns"])] != point["p99_ci_ns"]
             or not point["p99_ci_ns"][0] <= point["p99_ns"] <= point["p99_ci_ns"][1]]
    tap.ok(not wrong, "... and the same intervals, which hold the median", wrong[:5])
    tap.ok(set(rows[0]) == set(tables.columns()) and len(rows) == len(points) + len(data["idle"]),
           "... and a row for each poller without packets")


def remade(tap, data):
    with tempfile.TemporaryDirectory() as folder:
        report.write(copy.deepcopy(data), folder, "p99=60us")
        first = contents(folder)
        again = os.path.join(folder, "again")
        report.remake(os.path.join(folder, "report.json"), again)
        tap.ok(contents(again) == first, "a report remade from its JSON is the same")
        report.remake(os.path.join(folder, "report.json"))
        tap.ok(sorted(os.listdir(folder)) == sorted(FILES + ["again"]),
               "it is written beside its JSON if no directory is given", os.listdir(folder))
        report.remake(os.path.join(folder, "report.json"), again, "cpu=20%")
        advice = json.loads(contents(again)["report.json"])["advice"]
        tap.ok(advice["target"] == "cpu=20%", "another target can be asked for", advice["target"])
        for name, text in ("no.json", None), ("bad.json", "{"), ("list.json", "[1]"), \
                ("other.json", '{"format": 99}'), ("deep.json", "[" * 100000), \
                ("binary.json", "\ud800"):
            path = os.path.join(folder, name)
            if text is not None:
                with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
                    file.write(text)
            try:
                report.remake(path, again)
                tap.ok(False, f"{name} is refused")
            except (ValueError, OSError) as e:
                tap.ok(name in str(e) and "\n" not in str(e), f"{name} is refused in one line", e)


def cut(data, **parts):
    return {**copy.deepcopy(data), **parts}


def without_runs(data):
    data = copy.deepcopy(data)
    for point in data["points"]:
        del point["runs"]
    return data


def partial(tap):
    data = sample.sample(2, ["spin", "adaptive:20us", "block"])
    one = cut(data, points=data["points"][:1], idle=[], steps=[], neighbours=[], complete=False,
              ended_because="interrupted")
    cases = {
        "nothing": {}, "no points": cut(data, points=[]), "one point": one,
        "one load": cut(data, points=data["points"][:3]), "points without runs": without_runs(data),
        "no idle, steps and neighbours": cut(data, idle=None, steps=[], neighbours={}),
        "only steps": {"steps": data["steps"]},
        "points that say nothing": {"points": [{}, {"poller": "spin"}, {"load": 0.5}, None, 3]},
        "a load of 0": cut(data, points=[dict(p, load=0, offered_pps=0) for p in data["points"]]),
        "no loads": cut(data, points=[dict(p, load=None) for p in data["points"]]),
        "no histograms": cut(data, points=[dict(p, histogram=None) for p in data["points"]]),
        "twelve pollers": sample.sample(1, [f"adaptive:{n}us" for n in range(1, 13)], [0.1, 0.5]),
    }
    for name, case in cases.items():
        files = made(case)
        page = parsed(files["report.html"])
        tap.ok(headings(page) == ORDER and sorted(files) == FILES, f"{name}: a report",
               headings(page))
        bad = not_finite(files["report.html"])
        tap.ok(not bad, f"{name}: all coordinates are numbers", bad)
    text = made(one)["report.txt"]
    tap.ok("interrupted" in text and "No poller is advised" in text,
           "what was interrupted says so", text)


def not_finite(html):
    return re.findall(r'[^"]{0,30}\b(?:nan|inf)\b[^"]{0,30}', html)[:3]


def spoil(value, bad):
    """Replaces every figure."""
    if isinstance(value, dict):
        return {k: spoil(v, bad) for k, v in value.items()}
    if isinstance(value, list):
        return [spoil(v, bad) for v in value]
    return bad if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def hostile(tap):
    data = sample.sample(3, ["spin", "block"], [0.1, 0.9])
    for bad in [float("nan"), float("inf"), -1, 0, None, "12", [], {}, True, 1e308, 5e-324,
                10 ** 400]:
        files = made({**spoil(data, bad), "format": 1})
        page = parsed(files["report.html"])
        tap.ok(headings(page) == ORDER and not not_finite(files["report.html"]),
               f"figures that are {str(bad)[:12]} ({type(bad).__name__}): a report",
               not_finite(files["report.html"]))
        json.loads(files["report.json"], parse_constant=lambda c: tap.ok(False, f"{c} in JSON"))
    for point in data["points"]:
        point["poller"] = {"spin": HOSTILE, "block": "block"}[point["poller"]]
        point["arrivals"] = HOSTILE
    data.update(command=HOSTILE, machine={HOSTILE: HOSTILE}, started=HOSTILE, link=[HOSTILE],
                disturbances=[{"at_s": "x", "what": HOSTILE}], ended_because=HOSTILE,
                complete=False)
    files = made(data)
    page = parsed(files["report.html"])
    tap.ok(not loads_nothing(page, files["report.html"]), "names cannot become elements",
           loads_nothing(page, files["report.html"]))
    tap.ok("<script>alert(1)</script>" in texts(page), "... and are shown as they are")
    rows = list(csv.DictReader(io.StringIO(files["report.csv"])))
    tap.ok(sum("alert(1)" in r["poller"] for r in rows) == 2, "... in CSV, too")


def changed(value, rng, share):
    """Some of it is junk, some is missing."""
    if rng.random() < share:
        return copy.deepcopy(rng.choice(JUNK))
    if isinstance(value, dict):
        return {k: changed(v, rng, share) for k, v in value.items() if rng.random() > share / 4}
    if isinstance(value, list):
        return [changed(v, rng, share) for v in value]
    return value


def spoilt_by_chance(tap):
    """Whatever a file has, there is a report, which can be remade; and the next one there, too."""
    data = sample.sample(3, ["spin", "adaptive:20us", "block"], [0.01, 0.5, 0.9])
    with tempfile.TemporaryDirectory() as folder:
        report.write(copy.deepcopy(data), folder)
        whole_report = json.loads(contents(folder)["report.json"])
    for seed in range(int(os.environ.get("HAUL_REPORTS", 10))):
        rng = random.Random(seed)
        spoilt = {k: changed(v, rng, (0.001, 0.01, 0.1)[seed % 3])
                  for k, v in whole_report.items()}
        try:
            with tempfile.TemporaryDirectory() as folder:
                report.write({**spoilt, "format": 1}, folder)
                first = contents(folder)
                report.remake(os.path.join(folder, "report.json"))
                tap.ok(contents(folder) == first
                       and headings(parsed(first["report.html"])) == ORDER,
                       f"spoilt with seed {seed}: a report, the same when remade")
                report.write(copy.deepcopy(data), folder)
        except Exception as e:  # every one is a bug
            tap.ok(False, f"spoilt with seed {seed}", traceback.format_exc() or e)


def in_docs(tap):
    """The sample of the guide."""
    folder = os.path.join(sample.ROOT, "docs", "compare-sample")
    with tempfile.TemporaryDirectory() as out:
        report.remake(os.path.join(folder, "report.json"), out)
        page = parsed(contents(out)["report.html"])
    with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
        shown = parsed(file.read())
    tap.ok(headings(page) == headings(shown) == ORDER, "the sample in docs can be made again")
    tap.ok(texts(page.find(".//p[@class='result']")) == texts(shown.find(".//p[@class='result']")),
           "... with the same result; else run docs/compare-sample/make --remake")


def kept(tap):
    """Errors of the disk leave the earlier file."""
    data = sample.sample(1, ["spin", "block"], [0.5])
    with tempfile.TemporaryDirectory() as folder:
        report.write(copy.deepcopy(data), folder)
        before = contents(folder)
        os.rename(os.path.join(folder, "report.html"), os.path.join(folder, "old"))
        os.mkdir(os.path.join(folder, "report.html"))
        os.rename(os.path.join(folder, "old"), os.path.join(folder, "report.html", "old"))
        try:
            report.write(copy.deepcopy(data), folder)
            tap.ok(False, "a file that cannot be replaced is an error")
        except OSError:
            tap.ok(open(os.path.join(folder, "report.json"), encoding="utf-8").read()
                   == before["report.json"], "what was measured is kept if a file fails")
        tap.ok(not [n for n in os.listdir(folder) if n.startswith(".")], "no drafts are left",
               os.listdir(folder))


def linear(part):
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour):
    r, g, b = (linear(int(colour[n:n + 2], 16) / 255) for n in (1, 3, 5))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


# What readers see who lack one kind of cones (Machado, Oliveira, Fernandes 2009), in linear RGB.
SIGHT = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((.152, 1.053, -.205), (.115, .786, .099), (-.004, -.048, 1.052)),
    "no green": ((.367, .861, -.228), (.280, .673, .047), (-.012, .043, .969)),
    "no blue": ((1.256, -.077, -.179), (-.078, .931, .148), (.005, .691, .304)),
}


def lab(colour, sight):
    """CIE L*a*b* of a colour, as it is seen."""
    parts = [linear(int(colour[n:n + 2], 16) / 255) for n in (1, 3, 5)]
    r, g, b = (max(sum(m * p for m, p in zip(row, parts)), 0) for row in sight)
    white = (.4124 * r + .3576 * g + .1805 * b) / .9505, .2126 * r + .7152 * g + .0722 * b, \
        (.0193 * r + .1192 * g + .9505 * b) / 1.089
    x, y, z = (v ** (1 / 3) if v > .008856 else 7.787 * v + 16 / 116 for v in white)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def colours_apart(tap):
    for dark in 0, 1:
        for name, sight in SIGHT.items():
            seen = [(slot[4], lab(slot[dark], sight)) for slot in theme.SLOTS]
            near = min((math.dist(a, b), p, q)
                       for (p, a), (q, b) in itertools.combinations(seen, 2))
            tap.ok(near[0] >= 15, f"colours of lines differ: cones {name}, "
                   + ("dark" if dark else "light"), near)


def looks(tap):
    for dark, colours in (0, theme.LIGHT), (1, theme.DARK):
        faint = [slot for slot in theme.SLOTS if contrast(slot[dark], colours["page"]) < 3]
        tap.ok(not faint, "lines stand out from the page: contrast of 3 at least", faint)
        tap.ok(contrast(colours["dim"], colours["page"]) >= 4.5, "so does text")
    tap.ok(len({s[3] for s in theme.SLOTS}) == len({s[2] for s in theme.SLOTS})
           == len(theme.SLOTS), "each line has a marker and a dash of its own")
    slots = theme.slots(sample.POLLERS)
    tap.ok(len(set(slots.values())) == len(slots), "no two pollers look alike", slots)
    wanted = [100, 101, 102, 300, 299, 50, 390]
    places = svg.spread(wanted, 40, 400)
    ordered = sorted(places)
    tap.ok(all(b - a >= svg.LINE - 1e-9 for a, b in zip(ordered, ordered[1:]))
           and 40 <= ordered[0] and ordered[-1] <= 400, "labels do not overlap", places)
    tap.ok(sorted(range(7), key=lambda n: wanted[n]) == sorted(range(7), key=lambda n: places[n]),
           "... and keep their order", places)
    for low, high in (1e3, 2.3e3), (1, 1e9), (20, 90), (1e-6, 1):
        ticks = [v for v, labelled in svg.Scale(low, high, 0, 1, True).ticks() if labelled]
        tap.ok(2 <= len(ticks) <= 11, f"a readable axis from {low} to {high}", ticks)


def units_of(tap):
    from compare import units
    cases = [(units.time, 0, "0 ns"), (units.time, 999.6, "1 us"), (units.time, 12345, "12.3 us"),
             (units.time, 2e9, "2 s"), (units.rate, 20000, "20 kpps"), (units.rate, None, "-"),
             (units.percent, 0.0341, "3.41 %"), (units.percent, 0.00012, "0.012 %"),
             (units.count, 1500, "1.5k"), (units.rate, 999999, "1 Mpps")]
    wrong = [(f.__name__, v, f(v), s) for f, v, s in cases if f(v) != s]
    tap.ok(not wrong, "figures have units and three digits", wrong)
    tap.ok(units.times(900, 1100) == "0.9 to 1.1 us", "intervals have one unit",
           units.times(900, 1100))
    tap.ok(Measured({"points": [{"load": 0.1}]}).points[0].poller == "?", "a name may be missing")


def main():
    tap = Tap()
    data, files = whole(tap)
    figures(tap, data, files)
    remade(tap, data)
    for part in partial, hostile, spoilt_by_chance, in_docs, kept, looks, colours_apart, units_of:
        part(tap)
    tap.done()


if __name__ == "__main__":
    main()
