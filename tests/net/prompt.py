# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd's prompt: commands by a file, a pipe, a terminal or a socket, and blocks of figures."""
import errno
import json
import os
import pty
import re
import select
import socket
import subprocess
import termios
import time

import fwd
import netns

PROMPT = "haul-fwd> "


def file_of(d, text):
    path = os.path.join(d, "commands")
    with open(path, "w") as f:
        f.write(text)
    return path


def script(d, text, *args):
    return fwd.run("--cmdline-file", file_of(d, text), *args, "--json", "--period", "0",
                   seconds=240)


def typed(text, *args):
    """A run that reads text from a pipe, and its output."""
    r = subprocess.run([fwd.FWD, *map(str, args), "-i"], input=text, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=120)
    return r.returncode, netns.said(r.stdout)


def blocks(text, name="Forward statistics for port"):
    """The figures of each block: [{"RX-packets": n, ...}, ...]."""
    found = []
    for block in text.split(name)[1:]:
        block = re.split(r"\n  [-+#]{70,}\n", block)[0]
        found.append({key: int(n) for key, n in re.findall(r"([RT]X-[a-z]+): *(\d+)", block)})
    return found


class Client:
    """At the control socket path of haul, an fwd.Running."""

    def __init__(self, path, haul):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.path = path
        haul.wait_for(self.connects, "haul-fwd to listen")
        self.answer()

    def connects(self):
        try:
            self.sock.connect(self.path)
        except (FileNotFoundError, ConnectionRefusedError):  # no socket yet, or nobody listens
            return False
        return True

    def answer(self):
        text = b""
        while not text.endswith(PROMPT.encode()):
            more = self.sock.recv(65536)
            if not more:
                return text.decode() + "(end)"
            text += more
        return text.decode()[:-len(PROMPT)]

    def ask(self, command):
        self.sock.sendall(command.encode() + b"\n")
        return self.answer()

    def json(self):
        return json.loads(self.ask("show json"))


class Terminal(netns.Child):
    """haul-fwd on a terminal of its own."""

    def __init__(self, *args):
        self.master, slave = pty.openpty()
        self.slave = slave
        self.modes = termios.tcgetattr(slave)
        self.text = ""
        self.process = subprocess.Popen(
            [fwd.FWD, *args], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0))

    def __exit__(self, *args):
        super().__exit__(*args)
        os.close(self.master)
        os.close(self.slave)

    def read(self, seconds=0.05):  # a look
        while select.select([self.master], [], [], seconds)[0]:
            try:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            except OSError as e:
                if e.errno != errno.EIO:
                    raise
                return

    def wait_for(self, what, seconds=60):
        """Waits for the text what; returns all up to it, and forgets that."""
        end = time.monotonic() + seconds
        while what not in self.text and time.monotonic() < end:
            self.read()
        self.text = re.sub(r"\x1b\[\d*[A-Z]", "", self.text)
        before, found, self.text = self.text.partition(what)
        return before + found

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        return self.process.poll()
