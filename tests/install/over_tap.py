# SPDX-License-Identifier: BSD-3-Clause
"""A user's program that runs on the TAP haul0, of which the kernel has the other end, 10.77.0.2."""
import contextlib
import signal
import subprocess

import netns
import outside


@contextlib.contextmanager
def running(root, command):
    with subprocess.Popen(command, env=outside.environment(root), stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            netns.wait_carriers(program)
            netns.ip("address add 10.77.0.2/24 dev haul0")
            netns.wait_up("haul0")
            yield program
        finally:
            program.kill()


def end(program):
    """Ends it as Ctrl-C does; returns the rest of what it has printed."""
    program.send_signal(signal.SIGINT)
    return program.communicate()[0]
