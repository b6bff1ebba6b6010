# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd --times and --hist: stages in JSON, text and files, the kernel's receive timestamps,
and the share of time that carriers worked, polled in vain and slept."""
import os
import re
import socket
import tempfile
import time

import netns

import fwd

KEYS = {"count", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"}
STAGES = {"arrival", "start", "handler", "transmit"}


def in_order(stage):
    figures = [stage[k] for k in ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")]
    return figures == sorted(figures) and set(stage) == KEYS


def hgrm(path):
    """(value, percentile, count) of each line, and the footer's maximum and count."""
    rows, footer = [], {}
    with open(path, encoding="ascii") as f:
        for line in f:
            if line.startswith("#["):
                for part in line.strip("#[]\n").split(","):
                    key, value = part.split("=")
                    footer[key.strip()] = float(value)
            elif line.strip() and "Value" not in line:
                rows.append([float(x) for x in line.split()[:3]])
    return rows, footer


def stages(tap, directory, handler):
    r = fwd.figures("--port", "null:", "--port", "null:", "--carriers", 1, "--handler", handler,
                    "--packets", 20000, "--hist", f"{directory}/{handler}.hgrm")
    ports = r.json["ports"] if r.json else []
    tap.ok(len(ports) == 2 and all(set(p["latency"]) == STAGES and
                                   all(map(in_order, p["latency"].values())) for p in ports),
           f"{handler}: each port has its stages", r)
    tap.ok(all(p["latency"][s]["count"] == p["rx_packets"] for p in ports
               for s in ("start", "handler")) and
           all(p["latency"]["transmit"]["count"] == p["tx_packets"] for p in ports),
           f"{handler}: each packet is in each stage", r)
    for i, port in enumerate(ports):
        for stage in "start", "handler", "transmit":
            rows, footer = hgrm(f"{directory}/{handler}-port{i}-{stage}.hgrm")
            of = port["latency"][stage]
            median = next(row[0] for row in rows if row[1] >= 0.5)
            tap.ok(rows == sorted(rows) and rows[-1][1:] == [1, of["count"]] and
                   footer["Total count"] == of["count"] and
                   abs(footer["Max"] * 1000 - of["max_ns"]) < 1 and
                   abs(median * 1000 - of["p50_ns"]) < 1,
                   f"{handler}: port {i}, {stage}: the file says the same", (footer, of))
    files = [f for f in os.listdir(directory) if f.startswith(handler)]
    tap.ok(len(files) == 6, f"{handler}: no file for a stage without packets", files)


def text(tap):
    r = fwd.run("--port", "null:", "--carriers", 1, "--packets", 1000, "--period", 0, "--times")
    rows = [line.split() for line in r.out.splitlines() if line.strip().startswith("port0-")]
    tap.ok(r.rc == 0 and [row[0] for row in rows] == ["port0-start", "port0-handler",
                                                      "port0-transmit"] and
           all(len(row) == 7 and int(row[1]) >= 1000 for row in rows), "a table for people", r)
    tap.ok(all(len(line) <= 80 for line in r.out.splitlines()), "in 80 columns", r)
    r = fwd.figures("--port", "null:", "--carriers", 1, "--packets", 1000)
    tap.ok(r.json and "latency" not in r.json["ports"][0], "no stages unless asked for", r)


def refused(tap, directory):
    for name, code in ((f"{directory}/none/x", 1), (f"{directory}/", 2), ("", 2)):
        r = fwd.run("--port", "null:", "--packets", 1, "--hist", name)
        tap.ok(r.rc == code and len(r.err.splitlines()) == 1 and "--hist" in r.err,
               f"--hist '{name}' is refused at once", r)
    os.symlink("/dev/full", f"{directory}/full-port0-start.hgrm")
    r = fwd.run("--port", "null:", "--carriers", 1, "--packets", 1000,
                "--hist", f"{directory}/full")
    tap.ok(r.rc == 1 and "full-port0-start.hgrm" in r.err and "No space" in r.err,
           "a file that cannot be written is an error", r)


def arrivals(tap, handler):
    """The kernel's timestamps. What the ring holds before the poller comes is old when it does."""
    netns.veth("v0", "v1")
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    with fwd.Running("--port", "pcap:iface=v0", "--carriers", 1, "--mode", "rxonly", "--handler",
                     handler, "--times") as running:
        netns.wait_for(running.runs, "haul-fwd to run")
        netns.wait_up("v1")
        out.bind(("v1", 0))
        began = time.monotonic()
        for i in range(200):
            out.send(fwd.frame(i))
        netns.wait_for(lambda: counter("v0", "rx_packets") >= 200, "frames to arrive")

        def are_taken():
            rates = re.findall(r"^  port 0 .* rx +(\S+)", running.said(), re.M)
            return any(rate != "0.00" for rate in rates) and rates[-1] == "0.00" or \
                running.process.poll() is not None
        netns.wait_for(are_taken, "a report of frames, and one of none")
        r = running.end()
        took = time.monotonic() - began
    out.close()
    netns.ip("link del v0")
    stage = r.port(0)["latency"]["arrival"] if r.json else {}
    # libpcap's ring may be too small for all of them.
    tap.ok(r.rc == 0 and stage["count"] == r.total("rx_packets") > 0,
           f"pcap, {handler}: each packet has its arrival", r)
    # A wrong unit or clock would be off by orders of magnitude.
    tap.ok(r.rc == 0 and 0 < stage["p50_ns"] and stage["max_ns"] < took * 1e9 + 1e7,
           f"pcap, {handler}: no packet is older than the test", stage)


def counter(iface, name):
    with open(f"/sys/class/net/{iface}/statistics/{name}", encoding="ascii") as f:
        return int(f.read())


def capture_files(tap, directory):
    """The time of a capture is not that of an arrival."""
    path = f"{directory}/in.pcap"
    fwd.write_pcap(path, [fwd.frame(i) for i in range(10)])
    r = fwd.figures("--port", f"pcap:rx={path}", "--mode", "rxonly", "--packets", 10, "--times")
    tap.ok(r.json and r.port(0)["latency"]["arrival"]["count"] == 0 and
           r.port(0)["latency"]["handler"]["count"] == 10, "a capture file has no arrivals", r)


def shares(tap):
    for poller, spec, most in (("spin", "null:", "work"), ("spin", "null:no-rx=1", "empty"),
                               ("sleep:1000", "null:no-rx=1", "asleep"),
                               ("adaptive:100", "tap:t0", "asleep"), ("block", "tap:t0", "asleep")):
        if spec.startswith("tap") and not netns.can_open(tap, "tap", f"{poller}: share"):
            continue
        r = fwd.figures("--port", spec, "--carriers", 1, "--poller", poller, "--duration", 1)
        share = r.json["carriers"][0]["share"] if r.json else {"": 0}
        tap.ok(r.rc == 0 and set(share) == {"work", "empty", "asleep"} and
               abs(sum(share.values()) - 1) < 0.01 and max(share, key=share.get) == most,
               f"{poller}, {spec}: mostly {most}", share)
        print(f"# {poller}, {spec}: {share}")


def main():
    tap = netns.Tap()
    with tempfile.TemporaryDirectory(prefix="haul") as directory:
        for handler in "burst", "coroutine":
            stages(tap, directory, handler)
            arrivals(tap, handler)
        capture_files(tap, directory)
        refused(tap, directory)
    text(tap)
    shares(tap)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main()
