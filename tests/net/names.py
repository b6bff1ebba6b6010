# SPDX-License-Identifier: BSD-3-Clause
"""Outputs under names that others have prepared, in a folder where everybody may make files: what
is another user's is refused in one line and stays as it was, whatever it is and whichever option
names it; this user's own is written. HAUL_NAMES=500 for more, HAUL_SEED replays one."""
import os
import random
import socket
import stat
import time

import netns

import fwd

netns.enter()
tap = netns.Tap()

NAMES = int(os.environ.get("HAUL_NAMES", 0))
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
OTHER = 65534
SECRET = b"secret"
ROOT = os.geteuid() == 0 and len(open("/proc/self/uid_map").read().split()) == 3 and \
    open("/proc/self/uid_map").read().split()[2] != "1"


class Folder:
    """As /tmp, with what another user put there under a name."""

    def __init__(self, at):
        self.at = at
        os.mkdir(at)
        os.chmod(at, 0o1777)
        self.victim = f"{at}-victim"
        with open(self.victim, "wb") as f:
            f.write(SECRET)
        os.chmod(self.victim, 0o600)

    def path(self, name):
        return os.path.join(self.at, name)

    def is_safe(self):
        with open(self.victim, "rb") as f:
            return f.read() == SECRET


def write(path):
    with open(path, "wb") as f:
        f.write(SECRET)


def of_other(path):
    os.chown(path, OTHER, OTHER, follow_symlinks=False)


def another_file(folder, path):
    write(path)
    os.chmod(path, 0o666)
    of_other(path)


def another_link(folder, path):
    os.symlink(folder.victim, path)
    of_other(path)


def another_dangling_link(folder, path):
    os.symlink(folder.victim + "-new", path)
    of_other(path)


def hard_link(folder, path):
    os.link(folder.victim, path)


def another_fifo(folder, path):
    os.mkfifo(path)
    os.chmod(path, 0o666)
    of_other(path)


def read_fifo(folder, path):
    another_fifo(folder, path)
    folder.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def directory(folder, path):
    os.mkdir(path)


def dead_socket(folder, path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
    of_other(path)


def disk(folder, path):
    os.mknod(path, stat.S_IFBLK | 0o666, os.makedev(7, 0))


def own_file(folder, path):
    write(path)
    os.chmod(path, 0o666)


def own_link(folder, path):
    folder.target = path + "-target"
    os.symlink(os.path.basename(folder.target), path)


def device(folder, path):
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


def nothing(folder, path):
    pass


BAD = [hard_link, directory] + ([another_file, another_link, another_dangling_link, another_fifo,
                                 read_fifo, dead_socket, disk] if ROOT else [])
GOOD = [nothing, own_file, own_link] + ([device] if ROOT else [])

# haul-fwd with an output at a path, and the name that it gives to it.
IDLE = "--port", "null:no-rx=1", "--carriers", 1, "--poller", "sleep", "--duration", "0.1"
BUSY = "--port", "null:", "--mode", "rxonly", "--carriers", 1, "--poller", "sleep", "--packets", 64


def capture(path):
    return [*IDLE, "--capture", path]


def histogram(path):
    return [*BUSY, "--hist", path.removesuffix("-port0-handler.hgrm")]


def record(path):
    return [*IDLE, "--record-load", path]


def pcap(path):
    return ["--port", f"pcap:tx={path}", "--mode", "txonly", *IDLE[2:]]


def samples(path):
    commands = os.path.join(os.environ["TMPDIR"], "commands")
    with open(commands, "w") as f:
        f.write(f"save samples {path}\n")
    return ["--mode", "generate", *IDLE, "--cmdline-file", commands]


def control(path):
    return [*IDLE, "--control", path]


OUTPUTS = [capture, histogram, record, pcap, samples, control]


def described(path):
    """What a name leads to; directories and links as they are."""
    st = os.lstat(path)
    return st.st_mode, st.st_uid, st.st_ino, st.st_size


def unlike(output, prepare):
    """None, or what was wrong."""
    folder = Folder(os.path.join(os.environ["TMPDIR"], f"names-{time.monotonic_ns()}"))
    path = folder.path("x-port0-handler.hgrm")
    prepare(folder, path)
    bad = prepare in BAD or (output is control and prepare is not nothing)
    before = described(path) if prepare is not nothing else None
    r = fwd.run(*output(path), "--period", 0)
    said = [line for line in r.err.splitlines() if ": note: " not in line]
    reader = getattr(folder, "reader", None)
    got = b""
    if reader is not None:
        try:
            got = os.read(reader, 100)
        except BlockingIOError:
            got = b"nothing, and somebody has it open"
        os.close(reader)
    if not folder.is_safe() or os.path.exists(folder.victim + "-new"):
        return f"the victim: {r}"
    if bad:
        # Commands print their own lines, and others to name the command that failed.
        whole = r.out + "\n".join(said)
        if r.rc == 0 or "x-port0" not in whole or len(said) > 1 + (output is samples) or got:
            return f"not refused: {r} {got}"
        return None if described(path) == before else f"changed: {r}"
    if r.rc != 0:
        return f"refused: {r}"
    written = getattr(folder, "target", path)
    if output is control:
        return f"left behind: {r}" if os.path.lexists(path) else None
    if prepare is device:
        return None if described(path) == before else f"the device: {r}"
    with open(written, "rb") as f:
        if SECRET in f.read(100) or os.path.getsize(written) == 0:
            return f"not written: {r}"
    if output is capture and stat.S_IMODE(os.stat(written).st_mode) != 0o600:
        return f"others may read it: {r}"
    return None


def rotated(prepare):
    """Rotated files under names that can be foreseen."""
    folder = Folder(os.path.join(os.environ["TMPDIR"], f"names-{time.monotonic_ns()}"))
    now = time.time()
    prepared = {}
    for s in range(600):
        date = time.strftime("%Y%m%d%H%M%S", time.localtime(now + s))
        path = folder.path(f"x_00001_{date}.pcapng")
        prepare(folder, path)
        prepared[path] = described(path)
    r = fwd.run(*IDLE, "--period", 0, "--capture", folder.path("x.pcapng"), "--capture-rotate",
                "1M")
    new = [p for p in os.listdir(folder.at) if folder.path(p) not in prepared]
    if r.rc != 0 or len(new) != 1 or "-1.pcapng" not in new[0]:
        return f"{r}\n{new}"
    if not folder.is_safe() or os.path.exists(folder.victim + "-new") or \
            any(described(p) != d for p, d in prepared.items()):
        return f"changed: {r}"
    return None


print(f"# HAUL_SEED={SEED}")
choose = random.Random(SEED)
pairs = [(output, prepare) for output in OUTPUTS for prepare in BAD + GOOD]
if not NAMES:
    # Each output, and each thing, at least once.
    pairs = [(choose.choice(OUTPUTS), p) for p in BAD + GOOD] + \
        [(o, choose.choice(BAD + GOOD)) for o in OUTPUTS] + \
        [(capture, p) for p in BAD]
elif NAMES < len(pairs):
    pairs = choose.sample(pairs, NAMES)
else:
    pairs *= NAMES // len(pairs)
for output, prepare in pairs:
    wrong = unlike(output, prepare)
    tap.ok(not wrong, f"{output.__name__}: {prepare.__name__}", wrong)
for prepare in BAD[2:6] + [own_file]:
    wrong = rotated(prepare)
    tap.ok(not wrong, f"rotated: {prepare.__name__}", wrong)
if not ROOT:
    tap.skip("files of others", "only root can make them")
tap.done()
