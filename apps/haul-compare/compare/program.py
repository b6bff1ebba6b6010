# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are measured, or that measure: their start, their prompt, their end."""
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import time

PROMPT = b"haul-fwd> "
PATIENCE = 60  # seconds for a start or an answer on a busy machine
END_PATIENCE = 5
PR_SET_PDEATHSIG = 1

CPUS = os.sched_getaffinity(0)  # of this process at its start

_libc = ctypes.CDLL(None, use_errno=True)


class Failed(Exception):
    """A failure at run time, in one line."""


def find(name, folders):
    """The path of a program: in one of these folders, or in PATH."""
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    return shutil.which(name)


def _of_parent():
    """Runs in the child: it ends with its parent, also if that is killed, and its CPUs are
    decided by its options."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)
    os.sched_setaffinity(0, CPUS)


class Process:
    """A child whose stderr is kept. It is in a process group of its own, so that Ctrl-C reaches
    haul-compare only, which then ends it."""

    def __init__(self, what, command, scratch, environment=None):
        self.what = what
        self.log_path = os.path.join(scratch, f"{what.replace(' ', '-')}.log")
        with open(self.log_path, "wb") as log:
            self.child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                process_group=0, preexec_fn=_of_parent,
                env={**os.environ, **(environment or {})})
        self.pid = self.child.pid

    def said(self):
        """The last line of stderr that is no note, without the program's name."""
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if line.strip() and ": note: " not in line]
        return lines[-1].removeprefix("haul-fwd: ") if lines else ""

    def check(self):
        """Raises Failed if it has ended."""
        code = self.child.poll()
        if code is None:
            return
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else \
            f"ended with exit code {code}"
        said = self.said()
        raise Failed(f"the {self.what} {how}" + (f": {said}" if said else ""))

    def wait_for(self, condition, what):
        """Waits until condition() is true; raises Failed."""
        end = time.monotonic() + PATIENCE
        while not condition():
            self.check()
            if time.monotonic() > end:
                raise Failed(f"the {self.what} does not {what} within {PATIENCE} s: {self.said()}")
            time.sleep(0.005)

    def end(self):
        """Ends it, politely at first; returns its output."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
        try:
            out = self.child.communicate(timeout=END_PATIENCE)[0]
        except subprocess.TimeoutExpired:
            self.child.kill()
            out = self.child.communicate()[0]
        return out.decode("utf-8", "replace")

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.communicate()


class Fwd(Process):
    """haul-fwd with a socket for commands. It does not forward before "start"."""

    def __init__(self, what, path, arguments, scratch):
        self.socket_path = os.path.join(scratch, f"{what.replace(' ', '-')}.sock")
        # The end of its stdin ends it, and until then it has nothing to read there.
        super().__init__(what, [path, *arguments, "--interactive", "--control", self.socket_path],
                         scratch, {"RUNTIME_DIRECTORY": scratch, "XDG_RUNTIME_DIR": scratch})
        try:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.wait_for(self.connects, "open its ports")
            self.answer()
        except BaseException:
            self.kill()
            raise

    def connects(self):
        try:
            self.socket.connect(self.socket_path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True

    def answer(self):
        """The text up to the next prompt."""
        text, end = b"", time.monotonic() + PATIENCE
        while not text.endswith(PROMPT):
            left = end - time.monotonic()
            if left < 0:
                raise Failed(f"the {self.what} does not answer within {PATIENCE} s")
            if not select.select([self.socket], [], [], min(left, 0.5))[0]:
                self.check()
                continue
            try:
                part = self.socket.recv(1 << 16)
            except ConnectionResetError:
                part = b""
            if not part:
                self.lost()
            text += part
        return text[:-len(PROMPT)].decode("utf-8", "replace")

    def lost(self):
        """The connection has ended, so the process has, or is about to."""
        try:
            self.child.wait(END_PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"the {self.what} has closed its prompt") from None
        self.check()

    def ask(self, command):
        try:
            self.socket.sendall(command.encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            self.lost()
        return self.answer()

    def do(self, command):
        """Runs a command that says nothing if it succeeds; Failed otherwise."""
        said = self.ask(command).strip()
        if said:
            raise Failed(f"the {self.what}: {command}: {said.splitlines()[-1]}")

    def figures(self):
        """The figures of --json so far."""
        said = self.ask("show json")
        try:
            return json.loads(said)
        except ValueError:
            raise Failed(f"the {self.what} gives no figures: {said.strip()[:200]}; is haul-fwd of "
                         "the same version as haul-compare?") from None

    def end(self):
        self.socket.close()
        return super().end()


class Peer(Process):
    """A program without haul that prints "ready", and its figures as JSON at its end."""

    def __init__(self, what, command, scratch):
        super().__init__(what, command, scratch)
        try:
            self.wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def wait_until_ready(self):
        text, end = b"", time.monotonic() + PATIENCE
        fd = self.child.stdout.fileno()
        while b"\n" not in text:
            if time.monotonic() > end:
                raise Failed(f"the {self.what} does not start within {PATIENCE} s")
            if not select.select([fd], [], [], 0.2)[0]:
                continue
            part = os.read(fd, 4096)
            if not part:
                self.child.wait()
                self.check()
                raise Failed(f"the {self.what} has ended: {self.said()}")
            text += part

    def figures_at_end(self):
        out = self.end()
        try:
            return json.loads(out.splitlines()[-1])
        except (ValueError, IndexError):
            self.check()
            raise Failed(f"the {self.what} gives no figures at its end: {self.said()}") from None
