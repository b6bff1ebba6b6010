# SPDX-License-Identifier: BSD-3-Clause
"""The answer to a step of the load: none, half of the maximum (PPS_MOST at most), none."""
from .generator import NEVER

BIN_MS = 5
QUIET, LOADED = 0.1, 0.25  # seconds
PPS_MOST = 400e3  # of more packets, the latencies of each would take too long to read


def phases(pps):
    return f"0/{QUIET}s,{pps:.3f}/{LOADED}s,{NEVER}"


def seconds():
    return 2 * QUIET + LOADED


def percentile(ordered, share):
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def course(poller, pps, measured):
    """Percentiles of the packets of all undisturbed runs, or of all if there are none, that were
    due in each interval of time."""
    runs = [rows for rows, disturbed in measured if not disturbed] or [r for r, _ in measured]
    bins = [[] for _ in range(round(seconds() * 1e3 / BIN_MS))]
    for rows in runs:
        for intended, latency in rows:
            at = intended // (BIN_MS * 1000000)
            if 0 <= at < len(bins):
                bins[at].append(latency)
    for found in bins:
        found.sort()
    return {"poller": poller, "step_pps": pps,
            "disturbed": sum(bool(disturbed) for _, disturbed in measured),
            "at_ms": [i * BIN_MS for i in range(len(bins))],
            "offered_pps": [len(b) / len(runs) / BIN_MS * 1e3 for b in bins],
            "p50_ns": [percentile(b, 0.5) if b else None for b in bins],
            "p99_ns": [percentile(b, 0.99) if b else None for b in bins]}


def run(side, poller, pps, arrivals):
    """(intended time and latency of each packet of one step, what disturbed it or None)"""
    side.generator.keep_samples(int(pps * LOADED) + 1000)
    try:
        found = side.run(poller, phases(pps), arrivals, seconds())
        return side.generator.samples(), found["disturbed"]
    finally:
        side.generator.keep_samples(0)
