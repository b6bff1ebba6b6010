# SPDX-License-Identifier: BSD-3-Clause
"""--capture: the frames in the file are those that ports received and sent, byte for byte, whatever
is captured, wherever to, and what is missing is counted."""
import glob
import os
import resource
import re
import stat
import struct
import subprocess
import tempfile
import time

import netns

import fwd
import pcapng

COUNT = 2000
FILTER = "udp port 53 or (vlan and ip)"

netns.enter()
tap = netns.Tap()
where = tempfile.TemporaryDirectory()
path = lambda name: os.path.join(where.name, name)


def udp(i):
    """A UDP packet to one of three ports; every fifth one in a VLAN, every seventh without IP."""
    frame = fwd.frame(i)
    if i % 7 == 0:
        return frame
    size = len(frame) - 14
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, size, i, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                     bytes([10, 0, 0, 2])) + struct.pack("!HHHH", 1000, 53 + i % 3, size - 20, 0)
    tag = b"\x81\x00\x00\x05" if i % 5 == 0 else b""
    return frame[:12] + tag + b"\x08\x00" + ip + frame[14 + len(ip):]


frames = [udp(i) for i in range(COUNT)]
others = [udp(i) for i in range(COUNT, COUNT + COUNT // 2)]
fwd.write_pcap(path("a.in"), frames)
fwd.write_pcap(path("b.in"), others)
A, B = (f"pcap:rx={path(n + '.in')},tx={path(n + '.out')}" for n in "ab")
IN, OUT = pcapng.IN, pcapng.OUT


def capture(*args, ports=(A, B), carriers=1):
    """Forwards both files once."""
    end = ["--packets", COUNT + COUNT // 2] if len(ports) == 2 else []
    return fwd.figures(*[x for p in ports for x in ("--port", p)], "--carriers", carriers, *end,
                       *args)


def figures(r):
    return (r.json or {}).get("capture", {"captured": -1, "dropped": -1, "bytes": -1, "files": -1})


def tool(*args):
    """The lines that a reader of capture files prints; None if it fails or complains."""
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    bad = done.returncode != 0 or re.search("truncated|cut short|damaged|error", done.stderr)
    return None if bad else done.stdout.splitlines()


def dumped(lines):
    """The number of frames in tcpdump's lines."""
    return sum(re.match(r"\d\d:\d\d:\d\d\.", line) is not None for line in lines or [])


def everything(file):
    return [file.frames(0, IN), file.frames(1, OUT), file.frames(1, IN), file.frames(0, OUT)]


ALL = [frames, frames, others, others]

# What is forwarded is in the file, on both ports, in both directions.
began = time.time_ns()
r = capture("--capture", path("all.pcapng"))
ended = time.time_ns()
file = pcapng.read(path("all.pcapng"))
sums = {"captured": 6 * COUNT // 2, "dropped": 0, "files": 1,
        "bytes": os.path.getsize(path("all.pcapng"))}
tap.ok(r.rc == 0 and r.err == "" and everything(file) == ALL, "both ports, both directions", r)
tap.ok(figures(r) == sums, "figures in --json", r)
tap.ok(file.names == [A, B] and file.resolution == [9, 9] and
       re.fullmatch(r"haul-fwd \S+ \(haul \S+\)", file.program), "interfaces, program", file.names)
stamps = [f.ns for f in file.all]
tap.ok(began <= min(stamps) and max(stamps) <= ended and stamps == sorted(stamps) and
       len(set(stamps)) > 10, "nanoseconds between start and end, in order", (began, stamps[0]))
tap.ok([s.dropped for s in file.statistics] == [0, 0] and
       [s.received for s in file.statistics] == [6 * COUNT // 4] * 2, "statistics", file.statistics)
tap.ok(stat.S_IMODE(os.stat(path("all.pcapng")).st_mode) == 0o600, "only the owner may read it")

# The field's readers.
lines = dumped(tool("tcpdump", "-nr", path("all.pcapng")))
tap.ok(lines == len(file.all), "tcpdump reads all", lines)
lines = tool("capinfos", "-Tmcx", path("all.pcapng"))
tap.ok(lines and lines[-1].split(",")[1] == str(len(file.all)), "capinfos reads all", lines)
lines = tool("tshark", "-r", path("all.pcapng"), "-T", "fields", "-e", "frame.interface_name",
             "-e", "frame.packet_flags_direction", "-e", "frame.len", "-e", "frame.time_epoch")
known = [f"{file.names[f.port]}\t0x{f.direction:08x}\t{f.len}\t"
         f"{f.ns // 10**9}.{f.ns % 10**9:09}" for f in file.all]
tap.ok(lines and lines == known, "tshark reads all: port, direction, length, time",
       lines and lines[:1] + known[:1])

# A coroutine for each packet, and a port without queues for the second carrier: spread flows.
r = capture("--capture", path("co.pcapng"), "--handler", "coroutine", carriers=2)
file = pcapng.read(path("co.pcapng"))
tap.ok(r.rc == 0 and [sorted(x) for x in everything(file)] == [sorted(x) for x in ALL] and
       file.frames(0, IN) == frames, "coroutines, flows spread over carriers", r)

# Part of it.
r = capture("--capture", path("snap.pcapng"), "--capture-snaplen", 61)
file = pcapng.read(path("snap.pcapng"))
tap.ok(r.rc == 0 and everything(file) == [[f[:61] for f in x] for x in ALL] and
       [f.len for f in file.all if f.port == 0 and f.direction == IN] == [len(f) for f in frames],
       "snap length", r)
for direction, expected in ("rx", [frames, [], others, []]), ("tx", [[], frames, [], others]):
    r = capture("--capture", path("d.pcapng"), "--capture-direction", direction)
    tap.ok(r.rc == 0 and everything(pcapng.read(path("d.pcapng"))) == expected,
           f"direction {direction}", r)
r = capture("--capture", path("p.pcapng"), "--capture-ports", "1")
tap.ok(r.rc == 0 and everything(pcapng.read(path("p.pcapng"))) == [[], frames, others, []],
       "one port of two", r)

# The filter matches what tcpdump matches.
for expression in FILTER, "len > 700", "not ip", "ether[5] = 3":
    r = capture("--capture", path("f.pcapng"), "--capture-filter", expression,
                "--capture-ports", "0", "--capture-direction", "rx")
    subprocess.run(["tcpdump", "-r", path("a.in"), "-w", path("f.pcap"), expression],
                   stderr=subprocess.DEVNULL, check=True)
    expected = fwd.read_pcap(path("f.pcap"))
    tap.ok(r.rc == 0 and 0 < len(expected) < COUNT and
           pcapng.read(path("f.pcapng")).frames(0, IN) == expected and
           figures(r)["captured"] == len(expected) and figures(r)["dropped"] == 0,
           f"filter {expression}: {len(expected)} frames", r)

# Rows of files.
r = capture("--capture", path("row.pcapng"), "--capture-rotate", "100k")
names = sorted(glob.glob(path("row_*.pcapng")))
files = [pcapng.read(name) for name in names]
row = pcapng.join(files)
tap.ok(r.rc == 0 and everything(row) == ALL and figures(r)["files"] == len(names) > 20 and
       all(re.search(r"row_\d{5}_\d{14}\.pcapng$", n) for n in names), "a row of files", (r, names))
tap.ok(all(os.path.getsize(n) <= 100000 + 500 and
           tool("tcpdump", "-nr", n) for n in names) and
       figures(r)["bytes"] == sum(map(os.path.getsize, names)), "each is whole, and small enough",
       [os.path.getsize(n) for n in names])
r = capture("--capture", path("few.pcapng"), "--capture-rotate", "100k", "--capture-files", 3)
kept = sorted(glob.glob(path("few_*.pcapng")))
tail = pcapng.join([pcapng.read(name) for name in kept]).all
tap.ok(r.rc == 0 and len(kept) == 3 and figures(r)["files"] > 20 and
       [f.bytes for f in tail] == [f.bytes for f in row.all][-len(tail):], "the last three", kept)
# Work for each packet, because millions of frames take their reader long.
r = fwd.figures("--port", "null:", "--port", "null:", "--poller", "sleep", "--mode", "rxonly",
                "--capture", path("t.pcapng"), "--capture-rotate", "100ms", "--duration", "500ms",
                "--capture-snaplen", "20", "--capture-filter", "len = 64", "--carriers", 1,
                "--service", "20us")
names = sorted(glob.glob(path("t_*.pcapng")))
tap.ok(r.rc == 0 and 2 <= len(names) == figures(r)["files"] and
       sum(len(pcapng.read(n).all) for n in names) == figures(r)["captured"],
       "a new file after a time", (r, names))

# More than can be written: what is missing is counted, in the file too.
r = fwd.figures("--port", "null:", "--port", "null:", "--duration", "30ms", "--carriers", 2,
                "--capture", path("fast.pcapng"), "--capture-buffer", 1)
seen = pcapng.summary(path("fast.pcapng"))
f = figures(r)
tap.ok(r.rc == 0 and seen.frames == f["captured"] > 0 and seen.dropped == f["dropped"] and
       f["captured"] + f["dropped"] == r.total("rx_packets") + r.total("tx_packets"),
       "null ports at full speed, two carriers: captured + dropped = packets", (r, seen))
os.unlink(path("fast.pcapng"))

# A device that takes no more: frames that are offered again and again appear once.
r = fwd.figures("--port", "ring:", "--mode", "txonly", "--duration", "200ms", "--carriers", 1,
                "--capture", path("again.pcapng"))
file = pcapng.read(path("again.pcapng"))
f = figures(r)
tap.ok(r.rc == 0 and f["captured"] + f["dropped"] == r.total("tx_packets") == 1023 and
       len(file.frames(0, OUT)) == 1023, "frames that are offered again", r)

# A FIFO: without a reader, and with one that does not read before the end.
os.mkfifo(path("fifo"))
r = capture("--capture", path("fifo"))
f = figures(r)
tap.ok(r.rc == 0 and f["captured"] == 0 and f["dropped"] == 3 * COUNT and
       fwd.read_pcap(path("a.out")) == others and fwd.read_pcap(path("b.out")) == frames,
       "a FIFO without a reader: dropped, and all is forwarded", r)
fd = os.open(path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
r = capture("--capture", path("fifo"))
f = figures(r)
file = pcapng.parse(os.read(fd, 1 << 20), torn=True)
tap.ok(r.rc == 0 and len(file.all) == f["captured"] > 0 and
       f["captured"] + f["dropped"] == 3 * COUNT and fwd.read_pcap(path("b.out")) == frames and
       [x.bytes for x in file.frames_of(0, IN)] == frames[:len(file.frames(0, IN))],
       "a reader that does not read: the first frames, the others dropped", r)
os.close(fd)
with fwd.Running("--port", "null:", "--poller", "sleep", "--capture", path("fifo")) as p:
    fd = os.open(path("fifo"), os.O_RDONLY)
    got = os.read(fd, 4096)
    os.close(fd)
    netns.wait_for(lambda: "capture ends" in p.said(), "the line about the reader", 60)
    r = p.end()
tap.ok(r.rc == 1 and got and "fifo: its reader has gone" in r.err and r.err.count("capture") == 1,
       "a reader that goes: a line, exit 1, the program runs on", r)

# Standard output.
args = [fwd.FWD, "--port", A, "--port", B, "--packets", str(3 * COUNT // 2), "--carriers", "1",
        "--capture", "-"]
run = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
reader = subprocess.run(["tcpdump", "-nr", "-"], stdin=run.stdout, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL, text=True)
err = run.stderr.read().decode()
tap.ok(run.wait() == 0 and dumped(reader.stdout.splitlines()) == 3 * COUNT and "total of" in err,
       "stdout to tcpdump, figures to stderr", err)
run = subprocess.Popen([*args[:5], "--capture", "-"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
run.stdout.close()
err = run.stderr.read().decode()
tap.ok(run.wait() == 1 and "standard output: its reader has gone" in err,
       "stdout without a reader: a line, exit 1", err)

# A full disk: the file ends with a whole frame, and forwarding goes on.
os.mkdir(path("small"))
if netns.mount("tmpfs", path("small"), "size=200k"):
    r = capture("--capture", path("small/x.pcapng"))
    f = figures(r)
    file = pcapng.read(path("small/x.pcapng"))
    tap.ok(r.rc == 1 and r.err.count("\n") == 1 and "No space left" in r.err and
           len(file.all) == f["captured"] and f["captured"] + f["dropped"] == 3 * COUNT and
           fwd.read_pcap(path("b.out")) == frames, "a full disk: one line, exit 1", r)
    tap.ok(tool("tcpdump", "-nr", path("small/x.pcapng")) is not None, "the file is whole")
    subprocess.run(["umount", path("small")], check=True)  # else it cannot be removed
else:
    tap.skip("a full disk", "no tmpfs can be mounted here")

# A limited file (ulimit -f): the rings have no part in it.
run = subprocess.run(
    [fwd.FWD, "--port", "null:", "--port", "null:", "--carriers", "2", "--packets", "100000",
     "--capture", path("limited")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)))
said = netns.said(run.stderr)
tap.ok(run.returncode == 1 and said.count("\n") == 1 and "File too large" in said,
       "a limited file: one line, exit 1", said)

# Wrong arguments.
for args, said in (
        (["--capture", path("x"), "--capture-filter", "udp prot 53"], "syntax error"),
        (["--capture", path("x"), "--capture-ports", "2"], "numbers from 0 to 1"),
        (["--capture", path("x"), "--capture-ports", "0,"], "numbers from 0 to 1"),
        (["--capture", path("x"), "--capture-rotate", "60"], "give a size, such as 100M"),
        (["--capture", path("x"), "--capture-rotate", "-1k"], "give a size, such as 100M"),
        (["--capture", path("x"), "--capture-rotate", "nanM"], "give a size, such as 100M"),
        (["--capture", path("x"), "--capture-files", "3"], "needs --capture-rotate"),
        (["--capture", ""], "name of a file"),
        (["--capture", "-"], "both write to stdout"),
        (["--capture", path("no/x")], "cannot write"),
        (["--capture", path("no/x"), "--capture-rotate", "1k"], "cannot write")):
    r = capture(*args)
    tap.ok(r.rc == 2 and r.err.count("\n") == 1 and said in r.err and
           not os.path.exists(path("x")), f"refused: {' '.join(args).replace(where.name, '')}", r)

# The kernel's other end of a wire.
for kind in "afpacket", "afxdp":
    if not netns.can_open(tap, kind):
        continue
    netns.veth("v0", "v1")
    peer = netns.Raw("v1")
    sent = [fwd.frame(i, 60 + i % 1000) for i in range(200)]
    with fwd.Running("--port", f"{kind}:v0", "--mode", "macswap", "--carriers", 1, "--capture",
                     path("wire.pcapng")) as p:
        netns.wait_for(p.runs, "haul-fwd runs", 60)
        for at in range(0, len(sent), 20):
            for frame in sent[at:at + 20]:
                peer.send(frame)
            back = [peer.recv() for _ in range(20)]
        r = p.end()
    file = pcapng.read(path("wire.pcapng"))
    tap.ok(r.rc == 0 and file.frames(0, IN) == sent and file.frames(0, OUT) == fwd.swapped(sent),
           f"{kind}: what the wire has", r)
    netns.ip("link del v0")

tap.done()
