# SPDX-License-Identifier: BSD-3-Clause
"""The highest rate without loss, by doubling and then halving the interval (as RFC 2544, with short
trials, so one packet in a thousand may be lost)."""
import time

LOSS_SHARE = 0.001
FIRST, LEAST, MOST = 20e3, 50.0, 50e6
HALVINGS = 5
TRIES = 2  # one good trial of these: a busy moment of the machine is no limit of the link
TRIES_DISTURBED = 4  # as many if the machine disturbed one that failed


def fails(side, poller, pps, arrivals, seconds):
    """None if a rate passes, or who lost packets."""
    tries = 0
    while tries < TRIES:
        run = side.run(poller, pps, arrivals, seconds)
        due = max(run["sent"] + run["lost_by"]["generator"], 1)
        if run["received"] and run["lost"] <= LOSS_SHARE * due:
            return None
        tries += TRIES / TRIES_DISTURBED if run["disturbed"] else 1
    return max(run["lost_by"], key=run["lost_by"].get)


def find(side, poller, arrivals, seconds, tell, end=float("inf")):
    """Returns the object of the report; pps is None if even the slowest rate loses packets. end: on
    time.monotonic()'s clock; after that it looks no closer."""
    def trial(pps):
        lost_by = fails(side, poller, pps, arrivals, seconds)
        tell(f"highest rate without loss: {pps:,.0f} packets/s " +
             (f"lost by the {lost_by}" if lost_by else "pass"))
        return lost_by

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
                   "in a thousand lost" + (f"; beyond, by the {lost_by}" if lost_by else "")}
