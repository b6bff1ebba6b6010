# SPDX-License-Identifier: BSD-3-Clause
"""The load that haul-fwd --record-load has recorded, and how haul-fwd's generator repeats it.

The file has counts of packets in intervals of 0.1 s or longer, and for windows of 10 us to 10 ms
the sum of the squares of their counts. From these follows the index of dispersion, variance / mean:
of N packets at once and a short window it is N, of a Poisson process 1, of even gaps it approaches
0.
"""
import json

from . import textfile

FRAME_MIN, FRAME_MAX = 60, 1518  # of the generator, as the next two
SIZES_MAX, FLOWS_MAX = 16, 64512
PHASES_MAX = 4096
# Windows of more packets show changes of the rate rather than bursts.
WINDOW_PACKETS_MAX = 50
WINDOW_PACKETS_MIN = 2  # with fewer, even gaps look like a Poisson process
BURST_MIN = 2


class LoadError(ValueError):
    """One line that says what is wrong with the file."""


def weighted_median(pairs):
    """The value at half of the weight, of (value, weight)."""
    pairs = sorted(pairs)
    half, weight = sum(w for _, w in pairs) / 2, 0
    for value, w in pairs:
        weight += w
        if weight >= half:
            return value
    return 0


class Load:
    def __init__(self, record):
        self.interval = float(record["interval_seconds"])
        packets = [int(n) for n in record["packets"]]
        busy = [i for i, n in enumerate(packets) if n > 0]
        if not busy or self.interval <= 0:
            raise LoadError("it has no packets")
        # Before its first and after its last packet there was no load yet, or no more.
        kept = slice(busy[0], busy[-1] + 1)
        self.packets = packets[kept]
        self.windows = [(float(w["seconds"]), [int(n) for n in w["squares"]][kept])
                        for w in record["windows"]]
        self.sizes = sorted((int(size), int(n)) for size, n in record["sizes"])
        self.flows = max(1, min(int(record["flows"]), FLOWS_MAX))

    @property
    def seconds(self):
        return len(self.packets) * self.interval

    @property
    def mean_pps(self):
        return sum(self.packets) / self.seconds

    @property
    def peak_pps(self):
        return max(self.packets) / self.interval

    def rate_at(self, share):
        """The rate that this share of the time does not exceed."""
        return sorted(self.packets)[min(int(share * len(self.packets)),
                                        len(self.packets) - 1)] / self.interval

    def dispersion(self):
        """For each length of windows: (packets in a window, index of dispersion), as most packets
        have it; an interval in which the load began or ended does not count for more than its
        packets."""
        found = []
        for seconds, squares in self.windows:
            n = round(self.interval / seconds)
            values = [(((s - p * p / n) / (n - 1)) / (p / n), p)
                      for p, s in zip(self.packets, squares) if p > 0 and n > 1]
            found.append((weighted_median([(p / n, p) for p in self.packets]),
                          weighted_median(values)))
        return found

    def arrivals(self):
        """The generator's --arrivals that is nearest."""
        found = [d for d in self.dispersion() if d[0] <= WINDOW_PACKETS_MAX] \
            or self.dispersion()[:1]
        packets, index = max(found, key=lambda d: d[1])
        if index > BURST_MIN:
            # Bursts at even distances: windows shorter than these have 0 or N packets, and an index
            # of N - mean; longer ones a smaller index.
            longer = [d[1] for d in found if d[0] > packets]
            even = longer and min(longer) < index / 2
            return f"burst:{round(index + packets if even else index)}"
        packets, index = found[-1]
        return "constant" if packets >= WINDOW_PACKETS_MIN and index < 0.5 else "poisson"

    def size_list(self):
        """Up to 16 lengths that stand for all, in an order without a trend."""
        total, seen, sizes, at = sum(n for _, n in self.sizes), 0, [], 0
        for size, n in self.sizes:
            seen += n
            while len(sizes) < SIZES_MAX and (len(sizes) + 0.5) / SIZES_MAX * total <= seen:
                sizes.append(max(FRAME_MIN, min(size, FRAME_MAX)))
        if len(set(sizes)) == 1:
            return sizes[:1]
        mixed = []
        for _ in sizes:  # 7 and 16 have no common divisor
            mixed.append(sizes[at % len(sizes)])
            at += 7
        return mixed

    def generator_args(self):
        """Options of haul-fwd --mode generate, beside --rate."""
        return ["--arrivals", self.arrivals(), "--sizes", ",".join(map(str, self.size_list())),
                "--flows", str(self.flows)]

    def part(self, seconds):
        """The intervals of a part of that length whose rate is nearest to the mean; all of them,
        and again, if the recording is shorter."""
        n = max(1, round(seconds / self.interval))
        have = len(self.packets)
        if n >= have:
            return [self.packets[i % have] for i in range(n)]
        mean, total = sum(self.packets) / have * n, sum(self.packets[:n])
        best, at = abs(total - mean), 0
        for i in range(1, have - n + 1):
            total += self.packets[i + n - 1] - self.packets[i - 1]
            if abs(total - mean) < best:
                best, at = abs(total - mean), i
        return self.packets[at:at + n]

    def phases(self, seconds, factor=1.0):
        """[(packets per second, seconds)] for --rate; factor multiplies rates."""
        found = []
        for n in self.part(seconds):
            if found and found[-1][0] == n:
                found[-1][1] += 1
            else:
                found.append([n, 1])
        return [(n / self.interval * factor, k * self.interval) for n, k in found]

    def write_rates(self, path, seconds, factor=1.0):
        """Writes a file for --rate @FILE."""
        phases = self.phases(seconds, factor)
        if len(phases) > PHASES_MAX:
            raise LoadError(f"{seconds:g} s have {len(phases)} different rates; at most "
                            f"{PHASES_MAX} are possible: give a shorter time")
        with open(path, "w", encoding="ascii") as f:
            f.write("".join(f"{pps:.3f}/{length:.6f}s\n" for pps, length in phases))

    def describe(self):
        """One line for people."""
        return (f"{self.seconds:.1f} s, {self.mean_pps:,.0f} packets/s (at most "
                f"{self.peak_pps:,.0f}), arrivals {self.arrivals()}, {self.flows} flows, "
                f"frames of {self.sizes[0][0]} to {self.sizes[-1][0]} bytes")


def read(path):
    """Returns the Load of a file; LoadError, with the path, if it is none."""
    try:
        record = json.loads(textfile.read(path))
        if record["format"] != 1:
            raise LoadError("its format is not known")
        return Load(record)
    except OSError as e:
        raise LoadError(f"{path}: {e.strerror}") from e
    except LoadError as e:
        raise LoadError(f"{path}: {e}") from e
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError,
            OverflowError) as e:
        raise LoadError(f"{path}: not a file of haul-fwd --record-load") from e
