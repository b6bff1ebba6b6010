# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd's receive queues, or buckets of one that is spread, move between carriers while packets
flow, and carriers are taken out of use and into it again: each packet comes back once, and those of
a flow in order. HAUL_MOVES: how many moves for each kind of port and poller."""
import collections
import os
import random
import re
import tempfile
import threading

import netns

import fwd
from prompt import Client

MOVES = int(os.environ.get("HAUL_MOVES", 12 if netns.fewer() else 40))
QUEUES, BUCKETS, CARRIERS, FLOWS = 4, 128, 3, 24
TABLE = 64  # entries of the table of a device that has one, at least
SEED = os.environ.get("HAUL_STRESS_SEED", random.randrange(10 ** 9))
AT_ONCE = 96  # below the capacity of a queue
SPARED = r"(Carrier \d+ is spared(; \d+ coroutines that wait stay there: [^\n]*)?\s*)*"
KINDS = [("burst", "spin"), ("coroutine", "block"), ("coroutine", "spin"), ("burst", "block")]


def frame(n):
    """Packet n // FLOWS of flow n % FLOWS: UDP without a checksum."""
    flow = n % FLOWS
    head = bytes([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 0, flow, 10, 9, 0, 1])
    head = head[:10] + fwd.checksum(head).to_bytes(2, "big") + head[12:]
    udp = (1024 + flow).to_bytes(2, "big") + b"\0\x09\0\x1a\0\0"
    macs = bytes.fromhex("020000000001020000000002")
    return macs + b"\x08\0" + head + udp + (n // FLOWS).to_bytes(18, "big")


class Mover(threading.Thread):
    """Moves queues or buckets at random, MOVES times at least, until it is told to end. pollers:
    what it chooses from for the carriers' pollers, too."""

    def __init__(self, client, seed, buckets, queues, pollers):
        super().__init__(daemon=True)
        self.client, self.random, self.pollers = client, random.Random(seed), pollers
        self.kinds = [("bucket", BUCKETS)] if buckets else [("queue", queues)]
        if not buckets and "queue 0, carrier" in client.ask("show buckets 0"):
            self.kinds.append(("bucket", TABLE))
        self.moves, self.wrong, self.goes, self.used = 0, [], True, set(range(CARRIERS))

    def next(self):
        """A command, and what it may say."""
        kind = self.random.randrange(5 if self.pollers else 4)
        if kind == 4:
            return f"set poller {self.random.choice(self.pollers)}", r"\s*"
        if kind == 0:
            n = self.random.randint(1, CARRIERS)
            self.used = set(range(n))
            return f"set nbcore {n}", SPARED + rf"Number of forwarding cores set to {n}\s*"
        if kind == 1:
            # Carrier 0 has the queue whose buckets move.
            self.used = {c for c in range(CARRIERS) if self.random.randrange(2)} | {0}
            return "set carriers " + ",".join(map(str, self.used)), SPARED
        what, n = self.random.choice(self.kinds)
        carrier = self.random.choice(sorted(self.used))
        # A table names queues, of which this carrier may have none.
        may = r"([^\n]* polls no queue of port 0; move one to it first)?\s*" \
            if len(self.kinds) > 1 else r"\s*"
        return f"set {what} 0 {self.random.randrange(n)} carrier {carrier}", may

    def run(self):
        while self.goes or self.moves < MOVES:
            command, right = self.next()
            said = self.client.ask(command)
            if not re.fullmatch(right, said):
                self.wrong.append((command, said))
                return
            self.moves += 1


def misplaced(frames):
    """Frames that came behind a later one of their flow."""
    last, wrong = collections.Counter(), []
    for f in frames:
        flow, n = f[29], int.from_bytes(f[-18:], "big")
        if n < last[flow]:
            wrong.append((flow, last[flow], n))
        last[flow] = n
    return wrong


def move_under_load(tap, name, mover, out, end, late):
    mover.start()
    sent, back = [], []
    while mover.is_alive() and mover.moves < MOVES or len(sent) < 20 * AT_ONCE:
        part = [frame(n) for n in range(len(sent), len(sent) + AT_ONCE)]
        sent += part
        got = fwd.exchange(part, out, end, AT_ONCE)
        back += got
        if len(got) < len(part):
            break
    mover.goes = False
    mover.join(60)
    tap.ok(not mover.wrong and mover.moves >= MOVES, f"{name}: they move",
           (mover.moves, mover.wrong))
    tap.ok(sorted(back) == sorted(fwd.swapped(sent)), f"{name}: each packet comes back once",
           (len(sent), len(back)))
    wrong = misplaced(back)
    if late:
        print(f"# {name}: {len(wrong)} of {len(back)} behind a later one of their flow")
    tap.ok(len(wrong) <= late, f"{name}: flows keep their order", wrong[:9])


def check_buckets(tap, name, client):
    """All have a carrier, and the last move is seen."""
    client.ask(f"set nbcore {CARRIERS}")
    client.ask("set bucket 0 5 carrier 0")
    before = client.ask("show buckets 0")
    client.ask("set bucket 0 5 carrier 1")
    after = client.ask("show buckets 0")
    for said, carrier in (before, 0), (after, 1):
        ranges = [[int(n) for n in m] for m in
                  re.findall(r"buckets (\d+)-(\d+): carrier (\d+), (\d+) packets", said)]
        whole = [b for first, last, _, _ in ranges for b in range(first, last + 1)]
        of_5 = [c for first, last, c, _ in ranges if first <= 5 <= last]
        tap.ok(whole == list(range(BUCKETS)) and of_5 == [carrier] and sum(r[3] for r in ranges),
               f"{name}: they are shown on carrier {carrier}", said)


def check(tap, name, ports, out_of, end_of, how, *more, buckets=False, queues=QUEUES, pollers=(),
          late=0):
    """Sends frames into one interface, and receives them from another. how: handler, poller. late:
    so many packets at most may come behind a later one of their flow."""
    name = f"{name}, {'buckets, ' * buckets}{', '.join(how)}, seed {SEED}"
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        args = [arg for port in ports for arg in ("--port", port)]
        args += ["--rxq", 1 if buckets else queues, "--carriers", CARRIERS, "--mode", "macswap",
                 "--handler", how[0], "--poller", how[1], "--control", path, *more]
        with fwd.Running(*args) as haul:
            interfaces = list(dict.fromkeys((out_of, end_of)))
            netns.wait_for(lambda: haul.runs() and all(map(netns.exists, interfaces)), "interfaces")
            for interface in interfaces:
                netns.wait_up(interface)
            ends = [netns.Raw(name) for name in interfaces]
            client = Client(path, haul)
            mover = Mover(client, f"{SEED} {name}", buckets, queues, pollers)
            move_under_load(tap, name, mover, ends[0], ends[-1], late)
            if buckets:
                check_buckets(tap, name, client)
            for end in ends:
                end.close()
            r = haul.end()
    tap.ok(r.rc == 0 and r.dropped() == 0, f"{name}: nothing is lost at the end", r)


def cores(client):
    return client.ask("show config cores").split(":")[1].split()


def check_use(tap, client):
    """Queue 0 is on carrier 1, and so is queue 1; one carrier, the other one, both."""
    all_cores = cores(client)
    said = [client.ask("set carriers 0"), client.ask("show config fwd"), cores(client)]
    tap.ok(re.match(r"Carrier 1 is spared\s*$", said[0]) and "cores=1 - streams=2" in said[1] and
           said[2] == all_cores[:1], "carrier 1 is spared, and not shown", said)
    said = [client.ask(f"set queue 0 0 carrier {c}") for c in (0, 1)]
    tap.ok(said[0].strip() == "" and "carrier 1 is not in use" in said[1],
           "no queue moves to it", said)
    client.ask("set nbcore 2")
    tap.ok(cores(client) == all_cores, "both carriers are in use again", cores(client))
    wrong = ["nbcore 0", "nbcore 3", "nbcore 99999999999", "nbcore", "carriers 2", "carriers 0-",
             "carriers -", "carriers x", "carriers 0,5", "carriers 0x1", "carriers 0,",
             "carriers 1-0", "carriers 0-99999999999999999999", "carriers"]
    said = [client.ask("set " + words) for words in wrong]
    tap.ok(all(len(s.strip().splitlines()) == 1 for s in said) and cores(client) == all_cores,
           "wrong sets get one line", said)


def stopped(tap, path):
    """Wrong commands, and moves while pollers are stopped."""
    with fwd.Running("--port", "null:", "--rxq", 2, "--carriers", 2, "--control", path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(path, haul)
        wrong = "1 0 carrier 0", "0 2 carrier 0", "0 0 carrier 2", "0 0 carrier", \
            "0 99999999999 carrier 0"
        said = [client.ask(f"set queue {words}") for words in wrong]
        said += [client.ask(s) for s in ("set bucket 0 0 carrier 1", "show buckets 0")]
        said[0] = said[0].replace("\nThe valid ports array is [ 0 ]", "")
        tap.ok(all(len(s.strip().splitlines()) == 1 for s in said), "wrong moves get one line",
               said)
        client.ask("stop")
        client.ask("set queue 0 0 carrier 1")
        client.ask("start")
        carriers = {q["queue"]: part["carrier"] for part in client.json()["ports"][0]["queues"]
                    for q in part["rx_queues"]}
        tap.ok(carriers == {0: 1, 1: 1}, "a queue moves while pollers are stopped", carriers)
        check_use(tap, client)
        r = haul.end()
    tap.ok(r.rc == 0, "they end", r)


def who_stays(tap, path):
    with fwd.Running("--port", "null:", "--rxq", 2, "--carriers", 2, "--control", path,
                     "--balance", "few") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        said = Client(path, haul).ask("set nbcore 1")
        tap.ok("--balance chooses the carriers" in said, "--balance has the last word", said)
        haul.end()
    with fwd.Running("--port", "null:", "--rxq", 2, "--carriers", 2, "--control", path, "--handler",
                     "coroutine", "--service", "60s", "--service-sleep") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        said = Client(path, haul).ask("set nbcore 1")
        tap.ok(re.match(r"Carrier 1 is spared; \d+ coroutines that wait stay there: "
                        r"port 0 queue 1 \(sleeping\)\s", said), "who stays on a spared carrier",
               said)
        haul.end()


def main():
    netns.enter()
    tap = netns.Tap()
    netns.veth("v0", "v1")
    netns.veth("x0", "x1", queues=QUEUES)
    for how in KINDS:
        check(tap, "afpacket", ["afpacket:v0"], "v1", "v1", how)
        if netns.can_open(tap, "tap", f"tap, {', '.join(how)}"):
            # Replies would tell the kernel another queue for their flow, which leads to disorder.
            check(tap, "tap", ["tap:t0", "tap:t1"], "t0", "t1", how)
        if netns.can_open(tap, "afxdp", f"afxdp, {', '.join(how)}"):
            check(tap, "afxdp", ["afxdp:x0"], "x1", "x1", how, "--mbufs", 32768)
    for how in ("burst", "block"), ("coroutine", "spin"):
        check(tap, "afpacket", ["afpacket:v0"], "v1", "v1", how, "--spread", "all", buckets=True)
    with tempfile.TemporaryDirectory() as d:
        stopped(tap, os.path.join(d, "control"))
        who_stays(tap, os.path.join(d, "control"))
    tap.done()


if __name__ == "__main__":
    main()
