# SPDX-License-Identifier: BSD-3-Clause
"""haul-compare's command line: wrong arguments and foreign files are one line each. In this
process, since starting the program takes longer than all that it does here."""
import contextlib
import io
import json
import os
import sys
import tempfile

import compare_sample as sample
from compare import main
from tap import Tap

WRONG = (
    (["--frobnicate"], "--frobnicate"), (["x"], "x: "), (["--minutes", "x"], "--minutes x"),
    (["--minutes"], "--minutes"), (["--minutes", "0"], "--minutes 0"),
    (["--pollers", "spin,twirl"], "twirl"), (["--loads", "0%"], "--loads 0%"),
    (["--loads", ""], "--loads"), (["--arrivals", "sometimes"], "sometimes"),
    (["--link", "string"], "--link string"), (["--port", "tap:t0"], "twice"),
    (["--port", "a:", "--port", "b:", "--link", "tap"], "--link"), (["--cpus", "0"], "--cpus 0"),
    (["--runs", "0"], "--runs 0"), (["--target", "p99"], "--target p99"),
    (["--target", "cpu=200%"], "--target cpu=200%: a poller has one CPU"),
    (["--load", "x", "--flows", "3"], "--load"), (["--remake", "x", "--minutes", "1"], "--remake"))


def run(*args):
    """Exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["haul-compare", *args]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main.main("0", [])
    return code, out.getvalue(), err.getvalue()


def wrong_arguments(tap):
    for args, words in WRONG:
        code, out, err = run(*args)
        tap.ok(code == 2 and err.startswith("haul-compare: ") and words in err and
               err.count("\n") == 1 and not out, f"wrong: {' '.join(args)}", f"{code}\n{out}{err}")
    for odd in "9000\n", "\r", "\x1b[31m", "\udcc8", "a" * 5000:
        code, out, err = run("--arrivals", odd)
        tap.ok(code == 2 and err.startswith("haul-compare: --arrivals ") and err.isascii() and
               err[:-1].isprintable() and len(err) < 1500 and not out,
               f"--arrivals {ascii(odd)[:20]}: one plain line", ascii(f"{code} {out}{err}")[:200])


def foreign_files(tap, d):
    good = sample.sample(1)

    def write(name, text):
        with open(f"{d}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
        return f"{d}/{name}"
    code, out, err = run("--remake", write("good", json.dumps(good)), "--out", f"{d}/again")
    tap.ok(code == 0 and out and os.path.exists(f"{d}/again/report.html"), "--remake", err)
    for name, text in (
            ("empty", ""), ("text", "hello"), ("array", "[1]"), ("number", "3"), ("object", "{}"),
            ("deep", "[" * 100000), ("cut", json.dumps(good)[:2000]),
            ("format", json.dumps({**good, "format": 99}))):
        code, out, err = run("--remake", write(name, text), "--out", f"{d}/again")
        tap.ok(code in (1, 2) and err.count("\n") == 1 and not out,
               f"--remake of a foreign file: {name}", f"{code}\n{out}{err}"[-1500:])
    for name, change in (("machine", 7), ("points", 7), ("points", [{"poller": 3}]), ("idle", {})):
        path = write("odd", json.dumps({**good, name: change}))
        code, out, err = run("--remake", path, "--out", f"{d}/again")
        tap.ok((code == 0) == bool(out) and err.count("\n") == (code != 0),
               f"--remake with odd {name}", f"{code}\n{out}{err}"[-1500:])
    for path in f"{d}/nowhere", d:
        code, _, err = run("--remake", path, "--out", f"{d}/again")
        tap.ok(code in (1, 2) and err.count("\n") == 1 and path in err, "--remake without a file",
               err)


def test():
    tap = Tap()
    with tempfile.TemporaryDirectory() as d:
        wrong_arguments(tap)
        foreign_files(tap, d)
    tap.done()


test()
