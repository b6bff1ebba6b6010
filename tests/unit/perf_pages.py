# SPDX-License-Identifier: BSD-3-Clause
"""perf/fwd gives the same kind of pages to all programs that it compares, also where huge pages are
few: it counts those that are to be had, shares them, and measures again without if one fails."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile
import types

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TOP, "tests"), os.path.join(TOP, "perf")]
from tap import Tap  # noqa: E402
import forwarders as fwd  # noqa: E402
import machine  # noqa: E402


def load(path):
    """A program without the suffix .py."""
    loader = importlib.machinery.SourceFileLoader("perf_fwd", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("perf_fwd", loader))
    loader.exec_module(module)
    return module


def free(pages, reserved, kb):
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("MemTotal: 8 kB\nHugePages_Total: 9999\n"
                f"HugePages_Free: {pages:8}\nHugePages_Rsvd: {reserved:8}\n"
                f"HugePages_Surp: 0\nHugepagesize: {kb:8} kB\n")
        f.flush()
        return machine.free_hugepages(f.name)


def test_counting(tap):
    for args, megabytes in ((0, 0, 2048), 0), ((600, 0, 2048), 1200), ((600, 90, 2048), 1020), \
            ((600, 600, 2048), 0), ((3, 1, 1048576), 2048), ((1, 0, 64), 0):
        got = free(*args)
        tap.ok(got == megabytes, f"{args[0]} free, {args[1]} of them reserved, {args[2]} KB each: "
               f"{megabytes} MB", got)


def test_sharing(tap):
    for have, share in (0, 0), (255, 0), (256, 128), (700, 350), (1024, 512), (9000, 512):
        got = fwd.huge_megabytes(2, have)
        tap.ok(got == share and 2 * got <= have, f"{have} MB are free: {share} MB for each", got)


def test_commands(tap, perf):
    """The same pages for haul-fwd, testpmd, and the peer."""
    cpus = types.SimpleNamespace(forwarder=[1], peer=0)
    case = next(c for c in perf.CASES if c.name == "fwd/memif/io/1")
    with case.ports.place(case.mode) as place:
        for huge in 0, 300:
            ours = perf.Side("haul-fwd", "burst").command(case, place, cpus, huge)
            theirs = perf.Side("dpdk-testpmd").command(case, place, cpus, huge)
            tap.ok(("--no-huge" in ours, "--no-huge" in theirs) == (not huge, not huge),
                   f"{huge} MB: both sides have huge pages, or neither", f"{ours}\n{theirs}")
            tap.ok(theirs[theirs.index("-m") + 1] == str(huge or fwd.MEMORY_MB),
                   f"{huge} MB: testpmd takes no more than its share", theirs)


def measured(perf, have, fails, no_huge=False):
    """(the megabytes of all tries, the result, what was said) if huge pages fail or do not."""
    tries = []

    def rates(_case, _sides, _options, huge):
        tries.append(huge)
        if huge and fails:
            raise fwd.Failed("dpdk-testpmd: ended: Cannot allocate memory")
        return huge

    perf.measure_rates = rates
    machine.free_hugepages = lambda: have
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        found = perf.measure(types.SimpleNamespace(name="memif"), [],
                             types.SimpleNamespace(instructions=False, no_huge=no_huge))
    return tries, found, said.getvalue()


def test_choosing(tap, perf):
    tap.ok(measured(perf, 0, True)[:2] == ([0], 0), "no huge pages: none are tried")
    tap.ok(measured(perf, 255, True)[:2] == ([0], 0), "too few: none are tried")
    tap.ok(measured(perf, 600, False, True)[:2] == ([0], 0), "--no-huge: none are tried")
    tap.ok(measured(perf, 600, False) == ([300], 300, ""), "a few: each gets half")
    tries, found, said = measured(perf, 600, True)
    tap.ok((tries, found) == ([300, 0], 0) and "Cannot allocate memory" in said and
           "again without huge pages" in said,
           "a program does not get them: all is measured again without", said)


def test_sides(tap, perf):
    """Bytes are counted beside the same work only in modes that read packets; a pool laid out as
    testpmd's is another one only without huge pages."""
    for name, instructions, huge, wanted in (
            ("null/macswap", False, 300, "SB"), ("null/macswap", False, 0, "SBN"),
            ("null/macswap", True, 0, "SB"), ("null/io", False, 0, "SN"),
            ("null/io", True, 0, "S"), ("afxdp/mac", False, 0, "SB")):
        case = next(c for c in perf.CASES if c.name == f"fwd/{name}/1")
        got = "".join(letter for letter, variant in
                      (("S", perf.SAME), ("B", perf.BYTES), ("N", perf.NATIVE))
                      if perf.Side("haul-fwd", "burst", variant).differs(case, instructions, huge))
        tap.ok(got == wanted, f"{name}: {'instructions' if instructions else huge}: {wanted}", got)


def test_refusal(tap):
    """haul-fwd goes on in ordinary pages, where testpmd has huge ones."""
    program = types.SimpleNamespace(lines=[
        "haul-fwd: 90 MB of huge pages are needed, but fewer are free: packets are in ordinary "
        "pages", "1.0 s"])
    program.wait_for = lambda condition, seconds: condition(program.lines)
    try:
        fwd.wait_until_up(program)
        tap.ok(False, "haul-fwd without the huge pages of the other side is not measured")
    except fwd.Failed as error:
        tap.ok("ordinary pages" in str(error),
               "haul-fwd without the huge pages of the other side is not measured", error)


def main():
    tap = Tap()
    perf = load(os.path.join(TOP, "perf", "fwd"))
    test_counting(tap)
    test_sharing(tap)
    test_commands(tap, perf)
    test_sides(tap, perf)
    test_refusal(tap)
    test_choosing(tap, perf)
    tap.done()


main()
