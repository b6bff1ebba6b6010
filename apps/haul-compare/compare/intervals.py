# SPDX-License-Identifier: BSD-3-Clause
"""Bootstrap intervals at 95 % over runs.

The runs are drawn again, with replacement, and the interval holds the middle 95 % of the medians.
Nothing is drawn by chance: for a median, the probability of each outcome of the drawing is known.
So the same runs always have the same interval.
"""
import functools
import math
import statistics

OUTSIDE = 0.025  # on either side
# Between the lowest and the highest of five runs is the true median in 94 of 100 cases; fewer runs
# support no interval at 95 %.
FEWEST = 5


@functools.cache
def _ranks(n):
    """[(lower, upper, probability), ...]: which two of n sorted values are in the middle of n that
    are drawn from them; the same one twice if n is odd."""
    if n % 2:
        # The median is at most the i-th value if more than half of the draws are.
        below = [sum(math.comb(n, k) * (i / n) ** k * (1 - i / n) ** (n - k)
                     for k in range(n // 2 + 1, n + 1)) for i in range(n + 1)]
        return [(i, i, below[i + 1] - below[i]) for i in range(n)]
    half = n // 2

    def at_least_one_more(i):
        """Half of the draws are among i + 1 values, and one of them is the last of these."""
        return ((i + 1) / n) ** half - (i / n) ** half

    found = [(i, j, math.comb(n, half) * at_least_one_more(i) * at_least_one_more(n - 1 - j))
             for i in range(n) for j in range(i + 1, n)]
    for i in range(n):  # both are the i-th: what is left of the chance that the lower one is
        lower = [sum(math.comb(n, k) * (m / n) ** k * (1 - m / n) ** (n - k)
                     for k in range(half, n + 1)) for m in (i, i + 1)]
        rest = sum(p for a, _, p in found if a == i)
        found.append((i, i, max(lower[1] - lower[0] - rest, 0.0)))
    return found


def _medians(values):
    """[(median, probability), ...] of the runs drawn again."""
    ordered = sorted(values)
    return [((ordered[i] + ordered[j]) / 2, p) for i, j, p in _ranks(len(ordered))]


def _bounds(outcomes):
    """The ends of the middle 95 %."""
    def end(ordered):
        reached = 0.0
        for value, probability in ordered:
            reached += probability
            if reached >= OUTSIDE:
                return value
        return ordered[-1][0]

    outcomes = sorted(outcomes)
    return end(outcomes), end(outcomes[::-1])


def median_ci(values):
    """(median, low, high) of a list of numbers; low and high are None if there are too few,
    everything is None if there are none."""
    if not values:
        return None, None, None
    median = statistics.median(values)
    if len(values) < FEWEST:
        return median, None, None
    return median, *_bounds(_medians(values))


def ratio_ci(ours, theirs):
    """(ratio, low, high) of the medians of two lists of positive numbers, drawn independently;
    None as in median_ci()."""
    if not ours or not theirs or min(theirs) <= 0:
        return None, None, None
    ratio = statistics.median(ours) / statistics.median(theirs)
    if min(len(ours), len(theirs)) < FEWEST:
        return ratio, None, None
    return ratio, *_bounds([(a / b, p * q) for a, p in _medians(ours)
                            for b, q in _medians(theirs)])
