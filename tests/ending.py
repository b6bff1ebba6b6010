# SPDX-License-Identifier: BSD-3-Clause
"""The end of the project's scripts: quiet at Ctrl-C and SIGTERM, and when the reader of their
output has gone, as in "perf/fwd --list | head"."""
import os
import select
import signal
import sys

FAILED, INTERRUPTED = 1, 130


def has_reader():
    """False if stdout is a pipe or socket that nobody reads."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return not any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def run(main):
    """Runs main, and ends the process with its result."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        try:
            sys.exit(main())
        finally:
            sys.stdout.flush()  # what is left: at the interpreter's end it is too late for us
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        if has_reader():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
