# SPDX-License-Identifier: BSD-3-Clause
"""What goes on, and how long it will take: a line in place on a terminal, lines elsewhere."""
import os
import sys
import time

PERIOD = 0.2  # seconds between changes of the line
LINES = 30.0  # seconds between lines that are no news


def clock(seconds):
    seconds = max(int(seconds + 0.5), 0)
    return f"{seconds // 60}:{seconds % 60:02}"


class Progress:
    def __init__(self, seconds, stream=None):
        self.stream = stream or sys.stderr
        self.in_place = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.end = time.monotonic() + seconds
        self.shown = self.told = 0.0
        self.is_lost = False
        self.width = 0

    def write(self, text):
        """A lost terminal is no reason to stop."""
        if self.is_lost:
            return
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            self.is_lost = True

    def left(self):
        return self.end - time.monotonic()

    def now(self, text, again=False):
        """What goes on now; not each is shown. again: a text as the one before, of less news."""
        now = time.monotonic()
        if self.in_place:
            if now - self.shown >= PERIOD or not again:
                line = f"{clock(self.left())} left  {text}"
                line = line[:os.get_terminal_size(self.stream.fileno()).columns - 1]
                self.write(f"\r{line:{self.width}}")
                self.width, self.shown = len(line), now
        elif not again or now - self.told >= LINES:
            self.write(f"{clock(self.left())} left  {text}\n")
            self.told = now

    def say(self, text):
        """A line that stays."""
        self.clear()
        self.write(f"{text}\n")

    def clear(self):
        if self.in_place and self.width:
            self.write("\r" + " " * self.width + "\r")
            self.width = 0
