# SPDX-License-Identifier: BSD-3-Clause
"""The report that was in the directory before: where the new runs do not contradict its advice, the
advice stays, so that noise does not change it from day to day."""
from .measured import Measured, dicts, entry, word
from .units import finite

SAME = ("machine", "link", "work")
TRUSTED = 0.2  # with a larger share of disturbed runs an earlier report is not relied upon


def taken_from(before, data, target):
    """What the new report keeps of the one before, or None if that was about something else."""
    if before.get("started") == data.get("started"):  # written more than once while measuring
        return before.get("earlier")
    advice = entry(before.get("advice"))
    old, new = Measured(before), Measured(data)
    kept, disturbed = old.runs()
    if any(before.get(name) != data.get(name) for name in SAME) or old.pollers() != new.pollers():
        return None
    if not advice.get("option") or advice.get("target") != (target or None):
        return None
    if disturbed > TRUSTED * (kept + disturbed):
        return None
    return {"started": before.get("started"), "option": advice["option"],
            "arrivals": advice.get("arrivals"), "by_load": advice.get("by_load")}


class Earlier:
    """The earlier advice, as the new one asks for it."""

    def __init__(self, data, arrivals):
        kept = entry(entry(data).get("earlier"))
        self.same = kept.get("arrivals") == arrivals
        self.started = word(kept.get("started"))
        self.parts = dicts(kept.get("by_load")) if self.same else []
        self.option = word(kept.get("option")).removeprefix("--poller ") if self.same else None

    def poller(self, rate):
        """What was advised at this rate, or None."""
        for part in self.parts:
            first, last = map(finite, (part.get("from_pps"), part.get("to_pps")))
            if None not in (rate, first, last) and first <= rate <= last * 1.1:
                return word(part.get("poller"))
        return None
