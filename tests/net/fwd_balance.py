# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd --balance: queues leave a carrier that has them all, or one that is not needed; a dry
run says so only."""
import os
import tempfile
import threading

import netns

import fwd
from prompt import Client

QUEUES = 4
BURST = ["--handler", "burst"]


class Load(threading.Thread):
    """Frames of many flows, one after another, at a rate for which one carrier works half of its
    time or more."""

    def __init__(self, interface):
        super().__init__(daemon=True)
        self.end, self.goes = netns.Raw(interface), threading.Event()
        self.start()

    def run(self):
        n = 0
        while not self.goes.wait(0.01):  # the load is a rate
            for _ in range(30):
                self.end.send(bytes.fromhex("020000000001020000000002") + b"\x08\0" +
                              bytes([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, n >> 8 & 255,
                                     n & 255, 10, 9, 0, 1]) + bytes(26))
                n += 1

    def stop(self):
        self.goes.set()
        self.join()
        self.end.close()


def carriers(client):
    """The carrier of each queue of port 0."""
    return {q["queue"]: part["carrier"] for part in client.json()["ports"][0]["queues"]
            for q in part["rx_queues"]}


def running(d, balance, *more, queues=QUEUES):
    return fwd.Running("--port", "afpacket:v0", "--rxq", queues, "--carriers", 2, "--mode",
                       "macswap", "--balance", balance, "--control", os.path.join(d, "control"),
                       "--service", "200us", *more)


def all_on_one(d, haul):
    netns.wait_for(haul.runs, "haul-fwd to run")
    client = Client(os.path.join(d, "control"), haul)
    for queue in range(QUEUES):
        client.ask(f"set queue 0 {queue} carrier 0")
    return client


netns.enter()
tap = netns.Tap()
netns.veth("v0", "v1")
for poller in "spin", "block":
    with tempfile.TemporaryDirectory() as d:
        load = Load("v1")
        with running(d, "all", "--poller", poller, *BURST) as haul:
            client = all_on_one(d, haul)
            netns.wait_for(lambda: set(carriers(client).values()) == {0, 1}, "a queue to move")
            r = haul.end()
        load.stop()
    tap.ok(r.rc == 0 and r.json["balance"]["moves"] > 0 and
           r.json["balance"]["carriers_in_use"] == 2,
           f"{poller}: queues leave the carrier that has them all", r)

# One queue, whose flows are spread: its buckets move, its carrier stays in use.
for handler in "burst", "coroutine":
    with tempfile.TemporaryDirectory() as d:
        load = Load("v1")
        with running(d, "all", "--handler", handler, "--spread", "all", queues=1) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            client = Client(os.path.join(d, "control"), haul)
            for bucket in range(64, 128):
                client.ask(f"set bucket 0 {bucket} carrier 0")
            netns.wait_for(lambda: "carrier 1" in client.ask("show buckets 0"), "buckets to move")
            r = haul.end()
        load.stop()
    tap.ok(r.rc == 0 and r.json["balance"]["moves"] > 0,
           f"{handler}: buckets leave the carrier that has them all", r)
with tempfile.TemporaryDirectory() as d:
    load = Load("v1")
    with running(d, "dry", "--spread", "all", queues=1) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(os.path.join(d, "control"), haul)
        for bucket in range(64, 128):
            client.ask(f"set bucket 0 {bucket} carrier 0")
        netns.wait_for(lambda: "--balance all would move bucket" in haul.said(), "what would move")
        r = haul.end()
    load.stop()
    tap.ok(r.rc == 0 and r.json["balance"]["moves"] == 0, "a dry run names buckets", r)
with tempfile.TemporaryDirectory() as d:
    with running(d, "few", "--spread", "all", queues=1) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(os.path.join(d, "control"), haul)
        netns.wait_for(lambda: "carrier 1" not in client.ask("show buckets 0"), "carrier 1 left")
        r = haul.end()
    tap.ok(r.rc == 0 and r.json["balance"]["carriers_in_use"] == 1,
           "without a load the carrier of the queue is left", r)

with tempfile.TemporaryDirectory() as d:
    with running(d, "few", *BURST) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(os.path.join(d, "control"), haul)
        netns.wait_for(lambda: set(carriers(client).values()) == {0}, "carrier 1 to be left")
        netns.wait_for(lambda: client.json()["carriers"][1]["slept_ns"] > 0, "carrier 1 to sleep")
        load = Load("v1")
        polled = client.json()["ports"][0]["rx_packets"]
        netns.wait_for(lambda: client.json()["ports"][0]["rx_packets"] > polled + 1000, "packets")
        load.stop()
        r = haul.end()
    tap.ok(r.rc == 0, "without a load one carrier is left, and sleeps", r)

with tempfile.TemporaryDirectory() as d:
    load = Load("v1")
    with running(d, "dry", *BURST) as haul:
        client = all_on_one(d, haul)
        netns.wait_for(lambda: "--balance all would move queue" in haul.said(), "what would move")
        where = carriers(client)
        r = haul.end()
    load.stop()
    tap.ok(r.rc == 0 and set(where.values()) == {0} and r.json["balance"]["moves"] == 0,
           "a dry run says what would move", (where, r))

for args, want in ((["--carriers", 1], "with one carrier; give --carriers 2 or more"),
                   (["--carriers", 2, "--rxq", 1, "--spread", "off"],
                    "no queue or bucket can move")):
    r = fwd.run("--port", "null:", "--balance", "all", *args)
    tap.ok(r.rc == 2 and want in r.err.splitlines()[-1], " ".join(map(str, args)), r)
tap.done()
