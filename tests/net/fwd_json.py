# SPDX-License-Identifier: BSD-3-Clause
"""The output of --json: its fields, its sums, with one carrier, two, and more than CPUs."""
import os
import tempfile

import netns

import fwd

PORT = {"spec": str, "queues": list, "rx_packets": int, "rx_bytes": int, "tx_packets": int,
        "tx_bytes": int, "bytes_known": bool, "dropped": dict}
QUEUE = {"carrier": int, "rx_packets": int, "rx_bytes": int, "tx_packets": int, "tx_bytes": int,
         "polls": int, "empty_polls": int}
CARRIER = {"id": int, "cpu": int, "cluster": int, "rounds": int, "slices": int, "spawned": int,
           "parks": int, "rx_packets": int, "rx_bytes": int, "tx_packets": int, "tx_bytes": int,
           "polls": int, "empty_polls": int, "held_polls": int, "in_flight": int,
           "sleeps": int, "wakes": int, "slept_ns": int,
           "wake_p50_ns": int, "wake_p99_ns": int}


def typed(thing, fields):
    return set(thing) >= set(fields) and all(type(thing[k]) is t for k, t in fields.items())


def is_whole(r, mode, handler, ports, carriers):
    j = r.json
    return r.rc == 0 and j is not None and j["mode"] == mode and j["handler"] == handler and \
        isinstance(j["seconds"], float) and len(j["ports"]) == ports and \
        len(j["carriers"]) == carriers and all(typed(p, PORT) for p in j["ports"]) and \
        all(typed(c, CARRIER) for c in j["carriers"]) and \
        all(set(p["dropped"]) == fwd.REASONS for p in j["ports"]) and \
        [c["id"] for c in j["carriers"]] == list(range(carriers)) and \
        all(typed(q, QUEUE) for p in j["ports"] for q in p["queues"]) and \
        all(len(p["queues"]) == carriers for p in j["ports"]) and \
        all(sum(q[k] for q in p["queues"]) == p[k] for p in j["ports"]
            for k in ("rx_packets", "tx_packets")) and \
        all(sum(c[k] for c in j["carriers"]) == r.total(k)
            for k in ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes")
            if all(p["bytes_known"] for p in j["ports"]) or "packets" in k)


netns.enter()
tap = netns.Tap()
cpus = len(os.sched_getaffinity(0))
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "caf\u00e9-\udcff\udce2\udc82.pcap")
    r = fwd.figures("--port", "null:", "--port", f"pcap:tx={path}", "--packets", 100)
    tap.ok(r.json and r.json["ports"][1]["spec"].endswith("/caf\u00e9-\ufffd\ufffd\ufffd.pcap"),
           "a spec that is not UTF-8", r.json and r.json["ports"][1].get("spec"))
CARRIERS, HANDLERS = (1, 2, cpus + 1), ("burst", "coroutine")
for carriers, handler, mode in netns.some(CARRIERS, HANDLERS,
                                          ("io", "mac", "macswap", "rxonly", "txonly")):
    name = f"{mode}, {handler}, {carriers} carriers"
    # Coroutines of txonly send beside handlers, and --packets counts received packets.
    end = (("--duration", "0.1") if mode == "txonly" and handler == "coroutine" else
           ("--packets", 20000))
    r = fwd.figures("--port", "null:", "--port", "null:", "--mode", mode, "--handler",
                    handler, "--carriers", carriers, *end)
    rx, tx = r.total("rx_packets"), r.total("tx_packets")
    tap.ok(is_whole(r, mode, handler, 2, carriers), f"{name}: fields and sums", r)
    tap.ok((rx == tx > 0) if mode in ("io", "mac", "macswap") else
           (rx == r.dropped("consumed") > 0 and tx == 0) if mode == "rxonly" else (tx > 0),
           f"{name}: packets", r)
    # Byte counts are free in modes that read the packets; a null port counts none by
    # itself before DPDK 25.07.
    known = r.port(0)["bytes_known"]
    tap.ok((known or mode == "io") and
           (not known or r.port(0)["rx_bytes"] == 64 * r.port(0)["rx_packets"]),
           f"{name}: bytes", r)
    if handler == "coroutine":
        started = sum(c["slices"] for c in r.json["carriers"])
        tap.ok(started >= rx and sum(c["spawned"] for c in r.json["carriers"]) >= rx,
               f"{name}: a coroutine for each packet", r)
# A ring port counts no bytes by itself.
for mode, counts in netns.some(("io", "macswap"), ("auto", "on", "off")):
    r = fwd.figures("--port", "ring:", "--tx-first", 1, "--mode", mode, "--count-bytes", counts,
                    "--carriers", 1, "--packets", 2000)
    counted = counts == "on" or (counts == "auto" and mode == "macswap")
    tap.ok(r.rc == 0 and r.port(0)["bytes_known"] == counted and
           r.port(0)["rx_bytes"] == counted * 64 * r.port(0)["rx_packets"],
           f"{mode}: --count-bytes {counts}", r)
# The first packets circulate; at the end all of them are back in the pool.
for turn, carriers in enumerate(CARRIERS):
    for handler in netns.share(HANDLERS, turn):
        name = f"ring, {handler}, {carriers} carriers"
        r = fwd.figures("--port", "ring:", "--port", "ring:", "--tx-first", 3, "--handler",
                        handler, "--carriers", carriers, "--packets", 50000)
        first = 3 * 32 * carriers
        tap.ok(is_whole(r, "io", handler, 2, carriers), f"{name}: fields and sums", r)
        tap.ok(all(p["rx_packets"] <= q["tx_packets"] + first and r.dropped() == 0
                   for p, q in ((r.port(0), r.port(1)), (r.port(1), r.port(0)))),
               f"{name}: nothing comes from nowhere", r)

r = fwd.figures("--port", "null:", "--carriers", f"{cpus - 1}-{cpus - 1}", "--packets", 100)
tap.ok(r.rc == 0 and [c["cpu"] for c in r.json["carriers"]] == [cpus - 1],
       "a list of CPUs is where carriers run", r)
r = fwd.run("--port", "null:", "--carriers", 1, "--packets", 100, "--json", "--period", "0.01",
            "--duration", 20)
tap.ok(r.json is not None and r.rc == 0, "stdout holds the object and nothing else", r)
r = fwd.run("--port", "null:", "--carriers", 1, "--duration", "0.5", "--period", "0.1")
tap.ok(r.rc == 0 and r.out.count("pps") > 8 and "total of " in r.out and
       "carrier 0" in r.out and r.err == "",
       "for people: rates once a period, then totals", r)
r = fwd.run("--port", "null:", "--carriers", 1, "--duration", "0.2", "--period", "0")
tap.ok(r.rc == 0 and r.out.startswith("total of"), "--period 0: totals only", r)
tap.done()
