# SPDX-License-Identifier: BSD-3-Clause
"""The highest rate without loss, by doubling and then halving the interval (as RFC 2544, with short
trials, so one packet in a thousand may be lost)."""
import time

LOSS_SHARE = 0.001
FIRST, LEAST, MOST = 20e3, 50.0, 50e6
HALVINGS = 5
# Without loss, packets still pile up if the link takes more than its other end: a longer trial
# would lose some. Then the median latency is above this, and many times that of a slow rate.
PILED_NS, PILED_TIMES = 500e3, 10
TRIES = 2  # one good trial of these: a busy moment of the machine is no limit of the link
TRIES_DISTURBED = 4  # as many if the machine disturbed one that failed


class Limit(Exception):
    """A rate does not pass: who lost packets, or did not keep up."""


def attempt(side, poller, pps, arrivals, seconds, usual_ns):
    """The median latency at a rate that passes, or Limit. usual_ns: that of a slow rate, or
    None."""
    tries = 0
    while tries < TRIES:
        run = side.run(poller, pps, arrivals, seconds)
        due = max(run["sent"] + run["lost_by"]["generator"], 1)
        lost = not run["received"] or run["lost"] > LOSS_SHARE * due
        if not lost and (not usual_ns or
                         run["p50_ns"] <= max(PILED_NS, PILED_TIMES * usual_ns)):
            return run["p50_ns"]
        tries += TRIES / TRIES_DISTURBED if run["disturbed"] else 1
    raise Limit(max(run["lost_by"], key=run["lost_by"].get) if lost else "subject")


def find(side, poller, arrivals, seconds, tell, end=float("inf")):
    """Returns the object of the report; pps is None if even the slowest rate loses packets. end: on
    time.monotonic()'s clock; after that it looks no closer."""
    usual_ns = None

    def trial(pps):
        """None, or who is the limit."""
        nonlocal usual_ns
        try:
            median = attempt(side, poller, pps, arrivals, seconds, usual_ns)
            usual_ns = median if usual_ns is None else min(usual_ns, median)
            limit = None
        except Limit as e:
            limit = str(e)
        tell(f"highest rate without loss: {pps:,.0f} packets/s " +
             (f"are too many for the {limit}" if limit else "pass"))
        return limit

    good, bad, lost_by = None, None, None
    pps = FIRST
    while bad is None and pps <= MOST:
        lost_by = trial(pps)
        if lost_by:
            bad = pps
        else:
            good, pps = pps, pps * 2
    while good is None and bad > LEAST:
        reason = trial(bad / 4)
        if reason:
            bad, lost_by = bad / 4, reason
        else:
            good = bad / 4
    if good is None:
        return {"pps": None, "poller": poller, "how": "packets are lost at any rate"}
    for _ in range(HALVINGS if bad else 0):
        if time.monotonic() > end:
            break
        middle = (good * bad) ** 0.5
        reason = trial(middle)
        if reason:
            bad, lost_by = middle, reason
        else:
            good = middle
    return {"pps": round(good), "poller": poller, "limited_by": lost_by,
            "how": f"halving, trials of {seconds:g} s with arrivals {arrivals}, at most one packet "
                   "in a thousand lost, and none pile up" +
                   (f"; beyond, the {lost_by} is the limit" if lost_by else "")}
