# SPDX-License-Identifier: BSD-3-Clause
"""A program in a terminal: a session of its own with a job in the foreground, as a shell starts it,
and an emulator of the terminal that the test reads.

    with Terminal([program, ...]) as t:
        t.until(lambda: "port" in t.row(1), "a port")
        t.type("q")
        t.ends()
"""
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
BEGIN, END = b"\x1b[?2026h", b"\x1b[?2026l"  # of a frame
MODES = [0, 1, 2, 3]  # of termios.tcgetattr(): the rest are speeds and characters
WIDE = 200  # columns of the emulator, so that lines longer than the terminal's can be seen


class Terminal:
    def __init__(self, command, columns=80, rows=24, foreground=True, env=None, out=None,
                 ignore=()):
        self.master, self.slave = os.openpty()
        self.raw = b""
        self.screen = pyte.Screen(WIDE, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.size(columns, rows)
        self.modes = self.now()
        self.said = ""  # by the session's leader, about the job
        self.read_end, self.write_end = os.pipe()
        env = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **(env or {})}
        env = {name: value for name, value in env.items() if value is not None}
        self.leader = os.fork()
        if self.leader == 0:
            self._lead(command, foreground, env, out, ignore)
        os.close(self.write_end)
        self.until(lambda: "\n" in self.said, "the program's start")
        self.pid = int(self.said.split()[0])

    def _lead(self, command, foreground, env, out, ignore):
        """What a shell does."""
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.close(self.master)

        def begin():
            os.setpgid(0, 0)
            if foreground:
                os.tcsetpgrp(self.slave, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            for sig in ignore:
                signal.signal(sig, signal.SIG_IGN)

        try:
            job = subprocess.Popen(command, stdin=self.slave, stdout=out or self.slave,
                                   stderr=self.slave, env=env, preexec_fn=begin)
            os.write(self.write_end, f"{job.pid}\n".encode())
            signal.signal(signal.SIGHUP, lambda *_: os.kill(job.pid, signal.SIGHUP))
            signal.signal(signal.SIGUSR1, lambda *_: (os.tcsetpgrp(self.slave, job.pid),
                                                      os.kill(job.pid, signal.SIGCONT)))
            while True:
                _, status = os.waitpid(job.pid, os.WUNTRACED)
                if os.WIFSTOPPED(status):
                    os.tcsetpgrp(self.slave, os.getpid())
                    os.write(self.write_end, b"stopped\n")
                    continue
                os.write(self.write_end, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())
                os._exit(0)
        finally:
            os._exit(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if "ended" not in self.said:
            for pid in self.pid, self.leader:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        os.waitpid(self.leader, 0)
        self.hang_up()
        for fd in self.slave, self.read_end:
            os.close(fd)

    def hang_up(self):
        if self.master >= 0:
            os.close(self.master)
        self.master = -1

    def now(self):
        """The modes of the terminal."""
        modes = termios.tcgetattr(self.slave)
        return [modes[i] for i in MODES] + [modes[6]]

    def size(self, columns, rows):
        self.screen.resize(rows, WIDE)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def pump(self, seconds, reads=True):
        files = [self.read_end] + ([self.master] if reads and self.master >= 0 else [])
        for fd in select.select(files, [], [], seconds)[0]:
            data = os.read(fd, 65536)
            if fd == self.master:
                self.raw += data
                # The emulator is slow, and what follows the screen may be megabytes.
                if b"\x1b" in data or self.raw.rfind(LEAVE) <= self.raw.rfind(ENTER):
                    self.stream.feed(data)
            else:
                self.said += data.decode()
                if not data and "ended" not in self.said:
                    self.said = "0\nended 127\n"  # it could not be run

    def until(self, cond, what, seconds=60, reads=True):
        """Waits; the time-out only gives a test that hangs its message."""
        end = time.monotonic() + seconds
        while self._is_amid_frame() or not cond():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds} s for {what}:\n{self}")
            self.pump(0.05, reads)

    def _is_amid_frame(self):
        return "ended" not in self.said and \
            self.raw.rfind(BEGIN) > max(map(self.raw.rfind, (END, LEAVE)))

    def frame(self):
        """Waits for two new frames: the second one began after the call."""
        for _ in range(2):
            already = self.raw.count(END)
            self.until(lambda: self.raw.count(END) > already, "a frame")

    def type(self, keys):
        os.write(self.master, keys.encode())

    def kill(self, sig):
        os.kill(self.pid, sig)

    def continues(self):
        """What fg does."""
        os.kill(self.leader, signal.SIGUSR1)

    def rows(self):
        return [row.rstrip() for row in self.screen.display]

    def row(self, i):
        return self.rows()[i]

    def shows(self, text):
        return any(text in row for row in self.rows())

    def fits(self, columns, rows):
        """True if all lines are within the terminal."""
        shown = self.rows()
        return len(shown) == rows and all(len(row) <= columns for row in shown)

    def drain(self):
        while self.master >= 0 and select.select([self.master], [], [], 0)[0]:  # what is there
            self.pump(0)

    def ends(self, reads=True):
        """The exit status, minus the signal for one that ended it, and the text that followed the
        screen."""
        self.until(lambda: "ended" in self.said, "its end", reads=reads)
        self.drain()
        return int(self.said.split()[-1]), self.after()

    def after(self):
        return self.raw.rpartition(LEAVE)[2].decode(errors="replace").replace("\r\n", "\n")

    def is_restored(self):
        self.drain()
        return self.now() == self.modes and self.raw.count(ENTER) == self.raw.count(LEAVE)

    def __str__(self):
        return "\n".join([*self.rows(), f"said: {self.said}", f"after: {self.after()[-2000:]}"])
