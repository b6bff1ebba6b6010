# SPDX-License-Identifier: BSD-3-Clause
"""A private network for a test: the test process itself moves into fresh namespaces.

    import netns
    netns.enter()                     # or ends the test with a TAP skip that says why
    netns.veth("v0", "v1", queues=2)  # both up, quiet, no offloads
    netns.ip("addr add 10.0.0.2/24 dev v1")
    peer = netns.Raw("v1")            # frames in and out of an interface
    subprocess.Popen([...])           # children live in the same private network

Nothing is left behind: the kernel removes the namespaces with the last process in them, however
that process ends. Names need not be unique, since they are private. Works as root, and as a
user where the kernel lets users have namespaces. One network is enough for most tests: a port of
haul's takes an interface that has no address, and the kernel talks to it from the other end.
"""
import atexit
import contextlib
import ctypes
import fcntl
import functools
import glob
import itertools
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import Tap  # noqa: E402  for the tests, as netns.Tap

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_REC_PRIVATE = 0x44000
MS_REC_BIND = 0x5000
MNT_DETACH = 2

ETH_P_ALL = 3
PACKET_OUTGOING = 4

_libc = ctypes.CDLL(None, use_errno=True)


def settings(args):
    """Options for a program with args, as the environment of the tests asks for: HAUL_STEAL=cluster
    or global, HAUL_CARRIERS=5 (more than CPUs)."""
    more = []
    if "HAUL_STEAL" in os.environ:
        more += ["--steal", os.environ["HAUL_STEAL"]]
    if "HAUL_CARRIERS" in os.environ and "--carriers" not in args:
        more += ["--carriers", os.environ["HAUL_CARRIERS"]]
    return more


def eal(args):
    """What follows all other options, as the environment asks for: HAUL_EAL=--iova-mode=pa."""
    given = os.environ.get("HAUL_EAL", "").split()
    return ["--eal", *given] if given and "--eal" not in args else []


def said(text):
    """A program's stderr, without the note that a machine with too few huge pages gets, and without
    the watchdog's lines about pollers, which a busy machine gets: DPDK's rings spin behind a thread
    that has no CPU."""
    return re.sub(r"^(\S+: note: .*in ordinary pages|haul: poller .* has run for .*)\n", "", text,
                  flags=re.M)


class Child:
    """A process in a with statement, which kills it if it still runs at the end."""

    process = None  # set by whoever inherits

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def finish(process, seconds=120, look_after=None):
    """communicate() with a process that is to end: (stdout, stderr). One that does not is killed,
    else the end of its with statement would wait for it, and stderr says so. look_after: one that
    still runs after so many seconds is looked at."""
    if look_after:
        try:
            return process.communicate(timeout=look_after)
        except subprocess.TimeoutExpired:
            where_it_hangs(process)
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        where_it_hangs(process)
        process.kill()
        out, err = process.communicate()
        return out, f"{err}\nkilled: it did not end within {seconds} s\n"


def _check(what, rc):
    if rc < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _write(path, text):
    with open(path, "w") as f:
        f.write(text)


def mount(kind, where, options=None):
    """Mounts a file system in this test's namespace only. True on success: a container may refuse
    any of them, and few tests need them."""
    data = options.encode() if options else None
    return _libc.mount(kind.encode(), where.encode(), kind.encode(), 0, data) == 0


def unmount(where):
    """Unmounts what mount() has mounted there, if it has."""
    _libc.umount2(where.encode(), 0)


def _use_memory_for_files():
    """Temporary files of the test and of what it runs are in memory: the disk may be full for a
    moment, since builds and tests of others run, and DPDK's pcap PMD loses frames then without a
    word."""
    folder = tempfile.mkdtemp(prefix="haul-test-")
    if not mount("tmpfs", folder, "mode=700"):
        os.rmdir(folder)
        return
    os.environ["TMPDIR"] = tempfile.tempdir = folder

    def forget():
        _libc.umount2(folder.encode(), MNT_DETACH)
        os.rmdir(folder)
    atexit.register(forget)


def _closed_above(path):
    """The topmost folder above the path that other users may not enter, or None."""
    parts = path.split("/")
    above = ["/".join(parts[:n]) for n in range(2, len(parts))]
    return next((folder for folder in above if not os.stat(folder).st_mode & stat.S_IXOTH), None)


def let_others_in():
    """As root, in a mount namespace of its own: lets other users reach the source tree, the build
    directory and what the command line names, when these are below a folder that only root may
    enter. In its place is an empty one that has nothing but the way to them."""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = {os.path.realpath(p) for p in (os.path.dirname(tests), os.getcwd(), *sys.argv[1:])
             if os.path.exists(p)}
    while closed := next(filter(None, map(_closed_above, paths)), None):
        below = {p[len(closed) + 1:].split("/")[0] for p in paths if p.startswith(closed + "/")}
        fds = {name: os.open(f"{closed}/{name}", os.O_PATH) for name in below}
        if not mount("tmpfs", closed, "mode=755"):
            return
        for name, fd in fds.items():
            if os.path.isdir(f"/proc/self/fd/{fd}"):
                os.mkdir(f"{closed}/{name}")
            else:
                _write(f"{closed}/{name}", "")
            _check("mount", _libc.mount(f"/proc/self/fd/{fd}".encode(), f"{closed}/{name}".encode(),
                                        None, MS_REC_BIND, None))
            os.close(fd)
    os.chdir(os.getcwd())  # by the new way


def make_way():
    """let_others_in(), if this is root, in a private mount namespace."""
    if os.geteuid() == 0 and _libc.unshare(CLONE_NEWNS) == 0:
        _check("mount", _libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None))
        let_others_in()


def enter(as_user=False):
    """Moves this process into private network and mount namespaces, loopback up, with a private
    folder for temporary files. as_user: also into a user namespace, as an unprivileged user would
    (uid 0 inside, without power outside), although the test runs as root.
    """
    # ip, ethtool and tc: a user's path may lack these folders. Last, as the user chooses first.
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    # For its children, too: nohup and a shell's & let their commands ignore these.
    for sig in signal.SIGHUP, signal.SIGQUIT:
        signal.signal(sig, signal.SIG_DFL)
    uid, gid = os.geteuid(), os.getegid()
    user = as_user or uid != 0
    if as_user and uid == 0:
        make_way()
        # the user nobody: a root mapped to root would keep its access to root's files
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        _check("prctl", _libc.prctl(4, 1, 0, 0, 0))  # dumpable again, so /proc/self is ours
        uid = gid = 65534
    try:
        flags = CLONE_NEWNET | CLONE_NEWNS | (CLONE_NEWUSER if user else 0)
        _check("unshare", _libc.unshare(flags))
        if user:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"0 {uid} 1")
            _write("/proc/self/gid_map", f"0 {gid} 1")
        _check("mount", _libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None))
    except OSError as e:
        skip_all(f"no private namespaces here ({e})")
    # /sys/class/net of the new network, and a place for XDP programs.
    if not mount("sysfs", "/sys"):
        skip_all("no sysfs of a private network can be mounted here")
    mount("bpf", "/sys/fs/bpf")
    _use_memory_for_files()
    # No router solicitations and the like: a wire carries the test's traffic only. Tests that
    # need IPv6 on an interface call ip6().
    for scope in "all", "default":
        try:
            _write(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6", "1")
        except OSError:
            pass
    ip("link set lo up")


def _open_tun():
    os.close(os.open("/dev/net/tun", os.O_RDWR))


def _load_xdp():
    """Makes a map of AF_XDP sockets; the kernel does not let root in a user namespace."""
    attr = ctypes.create_string_buffer(struct.pack("=IIII", 17, 4, 4, 1), 128)
    number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    fd = _libc.syscall(number, 0, attr, len(attr))
    _check("BPF_MAP_CREATE", fd)
    os.close(fd)


@functools.cache
def lacks(kind):
    """The reason why no port of this kind can be opened here, or None. Call after enter()."""
    try:
        {"tap": _open_tun, "afxdp": _load_xdp}.get(kind, lambda: None)()
    except OSError as e:
        return f"no {kind} ports here ({e})"
    return None


def can_open(tap, kind, what=None):
    """True if ports of this kind can be opened; else what is skipped, and the line says why."""
    if lacks(kind):
        tap.skip(what or kind, lacks(kind))
    return not lacks(kind)


def need(kind):
    """Skips the whole test if no port of this kind can be opened."""
    if lacks(kind):
        skip_all(lacks(kind))


def skip_all(why):
    """Ends a TAP test program before its first test."""
    print(f"1..0 # SKIP {why}", flush=True)
    sys.exit(0)


def fewer():
    """True if cases that resemble others may be left out: a short run."""
    return "HAUL_FEWER" in os.environ


def some(*lists):
    """All combinations of their members; in a short run as many of them as it takes for each two
    members of different lists to occur together."""
    whole = list(itertools.product(*(range(len(members)) for members in lists)))

    def pairs(indices):
        return set(itertools.combinations(enumerate(indices), 2))

    taken, wanted = [], set().union(*map(pairs, whole))
    while wanted and fewer():
        taken.append(max(whole, key=lambda indices: len(pairs(indices) & wanted)))
        wanted -= pairs(taken[-1])
    return [tuple(members[i] for members, i in zip(lists, indices))
            for indices in (sorted(taken) if fewer() else whole)]


def share(cases, turn):
    """All cases; in a short run half of them: those of even numbers in even turns."""
    return cases[turn % 2::2] if fewer() else cases


def to_weigh(more=""):
    """The environment of a program whose memory is looked at: ASan keeps what was freed for later,
    256 MB of it unless told otherwise."""
    return os.environ | {
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1" + more}


def ip(args):
    subprocess.run(["ip"] + args.split(), check=True)


def ip6(name):
    """Enables IPv6 on an interface, with addresses that are usable at once (no DAD)."""
    _write(f"/proc/sys/net/ipv6/conf/{name}/accept_dad", "0")
    _write(f"/proc/sys/net/ipv6/conf/{name}/router_solicitations", "0")
    _write(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "0")


def veth(a, b, queues=1, mtu=None):
    """A cable between two interfaces, both up, without the offloads that AF_XDP does not
    support."""
    q = f"numrxqueues {queues} numtxqueues {queues}"
    ip(f"link add {a} {q} type veth peer name {b} {q}")
    for name in a, b:
        subprocess.run(["ethtool", "-K", name, *"tx off tso off gso off gro off".split()],
                       check=True, stdout=subprocess.DEVNULL)
        if mtu:
            ip(f"link set {name} mtu {mtu}")
        ip(f"link set {name} up")
    for name in a, b:
        wait_up(name)


def exists(name):
    return name in (n for _, n in socket.if_nameindex())


def flags(name):
    """The interface's IFF_ flags, 0 when there is no such interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            r = fcntl.ioctl(s, 0x8913, struct.pack("16sH14x", name.encode(), 0))  # SIOCGIFFLAGS
        except OSError:
            return 0
        return struct.unpack("16sH14x", r)[1]


def wait_for(cond, what, seconds=60):
    """Waits until cond() is true, and returns what it is; the time-out only gives a test that hangs
    its message."""
    end = time.monotonic() + seconds
    while not (found := cond()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.005)  # between looks
    return found


def wait_up(name, seconds=60):
    """Waits until the interface exists, is up and has carrier (IFF_UP and IFF_RUNNING)."""
    wait_for(lambda: flags(name) & 0x41 == 0x41, f"{name} to come up", seconds)


def carriers(pid):
    """The ids of the threads of a program that are carriers."""
    found = set()
    for tid in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{tid}/comm") as f:
            # haul0.c0.p0; the first thread has the program's name
            if f.read().startswith("haul") and tid != str(pid):
                found.add(tid)
    return found


def wait_carriers(process):
    """Waits until the program has carriers, or has ended. Its ports are started then: before, the
    interface of a TAP port comes and goes, and the kernel drops what is sent."""
    wait_for(lambda: process.poll() is not None or carriers(process.pid), "carriers")


def has_open(process, path):
    """True if a program has that file open, or has ended."""
    folder = f"/proc/{process.pid}/fd"
    try:
        return path in [os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)]
    except OSError:  # of a descriptor that it has closed meanwhile, too
        return process.poll() is not None


def waits_in(process, function):
    """True if the first thread of a program waits in this function of the kernel, or has ended."""
    with open(f"/proc/{process.pid}/wchan") as f:
        return function in f.read() or process.poll() is not None


def _threads_do(pid):
    """A line for each thread: its name, id and state; its CPU time, its waits for a CPU and its
    turns (schedstat); its system call, where it sleeps in the kernel, and its stack there."""
    for task in sorted(glob.glob(f"/proc/{pid}/task/*")):
        said = []
        for name in "comm", "stat", "schedstat", "syscall", "wchan", "stack":
            with contextlib.suppress(OSError):
                text = pathlib.Path(task, name).read_text().strip()
                if name == "stat":
                    text = f"{os.path.basename(task)} {text.rpartition(')')[2].split()[0]}"
                said.append(" < ".join(text.splitlines()))
        print("#", *said, flush=True)


def where_it_hangs(process):
    """Prints what a process's threads do: the kernel's view twice, as gdb stops them, then their
    stacks. Whether they had a CPU in between is in the difference."""
    print("# load", pathlib.Path("/proc/loadavg").read_text().strip())
    _threads_do(process.pid)
    time.sleep(1)  # between looks
    _threads_do(process.pid)
    if shutil.which("gdb"):
        done = subprocess.run(
            ["gdb", "-p", str(process.pid), "-batch", "-ex", "thread apply all bt"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(*(f"# {line}" for line in done.stdout.splitlines()), sep="\n", flush=True)


def mac(name):
    with open(f"/sys/class/net/{name}/address") as f:
        return bytes.fromhex(f.read().strip().replace(":", ""))


def counter(name, which):
    """A counter of the kernel's: "tx_packets", ..."""
    with open(f"/sys/class/net/{name}/statistics/{which}") as f:
        return int(f.read())


class Raw:
    """Frames in and out of an interface; frames that the interface itself sends are not seen."""

    def __init__(self, name):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.sock.bind((name, ETH_P_ALL))

    def send(self, frame):
        self.sock.send(frame)

    def recv(self, seconds=60):
        """The next received frame, or None at the time-out."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                return None
            frame, addr = self.sock.recvfrom(65536)
            if addr[2] != PACKET_OUTGOING:
                return frame

    def close(self):
        self.sock.close()
