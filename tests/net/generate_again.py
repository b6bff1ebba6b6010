# SPDX-License-Identifier: BSD-3-Clause
"""A generator that sends one load after the other, through commands; single latencies in a file;
figures as JSON while the program runs."""
import csv
import os
import tempfile

import fwd
import netns
from prompt import Client


def load(client, packets, *commands):
    """Sends packets, with the answers of commands before; returns the generator's figures."""
    said = "".join(client.ask(c) for c in commands)
    before = client.json()["counters"]["sent"]
    client.ask("start")
    netns.wait_for(lambda: client.json()["counters"]["sent"] >= before + packets,
                   f"{packets} packets", 60)
    client.ask("stop")
    return client.json()["generator"], said


def test_loads(tap, client):
    g, said = load(client, 2000, "set arrivals constant", "set rate 20k/100ms")
    tap.ok(not said and g["due"] == g["sent"] == g["received"] == 2000 and g["lost"] == 0,
           "a load that ends does not end the program; stop waits for its packets", (said, g))
    uppers = [upper for upper, _ in g["histogram"]]
    tap.ok(uppers == sorted(set(uppers)) and sum(n for _, n in g["histogram"]) ==
           g["from_intended"]["count"] == 2000 and
           all(n > 0 for _, n in g["histogram"]) and
           uppers[-1] >= g["from_intended"]["max_ns"] > (uppers[-2:-1] or [0])[0],
           "a histogram of all packets", g)
    g, said = load(client, 300, "set rate 10k/30ms", "set arrivals burst:10", "set seed 7")
    tap.ok(not said and g["due"] == g["sent"] == g["received"] == 300 and
           g["from_intended"]["count"] == 300, "the next load counts anew", (said, g))


def test_samples(tap, client, d):
    path = os.path.join(d, "samples.csv")
    g, said = load(client, 500, "set arrivals constant", "set rate 10k/50ms", "set samples 400")
    said += client.ask(f"save samples {path}")
    with open(path, encoding="ascii") as f:
        rows = list(csv.DictReader(f))
    due = [int(row["intended_ns"]) for row in rows]
    late = [int(row["latency_ns"]) for row in rows]
    tap.ok(not said and len(rows) == 400 and due == [i * 100000 for i in range(400)],
           "the intended times of the first packets", (said, due[:20]))
    tap.ok(0 < max(late) <= g["from_intended"]["max_ns"], "with their latencies", (max(late), g))
    said = client.ask(f"save samples {d}/none/x")
    tap.ok("No such file" in said, "a file that cannot be made", said)
    g, said = load(client, 100, "set samples 0", "set rate 10k/10ms")
    client.ask(f"save samples {path}")
    with open(path, encoding="ascii") as f:
        tap.ok(f.read() == "intended_ns,latency_ns\n", "none are kept unless asked for")


def test_refused(tap, client, d):
    for command, part in (("set rate fast", "1k-1M/10s"), ("set arrivals normal", "poisson"),
                          ("set samples 99999999999", "At most")):
        said = client.ask(command)
        tap.ok(part in said and said.count("\n") == 1, f"refused: {command}", said)
    g, said = load(client, 100)
    tap.ok(g["sent"] == 100, "what was refused has changed nothing", g)
    client.ask("set rate 1k")
    client.ask("start")
    for command in "set rate 1k", "set arrivals poisson", "set seed 1", f"save samples {d}/x":
        said = client.ask(command)
        tap.ok("stop" in said, f"not while packets are sent: {command}", said)
    tap.ok("generator" not in client.json(), "nor are there figures of the generator yet")


def test_generator(tap, d):
    path = os.path.join(d, "control")
    with fwd.Running("--port", "ring:", "--mode", "generate", "--rate", "1k", "--carriers", 1,
                     "--drain", "30s", "--control", path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(path, haul)
        client.ask("stop")
        test_loads(tap, client)
        test_samples(tap, client, d)
        test_refused(tap, client, d)
        r = haul.end()
    tap.ok(r.rc == 0 and r.json["counters"]["sent"] > 3000, "a signal ends it, with all figures", r)


def test_late(tap, d):
    """Packets of the load before that arrive during the next one."""
    path = os.path.join(d, "control")
    netns.veth("v0", "v1")
    wire = netns.Raw("v1")
    with fwd.Running("--port", "afpacket:v0", "--mode", "generate", "--rate", "1k", "--carriers", 1,
                     "--drain", 0, "--control", path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(path, haul)
        client.ask("stop")
        while wire.recv(0.1):  # all has been sent: what is there
            pass
        load(client, 10, "set arrivals constant", "set rate 1k/10ms")
        late = [wire.recv() for _ in range(10)]
        client.ask("start")
        for frame in late + [wire.recv() for _ in range(10)]:
            wire.send(frame)
        netns.wait_for(lambda: client.json()["ports"][0]["rx_packets"] >= 20, "all packets")
        client.ask("stop")
        g = client.json()["generator"]
        haul.end()
    wire.close()
    netns.ip("link del v0")
    tap.ok((g["sent"], g["received"], g["lost"], g["foreign"]) == (10, 10, 0, 0) and
           g["from_intended"]["count"] == 10 and g["unstamped"] >= 10,
           "late packets of the load before do not count", g)


def test_others(tap, d):
    path = os.path.join(d, "control")
    with fwd.Running("--port", "null:", "--mode", "rxonly", "--carriers", 1,
                     "--control", path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(path, haul)
        said = client.ask("set rate 1k")
        tap.ok("Only --mode generate" in said, "a forwarder has no rate", said)
        figures = [client.json()]
        netns.wait_for(lambda: client.json()["ports"][0]["rx_packets"] >
                       figures[0]["ports"][0]["rx_packets"], "more packets")
        figures.append(client.json())
        keys = "rx_packets", "polls", "work_ns"
        one, two = ([f["carriers"][0][k] for k in keys] for f in figures)
        r = haul.end()
    three = [r.json["carriers"][0][k] for k in keys]
    tap.ok(all(0 < a < b <= c for a, b, c in zip(one, two, three)) and
           figures[0]["seconds"] < figures[1]["seconds"] <= r.json["seconds"] and
           set(figures[0]) == set(r.json),
           "figures while it runs, with all that the end has", (figures, r.json))
    with fwd.Running("--port", "ring:", "--mode", "generate", "--rate", 0, "--carriers", 1,
                     "--control", path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(path, haul)
        client.ask("stop")
        said = client.ask("set rate 1k")
        tap.ok("without a --rate" in said, "a receiver cannot become a generator", said)
        haul.end()


def main():
    netns.enter()
    tap = netns.Tap()
    with tempfile.TemporaryDirectory() as d:
        test_generator(tap, d)
        test_late(tap, d)
        test_others(tap, d)
    tap.done()


main()
