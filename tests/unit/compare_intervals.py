# SPDX-License-Identifier: BSD-3-Clause
"""Bootstrap intervals over runs: where they lie, how often they hold the true median, and that they
are what drawing runs by chance gives."""
import random
import statistics

import compare_sample as sample
from compare.intervals import median_ci, ratio_ci
from tap import Tap


def held(draw, true, count=400):
    """How often the interval of nine runs holds the true median."""
    rng = random.Random(7)
    found = 0
    for _ in range(count):
        _, low, high = median_ci([draw(rng) for _ in range(9)])
        found += low <= true <= high
    return found / count


def drawn(statistic, *lists, times=20000):
    """The interval of a bootstrap that draws by chance."""
    rng = random.Random(11)
    found = sorted(statistic(*(rng.choices(v, k=len(v)) for v in lists)) for _ in range(times))
    return found[round(times * 0.025)], found[round(times * 0.975)]


def near(one, other, values):
    """At most one step of the sorted outcomes apart."""
    outcomes = sorted(set(values))
    return sum(min(one, other) < v < max(one, other) for v in outcomes) <= 1


def by_chance(tap):
    rng = random.Random(5)
    for n in 5, 6, 8, 9, 14, 15, 30:
        values = [rng.lognormvariate(0, 1) for _ in range(n)]
        _, low, high = median_ci(values)
        chance = drawn(statistics.median, values)
        between = [(a + b) / 2 for a in values for b in values] if n % 2 == 0 else values
        tap.ok(all(near(a, b, between) for a, b in zip(chance, (low, high))),
               f"{n} runs: the interval of drawing by chance", (chance, low, high))
    ours, theirs = ([rng.lognormvariate(m, 0.3) for _ in range(9)] for m in (1, 0))
    _, low, high = ratio_ci(ours, theirs)
    chance = drawn(lambda a, b: statistics.median(a) / statistics.median(b), ours, theirs)
    tap.ok(all(abs(a / b - 1) < 0.1 for a, b in zip(chance, (low, high))),
           "so has a ratio", (chance, low, high))


def main():
    tap = Tap()
    nine = [10, 11, 12, 13, 14, 15, 16, 17, 100]
    median, low, high = median_ci(nine)
    tap.ok(median == 14, "the median of nine runs", median)
    tap.ok(11 <= low <= 12 and 16 <= high <= 17, "one bad run is outside of the interval",
           (low, high))
    shuffled = random.Random(1).sample(nine, 9)
    tap.ok(median_ci(shuffled) == median_ci(nine), "the order of runs does not matter")
    tap.ok(median_ci([]) == (None, None, None), "no run, no figure")
    tap.ok(median_ci([3, 4, 5, 6]) == (4.5, None, None), "four runs support no interval")
    tap.ok(median_ci([7] * 9) == (7, 7, 7), "equal runs have an interval of no width")
    # The exact chance for nine runs is 0.96 between the second and the eighth.
    share = held(lambda rng: rng.lognormvariate(0, 1), 1.0)
    tap.ok(0.90 <= share <= 0.99, "skewed runs: about 95 of 100 intervals hold the true median",
           share)
    ratio, low, high = ratio_ci([2 * v for v in nine], nine)
    tap.ok(ratio == 2 and low < 2 < high, "the interval of a ratio holds it", (ratio, low, high))
    tap.ok(ratio_ci(nine, [0] * 9) == (None, None, None), "no ratio to nothing")
    tap.ok(ratio_ci(nine, nine[:3])[1:] == (None, None), "few runs support no interval")
    by_chance(tap)
    tap.ok(sample.sample(3) == sample.sample(3), "made-up runs are the same each time")
    tap.done()


if __name__ == "__main__":
    main()
