# SPDX-License-Identifier: BSD-3-Clause
"""A program of a host that answers a line of commands by a line."""
import os
import signal
import subprocess


class Asked:
    def __init__(self, binary, *args, bursts=False):
        self.process = subprocess.Popen(
            [binary, "--period", "0", *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | ({"HAUL_BURSTS": "1"} if bursts else {}))

    def __enter__(self):
        while self.process.stdout.readline() not in ("started\n", ""):
            pass
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def says(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate()[0]
        return self.process.returncode, said
