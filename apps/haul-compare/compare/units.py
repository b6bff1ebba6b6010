# SPDX-License-Identifier: BSD-3-Clause
"""Figures for people: three significant digits, and the unit that makes them short."""
import math
import re

MISSING = "-"
TIMES = [(1, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")]
RATES = [(1, "pps"), (1e3, "kpps"), (1e6, "Mpps"), (1e9, "Gpps")]
COUNTS = [(1, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")]


LARGEST, SMALLEST = 1e18, 1e-15  # what is beyond was not measured


def finite(value):
    """A float, or None for whatever is no number of a measurement."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    if not abs(value) <= LARGEST:
        return None
    return value if abs(value) >= SMALLEST else 0.0


def rounded(value, digits=3):
    if not value:
        return 0.0
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def digits_of(value, digits=3):
    """Without an exponent, and without trailing zeros."""
    value = rounded(value, digits)
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:.9f}".rstrip("0").rstrip(".") or "0"


def step_of(value, steps):
    """The largest unit of which the value is at least one."""
    value = abs(rounded(value))
    return max((s for s in steps if s[0] <= value), default=steps[0])


def scaled(value, steps):
    if value is None:
        return MISSING
    factor, unit = step_of(value, steps)
    return f"{digits_of(value / factor)} {unit}".rstrip()


def time(ns):
    return scaled(ns, TIMES)


def rate(pps):
    return scaled(pps, RATES)


def count(number):
    return scaled(number, COUNTS).replace(" ", "")


def percent(share):
    return MISSING if share is None else f"{digits_of(share * 100)} %"


def interval(low, high, steps):
    """Both ends in the unit of the higher one: "12 to 15 us"; one figure if they look the same."""
    if low is None or high is None:
        return MISSING
    factor, unit = step_of(high, steps)
    first, last = digits_of(low / factor), digits_of(high / factor)
    return f"{last} {unit}" if first == last else f"{first} to {last} {unit}"


def times(low, high):
    return interval(low, high, TIMES)


def percents(low, high):
    if low is None or high is None:
        return MISSING
    first, last = digits_of(low * 100), digits_of(high * 100)
    return f"{last} %" if first == last else f"{first} to {last} %"


def duration(text):
    """Nanoseconds of "100us", "1.5ms"; ValueError if it is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s)", text.strip())
    if not found:
        raise ValueError(text)
    return float(found[1]) * {unit: factor for factor, unit in TIMES}[found[2]]
