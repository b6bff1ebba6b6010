# SPDX-License-Identifier: BSD-3-Clause
"""The program: from the command line to the files of the report."""
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

from . import choice, links, machine, options, program, progress, report, scratch, textfile
from .model import Report
from .program import Failed
from .session import Disturbed, Session

NAME = "haul-compare"
DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
LINE_HEAD, LINE_TAIL = 1000, 200  # characters of a line
PARTIAL = "report.partial.json"  # what a killed haul-compare leaves; --remake reads it


def one_line(text):
    """As the other programs print what they were given: control characters and bytes that are no
    UTF-8 escaped, and the middle of long ones left out."""
    if len(text) > LINE_HEAD + LINE_TAIL:
        text = f"{text[:LINE_HEAD]} ... {text[-LINE_TAIL:]}"
    return "".join(f"\\x{ord(c) & 0xff:02x}" if c < " " or "\x7f" <= c < "\xa0" or
                   "\udc80" <= c <= "\udcff" else c for c in text)


def complain(line):
    """Without a reader of stderr, what is measured goes on, and its report is written."""
    with contextlib.suppress(OSError):
        print(f"{NAME}: {one_line(str(line))}", file=sys.stderr)


def versions(version, folders):
    """The versions of haul and DPDK, and of the source tree that the programs are from."""
    fwd = program.find("haul-fwd", folders)
    return {"haul": version, "dpdk": dpdk_version(fwd), "commit": commit(fwd)}


def dpdk_version(fwd):
    """What the haul-doctor in the same folder says."""
    doctor = fwd and os.path.join(os.path.dirname(os.path.realpath(fwd)), "haul-doctor")
    try:
        done = subprocess.run([doctor], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, text=True, timeout=20)
    except (OSError, TypeError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\bDPDK (\d+\.\d+[\w.-]*)", done.stdout)
    return found[1] if found else None


def commit(fwd):
    if not fwd:
        return None
    try:
        done = subprocess.run(
            ["git", "-C", os.path.dirname(os.path.realpath(fwd)), "describe", "--always",
             "--dirty", "--exclude", "*"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None


def prepare(folder):
    """Makes the folder of the report; a mistake is to show before the measuring."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x" * 65536)
            file.flush()
    except OSError as e:
        raise options.Usage(f"--out {folder}: {e.strerror}") from None


class Files:
    """The report, wherever there is room for it."""

    def __init__(self, folder, target):
        self.folder, self.target = folder, target
        self.partial = os.path.join(folder, PARTIAL)
        self.complained = False

    def keep(self, data):
        """Writes what was measured so far."""
        try:
            textfile.replace(self.partial, json.dumps(data))
        except OSError as e:
            if not self.complained:
                complain(f"{self.partial}: {e.strerror}; the measuring goes on")
            self.complained = True

    @staticmethod
    def forget(path):
        try:
            os.unlink(path)
        except OSError:
            pass

    def write(self, data):
        """Returns (the advice, the folder), or raises OSError."""
        self.forget(self.partial)  # it may take up the room that the report needs
        try:
            return report.write(data, self.folder, self.target), self.folder
        except OSError as e:
            complain(f"{self.folder}: the report cannot be written: {e.strerror}")
        other = tempfile.mkdtemp(prefix="haul-compare-report-")
        found = report.write(data, other, self.target)
        complain(f"the report is in {other} instead")
        return found, None


def measured(session, refused):
    """Measures. Returns (exit code, why it ended early or None, True if a report makes sense)."""
    try:
        session.open(refused)
        session.measure()
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted", True
    except Failed as e:
        return FAILED, str(e), not isinstance(e, Disturbed)
    except OSError as e:
        return FAILED, f"{e.filename or 'system call'}: {e.strerror}", True
    return DONE, None, True


def finish(data, files, code, why, bar):
    """Writes the report of what there is. Returns the exit code."""
    bar.clear()
    if why and why != "interrupted":
        complain(why)
    if not data["points"] and not data["idle"]:
        complain("nothing was measured, so there is no report")
        return code or FAILED
    try:
        advice, folder = files.write(data)
    except OSError as e:
        complain(f"the report is lost: {e.strerror}")
        return FAILED
    print(advice["text"])
    if folder:
        print(f"\nThe report: {os.path.join(folder, 'report.html')}")
    return code if folder or code else FAILED


def measure(asked, arguments, version, folders, temporary):
    """temporary: a folder for files that nobody needs afterwards."""
    files = Files(os.path.abspath(asked.out), asked.target)
    facts = Report(shlex.join([NAME, *arguments]), machine.facts(), versions(version, folders))
    bar = progress.Progress(asked.minutes * 60)
    refused = None if asked.port else links.enter()
    session = Session(asked, folders, facts, bar, temporary)
    session.checkpoint = lambda: files.keep(facts.data())
    code, why, tells = measured(session, refused)
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)  # the report is on its way
    session.close()
    if not tells:
        files.forget(files.partial)
        bar.clear()
        complain(why)
        return code
    facts.head.update({"complete": code == DONE, "ended_because": why})
    return finish(facts.data(), files, code, why, bar)


def remake(asked):
    folder = asked.out if "out" in asked.asked else None
    try:
        advice = report.remake(asked.remake, folder, asked.target)
    except OSError as e:
        complain(f"{e.filename or asked.remake}: {e.strerror}")
        return FAILED
    except ValueError as e:
        complain(e)
        return USAGE
    print(advice["text"])
    return DONE


def run(arguments, version, folders):
    asked = options.Options(arguments)
    if asked.shows == "help":
        print(options.usage())
        return DONE
    if asked.shows == "version":
        print(f"{NAME} {version}")
        return DONE
    try:
        choice.parse(asked.target)
    except ValueError as e:
        raise options.Usage(f"--target {asked.target}: {e}") from None
    if asked.remake:
        return remake(asked)
    prepare(asked.out)
    with scratch.folder() as temporary:
        return measure(asked, arguments, version, [asked.programs] if asked.programs else folders,
                       temporary)


class Ending:
    """The signals that end the program: the first one raises KeyboardInterrupt, once."""

    def __init__(self):
        self.over = False
        for number in ENDING:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, self.take)

    def take(self, number, frame):
        if not self.over:
            self.over = True
            raise KeyboardInterrupt


def main(version, folders):
    """Returns the exit code of the process."""
    ending = Ending()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        code = ended(version, folders)
        ending.over = True
        return code
    except KeyboardInterrupt:
        return INTERRUPTED


def ended(version, folders):
    """Returns the exit code, after a line if there was a failure."""
    try:
        code = run(sys.argv[1:], version, folders)
        sys.stdout.flush()
        return code
    except options.Usage as e:
        complain(e)
        return USAGE
    except Failed as e:
        complain(e)
        return FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
