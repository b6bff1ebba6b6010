# SPDX-License-Identifier: BSD-3-Clause
"""The progress of tests/run and the remaining time: a line redrawn each second on a terminal.

The remaining time comes from the last run if there was one, else from an estimate for a quiet
machine with two cores, both corrected by the pace of this run so far.
"""
import os
import shutil
import sys
import threading
import time

# Seconds of CPU time of the longest tests; the others take about one.
LONG = {
    "alone": 15, "coro_switch_aarch64": 7, "doctor": 4, "eal_args": 7, "echo_end": 6,
    "echo_ping": 9, "fwd_end": 9, "fwd_files": 9, "fwd_json": 9, "fwd_kernel": 11,
    "fwd_signals": 6, "fwd_sizes": 14, "install": 25, "model_asleep": 7, "model_detached": 20,
    "model_litmus": 9, "model_mutations": 80, "model_order": 9, "model_order_back": 7,
    "model_order_three": 24, "model_poller": 11, "model_roused": 6, "model_search": 32,
    "model_weakened": 12, "mutations": 50, "odd_args": 15, "output": 8, "quickstart": 12,
    "stops": 13, "stress_injector": 7, "stress_steal": 5, "tap_signals": 4, "wait_idle": 7,
    "wait_peers": 14, "wait_requests": 12,
}


class Progress:
    def __init__(self, stages):
        """stages: (name, estimated seconds), in the order in which they run."""
        self.left = dict(stages)
        self.total = dict(stages)
        self.began = self.updated = time.monotonic()
        self.text = ""
        self.live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.lock = threading.Lock()
        if self.live:
            threading.Thread(target=self.redraw_each_second, daemon=True).start()

    def estimate(self, stage, seconds):
        """Sets a better estimate for a stage that is about to begin."""
        self.left[stage] = self.total[stage] = seconds

    def update(self, stage, share, text):
        """Sets the part of the stage that is done, 0 to 1; text describes it."""
        with self.lock:
            self.left[stage] = self.total[stage] * (1 - share)
            self.updated = time.monotonic()
            self.text = text
            self.draw()

    def say(self, text):
        with self.lock:
            if self.live:
                sys.stdout.write("\r\x1b[K")
            print(text, flush=True)
            self.draw()

    def seconds_left(self, now):
        done = sum(self.total.values()) - sum(self.left.values())
        # At first the finished part is too small to tell a slow machine from a slow start.
        pace = min(max((self.updated - self.began) / done, 0.3), 5) if done > 20 else 1
        return max(sum(self.left.values()) * pace - (now - self.updated), 0)

    def draw(self):
        if not self.live or not self.text:
            return
        now = time.monotonic()
        line = f"{clock(now - self.began)}, about {clock(self.seconds_left(now))} left: {self.text}"
        sys.stdout.write("\r\x1b[K" + line[:shutil.get_terminal_size().columns - 1])
        sys.stdout.flush()

    def redraw_each_second(self):
        while True:
            time.sleep(1)  # between updates
            with self.lock:
                self.draw()

    def end(self):
        with self.lock:
            if self.live:
                sys.stdout.write("\r\x1b[K")
            self.live = False


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def weights(tests, log, slower):
    """Estimated seconds by test name. log: entries of meson's testlog.json of the last run."""
    known = {name(e["name"]): e["duration"] for e in log if e.get("duration")}
    return {t["name"]: known.get(t["name"], LONG.get(t["name"], 1) * slower)
            / (cores() if t["is_parallel"] else 1) for t in tests}


def cores():
    """The CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def name(entry):
    """A test's name, from meson's project:suite / name."""
    return entry.split(" / ")[-1]
