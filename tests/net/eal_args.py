# SPDX-License-Identifier: BSD-3-Clause
"""Starting EAL: the arguments that a user may add, and what is said of those that he may not.

Usage: eal_args.py PROBE
"""
import errno
import os
import subprocess
import sys
import tempfile

import netns
import tap
from probe import Error, Probe, refused

E = errno
WRONG = [  # the user's arguments, the error, what its line says
    (["--foo"], E.EINVAL, "unrecognized option '--foo'"),
    (["-Z"], E.EINVAL, "invalid option -- 'Z'"),
    (["--iova-mode"], E.EINVAL, "option '--iova-mode' requires an argument"),
    (["--lcores=0"], E.EINVAL, "'--lcores=0': lcores follow from the carriers"),
    (["-l", "0-1"], E.EINVAL, "'-l': lcores follow from the carriers"),
    (["-c3"], E.EINVAL, "'-c3': lcores follow from the carriers"),
    (["--main-lcore", "1"], E.EINVAL, "'--main-lcore': lcores follow from the carriers"),
    (["-d", "/none.so"], E.EINVAL, "/none.so: cannot open shared object file"),
    (["--vdev=net_none0"], E.ENODEV, 'failed to parse device "net_none0"'),
    (["--no-huge", "--in-memory"], E.EINVAL, "it takes 512 MB of huge pages"),
]

t = tap.Tap()
program = os.path.abspath(sys.argv[1])


def fails(*args, **more):
    """The error, and what the program printed besides it."""
    with tempfile.TemporaryFile("w+") as out:
        try:
            Probe(program, *args, stderr=out, **more).kill()
        except Error as e:
            out.seek(0)
            return e, out.read()
    return None, ""


for args, number, text in WRONG:
    e, printed = fails(eal=args)
    t.ok(e and e.number == number and text in e.line and printed == "", " ".join(args),
         f"{e} {printed}")
e, printed = fails("-c", "128")
t.ok(e and "use at most 127 carriers" in e.line and printed == "", "128 carriers", e)
# With huge pages, -m is where EAL's memory begins and not where it ends.
e, _ = fails(mem_mb=16, mbufs=20000, eal=["--no-huge"])
t.ok(e and "no memory for 20000 packet buffers" in e.line and "-m 114 or more" in e.line,
     "a pool larger than the memory", e)

with tempfile.TemporaryFile("w+") as out:
    probe = Probe(program, stderr=out)
    port = probe.open("net_null0").start()
    port.close()
    t.ok(probe.quit() == 0, "without arguments")
    out.seek(0)
    printed = out.read()
    t.ok(printed == "", "nothing is printed when all is well", printed)

probe = Probe(program, eal=["--no-huge"])
t.ok(probe.ask("hugepages") == "0" and probe.quit() == 0, "--no-huge")
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

with open("/proc/meminfo") as f:
    meminfo = dict(line.split(":") for line in f)
free = int(meminfo["HugePages_Free"]) * int(meminfo["Hugepagesize"].split()[0])
if free > 600 << 10:
    probe = Probe(program)
    t.ok(probe.ask("hugepages") == "1" and probe.quit() == 0, "huge pages are taken")
else:
    t.skip("huge pages are taken", "fewer than 600 MB of them are free")

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

help_text = subprocess.run([program, "--", "--help"], stdout=subprocess.PIPE, text=True).stdout
t.ok("EAL common options" in help_text, "EAL's own help")

netns.enter(as_user=True)
if os.access(program, os.X_OK):
    with tempfile.TemporaryFile("w+") as out:
        probe = Probe(program, mem_mb=64, mbufs=4096, stderr=out)
        port = probe.open("tap:t0").start()
        port.close()
        netns.veth("v0", "v1")
        e = refused(probe, "afxdp:v0")
        t.ok(e.number == E.EPERM and "run as root" in e.line and "afpacket:v0" in e.line,
             "as an unprivileged user: XDP is refused, and what to use is said", e)
        t.ok(probe.quit() == 0, "as an unprivileged user")
        out.seek(0)
        printed = out.read()
        t.ok(printed == "", "as an unprivileged user: nothing is printed", printed)
else:
    t.skip("as an unprivileged user", f"this user may not run {program}")
t.done()
