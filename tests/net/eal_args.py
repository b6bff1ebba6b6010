# SPDX-License-Identifier: BSD-3-Clause
"""Starting EAL: the arguments that a user may add, and the errors for those that are refused.

Usage: eal_args.py PROBE THIEF ENDER
"""
import errno
import os
import re
import subprocess
import sys
import tempfile

import netns
import tap
from probe import Ended, Error, Probe, refused

E = errno
ENDED = -E.EINVAL & 0xFF  # the status of a program that EAL has ended
WRONG = [  # the user's arguments, the error, parts of its line; since DPDK 25.11 the second one
    (["--foo"], E.EINVAL, "unrecognized option '--foo'", "unknown argument --foo"),
    (["-Z"], E.EINVAL, "invalid option -- 'Z'", "unknown argument -Z"),
    (["--iova-mode"], E.EINVAL, "option '--iova-mode' requires an argument",
     "argument --iova-mode doesn't have value"),
    (["--lcores=0"], E.EINVAL, "'--lcores=0': lcores follow from the carriers"),
    (["-l", "0-1"], E.EINVAL, "'-l': lcores follow from the carriers"),
    (["-c3"], E.EINVAL, "'-c3': lcores follow from the carriers"),
    (["--main-lcore", "1"], E.EINVAL, "'--main-lcore': lcores follow from the carriers"),
    (["--coremask=3"], E.EINVAL, "'--coremask=3': lcores follow from the carriers"),
    (["--lcor=0"], E.EINVAL, "'--lcor=0': lcores follow from the carriers"),
    (["--proc-type=secondary"], E.EINVAL, "a program of haul is a primary process"),
    (["--proc-type", "auto"], E.EINVAL, "a program of haul is a primary process"),
    (["--proc=secondary"], E.EINVAL, "a program of haul is a primary process"),
    (["--remap-lcore-ids"], E.EINVAL, "'--remap-lcore-ids': lcores follow from the carriers"),
    (["-d", "/none.so"], E.EINVAL, "/none.so: cannot open shared object file"),
    (["--vdev=net_none0"], E.ENODEV, 'failed to parse device "net_none0"'),
    (["x"], E.EINVAL, "'x': it belongs to no option"),
    ([""], E.EINVAL, "'': it belongs to no option"),
    (["--no-huge", "--", "y"], E.EINVAL, "'y': it belongs to no option"),
    (["--no-huge", "--in-memory"], E.EINVAL, "it takes 512 MB of huge pages"),
]

t = tap.Tap()
program, thief, ender = map(os.path.abspath, sys.argv[1:4])


def fails(*args, **more):
    """The error, and the program's other output. If EAL ends the program, the error is the line
    that is printed."""
    with tempfile.TemporaryFile("w+") as out:
        try:
            Probe(program, *args, stderr=out, **more).quit()
        except Error as e:
            out.seek(0)
            return e, out.read()
        except Ended as e:
            out.seek(0)
            line, _, rest = out.read().partition("\n")
            start = os.path.basename(program) + ": DPDK cannot start: "
            if e.status == ENDED and line.startswith(start):
                return Error(E.EINVAL, line[len(start):]), rest
            return None, line + rest
    return None, ""


def preload(library):
    return {"env": {"LD_PRELOAD": library, "ASAN_OPTIONS": "verify_asan_link_order=0:" +
                    os.environ.get("ASAN_OPTIONS", "")}}


for args, number, *texts in WRONG:
    e, printed = fails(eal=args)
    t.ok(e and e.number == number and any(text in e.line for text in texts) and printed == "",
         " ".join(args), f"{e} {printed}")
e, printed = fails(eal=["--foo"], **preload(ender))
t.ok(e and e.line == "the argument --foo is unknown" and printed == "",
     "an EAL that ends the program: the reason is printed, and nothing else", f"{e} {printed}")
e, printed = fails("-c", "128")
t.ok(e and "use at most 127 carriers" in e.line and printed == "", "128 carriers", e)
# With huge pages, -m sets the initial size of EAL's memory, not its limit.
e, _ = fails(mem_mb=16, mbufs=20000, eal=["--no-huge"])
t.ok(e and "no memory for 20000 packet buffers" in e.line and "-m 114 or more" in e.line,
     "a pool larger than the memory", e)
e, _ = fails(mem_mb=64, mbufs=os.sysconf("SC_PHYS_PAGES") * 2, eal=["--no-huge"])
t.ok(e and re.search(r"they take \d+ MB, and \d+ MB are free; use fewer$", e.line),
     "a pool larger than the machine", e)

e, _ = fails(mem_mb=os.sysconf("SC_PHYS_PAGES") >> 7, mbufs=512)
t.ok(e and e.number == E.ERANGE and "MB are free; use fewer queues, carriers" in e.line,
     "an EAL larger than the machine", e)

with tempfile.TemporaryFile("w+") as out:
    probe = Probe(program, stderr=out)
    port = probe.open("net_null0").start()
    port.close()
    t.ok(probe.quit() == 0, "without arguments")
    out.seek(0)
    printed = out.read()
    t.ok(printed == "", "nothing is printed when all is well", printed)

probe = Probe(program, eal=["--no-huge"])
t.ok(probe.ask("hugepages") == "0 " and probe.quit() == 0, "--no-huge")
probe = Probe(program, eal=["--no-huge", "--no-pci", "--no-shconf", "--no-huge"])
t.ok(probe.ask("hugepages") == "0 " and probe.quit() == 0, "switches that haul gives, too, twice")
probe = Probe(program, eal=["--vdev=net_null3,size=64", "-m256", "--iova-mode=va"])
t.ok(probe.open("net_null4").start().count(10)[0] == 10 and probe.quit() == 0,
     "vdevs and memory of the user's own")
probe = Probe(program, "-c", "127")
t.ok(probe.quit() == 0, "127 carriers")
probe = Probe(program, "-p")
try:
    probe.open("pci:0000:ff:1f.7")
except Error as e:
    t.ok("there is no such PCI device" in e.line and probe.quit() == 0, "with PCI devices", e)

def descriptors(probe):
    """The probe's open descriptors, without details that differ between starts."""
    folder = f"/proc/{probe.process.pid}/fd"
    return sorted(re.sub(r"\d+", "N", os.readlink(os.path.join(folder, fd)))
                  for fd in os.listdir(folder))


# Another program takes the free huge pages while EAL starts.
preloaded = preload(thief)
probe = Probe(program, "-c", "2", eal=["--vdev=net_null3", "--no-huge"])
expected = descriptors(probe)
probe.quit()
probe = Probe(program, "-c", "2", eal=["--vdev=net_null3"], **preloaded)
with open(f"/proc/{probe.process.pid}/cmdline") as f:
    words = f.read().split("\0")[:-1]
with open(f"/proc/{probe.process.pid}/comm") as f:
    comm = f.read().strip()
notice = probe.ask("hugepages")
t.ok(notice.startswith("0 free huge pages could not be mapped"),
     "huge pages that are lost meanwhile: the program begins anew", notice)
t.ok(words == probe.process.args and comm == os.path.basename(program)[:15],
     "it has its arguments and its name", (words, comm))
t.ok(descriptors(probe) == expected, "it has nothing open of the first start",
     (descriptors(probe), expected))
t.ok(probe.open("null:").start().count(10)[0] == 10 and probe.quit() == 0, "and it works")
e, printed = fails("-o", **preloaded)
t.ok(e and e.number == E.EAGAIN and "free huge pages could not be mapped" in e.line and
     printed == "", "a program that may not begin anew says so", (e, printed))

# Few pages are used: a process does not take the pages of others.
SMALL = {"mem_mb": 8, "mbufs": 512}
try:
    probe = Probe(program, "-o", **SMALL)
    huge, notice = probe.ask("hugepages").split(" ", 1)
    if huge == "1":
        t.ok(notice == "" and probe.is_whole(), "huge pages are taken", notice)
    else:
        t.skip("huge pages are taken", "fewer than 8 MB of them are free")
    t.ok(probe.quit() == 0, "and given back")
except Error as e:
    t.ok(e.number == E.EAGAIN, "huge pages are taken", e)
    t.skip("and given back", "another program was faster")
with open("/proc/meminfo") as f:
    meminfo = dict(line.split(":") for line in f)
reserved = int(meminfo["HugePages_Total"]) * int(meminfo["Hugepagesize"].split()[0]) >> 10
probe = Probe(program, mem_mb=reserved + 64, mbufs=512)
notice = probe.ask("hugepages")
t.ok(notice == (f"0 {reserved + 64} MB of huge pages are needed, but fewer are free: packets are "
                "in ordinary pages" if reserved else "0 "), "fewer than needed are told of", notice)
probe.quit()

with tempfile.TemporaryDirectory() as d:
    os.makedirs(os.path.join(d, "dpdk", "haul-1"))
    os.utime(os.path.join(d, "dpdk", "haul-1"), (0, 0))
    os.makedirs(os.path.join(d, "dpdk", "other"))
    probe = Probe(program, env={"RUNTIME_DIRECTORY": d})
    during = os.listdir(os.path.join(d, "dpdk"))
    probe.quit()
    after = os.listdir(os.path.join(d, "dpdk"))
    t.ok(f"haul-{probe.process.pid}" in during and after == ["other"],
         "the directory of its sockets goes, and what a killed one left", (during, after))


def sockets(probe):
    """The paths of the probe's telemetry sockets, as the kernel knows them."""
    with open("/proc/net/unix") as f:
        return [line.split()[-1] for line in f
                if line.rstrip().endswith(f"/haul-{probe.process.pid}/dpdk_telemetry.v2")]


def trap(base, name):
    """Puts a link to another user's directory in the place of a killed program's one; the link's
    target must stay."""
    victim = os.path.join(base, "victim-" + name)
    os.makedirs(victim)
    kept = os.path.join(victim, "dpdk_telemetry.v2")
    open(kept, "w").close()
    os.utime(victim, (0, 0))
    os.symlink(victim, os.path.join(base, "dpdk", name))
    return kept


def of_others(base):
    os.mkdir(os.path.join(base, "dpdk"))
    if os.geteuid() == 0:
        os.chown(os.path.join(base, "dpdk"), 65534, 65534)
    else:
        os.chmod(os.path.join(base, "dpdk"), 0o757)


def for_others(base):
    os.mkdir(os.path.join(base, "dpdk"))
    os.chmod(os.path.join(base, "dpdk"), 0o770)


def by_link(base):
    os.mkdir(os.path.join(base, "elsewhere"))
    os.symlink("elsewhere", os.path.join(base, "dpdk"))


def replaceable(base):
    os.mkdir(os.path.join(base, "dpdk"), 0o700)
    os.chmod(base, 0o777)


def in_anothers(base):
    os.mkdir(os.path.join(base, "dpdk"), 0o700)
    os.chown(base, 65534, 65534)


more = ((in_anothers, "in somebody else's"),) if os.geteuid() == 0 else ()
for make, what in more + ((of_others, "somebody else's"), (for_others, "a group's to write"),
                   (by_link, "a link"), (replaceable, "where anybody may rename it")):
    with tempfile.TemporaryDirectory() as d:
        make(d)
        kept = trap(d, "haul-1")
        probe = Probe(program, env={"RUNTIME_DIRECTORY": d})
        fresh = sockets(probe)
        modes = [os.stat(f.split("/dpdk/")[0]).st_mode & 0o777 for f in fresh]
        there = os.listdir(os.path.join(d, "dpdk"))
        t.ok(fresh and fresh[0].startswith("/tmp/haul-") and modes == [0o700] and
             there == ["haul-1"] and os.path.exists(kept),
             f"a run directory that is {what} is left alone", (fresh, modes, there))
        t.ok(probe.quit() == 0 and not os.path.exists(fresh[0].split("/dpdk/")[0]),
             "and the fresh one goes at the end", fresh)
with tempfile.TemporaryDirectory() as d:
    of_others(d)
    probe = Probe(program, env={"RUNTIME_DIRECTORY": d})
    left = os.path.dirname(sockets(probe)[0])
    probe.kill()
    for path in left, left.split("/dpdk/")[0]:
        os.utime(path, (0, 0))
    Probe(program, env={"RUNTIME_DIRECTORY": d}).quit()
    t.ok(not os.path.exists(left.split("/dpdk/")[0]), "a killed program's goes at the next start")
with tempfile.TemporaryDirectory() as d:
    os.mkdir(os.path.join(d, "dpdk"))
    kept = trap(d, "haul-1")
    Probe(program, env={"RUNTIME_DIRECTORY": d}).quit()
    t.ok(os.path.exists(kept), "the sweep follows no link")



def limited(option, values):
    """(successful starts, error lines of the failed ones, their other output)."""
    worked, lines, besides = 0, [], ""
    # The leak sanitizer needs a thread and descriptors of its own.
    env = {"ASAN_OPTIONS": "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")}
    for value in values:
        e, printed = fails("-c", "4", under=["prlimit", f"--{option}={value}"], env=env)
        worked += e is None
        lines += [e.line] if e else []
        besides += printed
    return worked, lines, besides


worked, lines, besides = limited("nofile", range(16, 80, 3))
t.ok(worked and lines and all("descriptors are needed for 4 carriers" in line and "ulimit -n" in
                              line for line in lines) and besides == "", "few descriptors",
     (worked, lines, besides))

help_text = subprocess.run([program, "--", "--help"], stdout=subprocess.PIPE, text=True).stdout
t.ok("--file-prefix" in help_text, "EAL's own help")

netns.enter(as_user=True)
if os.access(program, os.X_OK):
    with tempfile.TemporaryFile("w+") as out:
        probe = Probe(program, mem_mb=64, mbufs=4096, stderr=out)
        netns.veth("v0", "v1")
        port = probe.open("afpacket:v0").start()
        port.close()
        e = refused(probe, "afxdp:v0")
        t.ok(e.number == E.EPERM and "run as root" in e.line and "afpacket:v0" in e.line,
             "as an unprivileged user: XDP is refused, and what to use is said", e)
        t.ok(probe.quit() == 0, "as an unprivileged user")
        out.seek(0)
        printed = out.read()
        t.ok(printed == "", "as an unprivileged user: nothing is printed", printed)
    worked, lines, besides = limited("nproc", range(2, 16))
    t.ok(worked and lines and all("threads are needed for 4 carriers" in line for line in lines) and
         besides == "", "few threads", (worked, lines, besides))
else:
    t.skip("as an unprivileged user", f"this user may not run {program}")
t.done()
