# SPDX-License-Identifier: BSD-3-Clause
"""A port of haul-fwd is lost while packets flow: a line says so, and the other ports go on. What
goes to the lost one is dropped and counted; the ledger and the pool are right at the end.
HAUL_LOST: how many programs with random options; HAUL_SEED replays them."""
import contextlib
import os
import random
import re
import signal
import tempfile
import threading
import time

import netns

import fwd
from prompt import Client

ECHO = "--mode", "macswap", "--port-topology", "loop"
KINDS = ("tap", "afpacket", "afxdp")
WAYS = [("burst", "spin", "off"), ("coroutine", "adaptive", "cluster"),
        ("coroutine", "spin", "off"), ("burst", "block", "off")]
FRAMES = [fwd.frame(i, 100) for i in range(400)]


def lose(how):
    netns.ip("link set t0 down" if how == "down" else "link del t0")


def echoes(raw):
    """True if all frames come back from the port that is left. They are of different flows, which
    stolen handlers may reorder."""
    got = fwd.exchange(FRAMES, raw, raw, 16)
    return sorted(f[12:] for f in got) == sorted(f[12:] for f in FRAMES)


class Load(threading.Thread):
    """Frames into the peer of the port that will be lost, until it is told to end."""

    def __init__(self, raw):
        super().__init__(daemon=True)
        self.raw, self.goes = raw, True

    def run(self):
        for i in range(1 << 30):
            if not self.goes:
                return
            try:
                self.raw.send(fwd.frame(i % 251, 200))
            except OSError:  # it has gone
                return


def test_lost(tap, kind, way, how):
    """A port with a load is lost; the other one echoes before and after."""
    if kind != "tap":
        netns.veth("t0", "t1")
    netns.veth("g0", "g1")
    lost_under_load(tap, f"{kind}, {', '.join(way)}, {how}", [f"{kind}:t0", "afpacket:g0"],
                    ["t1" if kind != "tap" else "t0", "g1"], way, lambda: lose(how))
    netns.ip("link del g0")
    if netns.exists("t0"):
        netns.ip("link del t0")


def lost_under_load(tap, name, ports, peers, way, lose_it, *more):
    """The first of two ports is lost by lose_it(). peers: the interfaces that they are connected
    to."""
    handler, poller, steal = way
    with tempfile.TemporaryDirectory() as d:
        raw = netns.Raw(peers[1])
        control = os.path.join(d, "control")
        with fwd.Running("--port", ports[0], "--port", ports[1], *ECHO,
                         "--handler", handler, "--poller", poller, "--steal", steal,
                         "--carriers", 2, "--control", control, *more) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            client = Client(control, haul)
            before = echoes(raw)
            load = Load(netns.Raw(peers[0]))
            load.start()
            lose_it()
            haul.wait_for(lambda: "the other ports go on" in haul.said(), "its line")
            load.goes = False
            load.join()
            after = echoes(raw)
            said = [client.ask(line) for line in ("show port info 0", "show port stats all",
                                                  "set burst 16", "set nbcore 1")]
            client.ask("stop")
            client.ask("start")
            again = echoes(raw)
            r = haul.end()
    raw.close()
    lines = [s for s in r.err.splitlines() if f"'{ports[0]}'" in s and "note: " not in s]
    tap.ok(before and after and again, f"{name}: the other port goes on", r)
    tap.ok(r.rc == 1 and len(lines) == 2 and
           lines[0].endswith(" and restart; the other ports go on"),
           f"{name}: a line, and exit 1", r)
    port = r.json["ports"][1]
    tap.ok(port["rx_packets"] == port["tx_packets"] == 3 * len(FRAMES) and
           "ledger" not in r.err, f"{name}: nothing of it is lost", r)
    tap.ok("the port was lost" in said[0] and "NIC statistics for port 1" in said[1],
           f"{name}: the prompt", said)


def test_sent_there(tap):
    """What the other port receives for it is dropped, also with handlers that wait for room."""
    for handler in "burst", "coroutine":
        netns.veth("t0", "t1")
        netns.veth("g0", "g1")
        raw = netns.Raw("g1")
        with fwd.Running("--port", "afpacket:t0", "--port", "afpacket:g0", "--handler", handler,
                         "--carriers", 2) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            lose("deleted")
            haul.wait_for(lambda: "the other ports go on" in haul.said(), "its line")
            for f in FRAMES * 4:
                raw.send(f)
            netns.wait_for(lambda: netns.counter("g1", "tx_packets") >= len(FRAMES) * 4, "frames")
            r = haul.end()
        netns.ip("link del g0")
        tap.ok(r.rc == 1 and r.dropped("tx_refused") == r.json["ports"][1]["rx_packets"] > 0 and
               r.json["ports"][0]["tx_packets"] == 0, f"{handler}: what goes there is dropped", r)


def test_last(tap):
    """The last one that is left ends the program; so does the first one, if it is to."""
    for more, left in (([], "t0"), (["--lost-port", "end"], None)):
        netns.veth("t0", "t1")
        netns.veth("g0", "g1")
        with fwd.Running("--port", "afpacket:g0", "--port", "afpacket:t0", "--carriers", 1,
                         *more) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            netns.ip("link del g0")
            if left:
                haul.wait_for(lambda: "the other ports go on" in haul.said(), "its line")
                runs = haul.process.poll() is None
                lose("deleted")
            r = haul.wait()
        if netns.exists("t0"):
            lose("deleted")
        tap.ok(r.rc == 1 and (not left or runs) and r.json and
               f"the interface {left or 'g0'} is gone; make it again and restart\n" in r.err,
               f"the last one: {more}", r)


def test_returns(tap, kind, way, how):
    """With --lost-port return a port is taken again: by itself, and as often as it is lost."""
    handler, poller, steal = way
    name = f"{kind}, {handler}, {poller}, steal {steal}, {how}, and back"
    if kind != "tap":
        netns.veth("t0", "t1")
    netns.veth("g0", "g1")
    raw = netns.Raw("g1")
    with fwd.Running("--port", f"{kind}:t0", "--port", "afpacket:g0", *ECHO, "--handler", handler,
                     "--poller", poller, "--steal", steal, "--carriers", 2,
                     "--lost-port", "return") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        fine = []
        for turn in range(2):
            lose(how)
            haul.wait_for(lambda: haul.said().count("taken again when") == turn + 1, "its line")
            if how == "down" and kind != "tap":
                netns.ip("link set t0 up")
            elif how != "down" and kind != "tap":
                netns.veth("t0", "t1")
            haul.wait_for(lambda: haul.said().count("'%s:t0' is back" % kind) == turn + 1, "it")
            back = netns.Raw("t0" if kind == "tap" else "t1")
            fine += [echoes(raw), echoes(back)]
        r = haul.end()
    netns.ip("link del g0")
    if netns.exists("t0"):
        netns.ip("link del t0")
    ports = r.json["ports"]
    tap.ok(all(fine), f"{name}: both ports echo each time", (fine, r))
    tap.ok("restart" not in r.err, f"{name}: it does not ask for a restart", r)
    tap.ok(r.rc == 0 and ports[0]["rx_packets"] >= 2 * len(FRAMES) and "ledger" not in r.err and
           ports[1]["rx_packets"] == ports[1]["tx_packets"] == 2 * len(FRAMES),
           f"{name}: nothing is lost, and exit 0", r)


@contextlib.contextmanager
def echoing(*more):
    """haul-fwd that echoes on t0 and g0, its prompt, and the peer of g0."""
    with tempfile.TemporaryDirectory() as d:
        netns.veth("t0", "t1")
        netns.veth("g0", "g1")
        control = os.path.join(d, "control")
        with fwd.Running("--port", "afpacket:t0", "--port", "afpacket:g0", *ECHO,
                         "--carriers", 2, "--control", control, *more) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            yield haul, Client(control, haul), netns.Raw("g1")
        for name in ("t0", "g0"):
            if netns.exists(name):
                netns.ip(f"link del {name}")


def test_stays_out(tap):
    """A port that was lost, and that a user detaches, does not return by itself."""
    with echoing("--lost-port", "return") as (haul, client, raw):
        lose("deleted")
        haul.wait_for(lambda: "taken again when" in haul.said(), "its line")
        said = client.ask("port detach 0")
        netns.veth("t0", "t1")
        time.sleep(2.5)  # two looks at lost ports
        out = "'afpacket:t0' is back" not in haul.said()
        said += client.ask("port attach 0")
        fine = echoes(raw) and echoes(netns.Raw("t1"))
        wrong = client.ask("port attach 0 afpacket:none") + client.ask("set queue 0 0 carrier 7")
        r = haul.end(signal.SIGTERM)
    tap.ok(out and fine and r.rc == 0 and
           "Port 0 is detached" in said and "Port 0 is attached" in said,
           "detached by command: does not return", (said, out, fine, r.rc))
    tap.ok("carrier 7 has no poller" in wrong and "haul_" not in wrong,
           "lines of the prompt name no functions", wrong)


def test_watched(tap):
    """Packets are shown of whatever device the port has; none is shown after that was ended."""
    with echoing() as (haul, client, raw):
        packets = r"port 0/queue \d+: received"
        said = [client.ask(line) for line in ("stop", "set verbose 1", "port detach 0", "start")]
        said.append(client.ask("port attach 0 afpacket:t1"))
        back = netns.Raw("t0")
        fine = echoes(back)
        haul.wait_for(lambda: bool(re.search(packets, haul.output())), "packets of the new device")
        # DPDK would call what is left of a callback for the next device.
        said += [client.ask(line) for line in (
            "stop", "port detach 0", "set verbose 0", "port attach 0 afpacket:t1", "start")]
        before = len(re.findall(packets, haul.output()))
        fine &= echoes(netns.Raw("t0")) and echoes(raw)
        r = haul.end(signal.SIGTERM)
        after = len(re.findall(packets, haul.output()))
    tap.ok(fine and r.rc == 0 and before == after and "ETHDEV" not in r.err,
           "packets are shown of each device", (said, fine, r.rc, before, after))


def test_stopped(tap):
    """While no poller runs, too."""
    with echoing() as (haul, client, raw):
        client.ask("stop")
        lose("deleted")
        haul.wait_for(lambda: "the other ports go on" in haul.said(), "its line")
        said = client.ask("port start all")
        client.ask("start")
        fine = echoes(raw)
        r = haul.end(signal.SIGTERM)
    tap.ok(fine and r.rc == 1, "stopped: the other port goes on", (said, r))


def test_command(tap):
    """By the prompt, while packets flow: that is no failure of the program."""
    with echoing() as (haul, client, raw):
        load = Load(netns.Raw("t1"))
        load.start()
        said = [client.ask("port detach 0"), client.ask("port detach 0")]
        load.goes = False
        load.join()
        fine = echoes(raw)
        said += [client.ask(line) for line in (
            "show port info all", "show port summary all", "port detach 2", "stop",
            "port stop all", "port start all", "start")]
        fine &= echoes(raw)
        said.append(client.ask("port attach 0"))
        back = echoes(raw) and echoes(netns.Raw("t1"))
        said.append(client.ask("port detach all"))
        lives = haul.process.poll() is None
        r = haul.end()
        kept = netns.exists("t0")
    tap.ok(back and "Port 0 is attached" in said[-2], "attached by the prompt: it echoes", said)
    tap.ok(fine and lives and kept and r.rc == 0 and "lost" not in r.err,
           "detached by the prompt: the other port goes on", r)
    tap.ok(said[0].strip() == said[1].strip() == "Port 0 is detached" and
           "Port 1 is detached" in said[-1] and "Invalid port 2" in said[4] and
           "afpacket:g0" in said[3] and re.search(" none .* afpacket:t0", said[3]),
           "detached by the prompt: what it says", said)


def came(client, peer):
    """Frames through port 1, which has come, whose source is its address in mode mac."""
    raw = netns.Raw(peer)
    info = client.ask("show port info 1")
    own = bytes.fromhex(re.search("MAC address: (.*)", info)[1].strip().replace(":", ""))
    got = fwd.exchange(FRAMES[:50], netns.Raw("g1"), raw, 16)
    raw.close()
    return len(got) == 50 and all(f[6:12] == own for f in got)


def test_empty(tap):
    """A place for a port, which gets devices of several kinds one after the other."""
    with tempfile.TemporaryDirectory() as d:
        netns.veth("t0", "t1")
        netns.veth("g0", "g1")
        control = os.path.join(d, "control")
        with fwd.Running("--port", "afpacket:g0", "--port", "empty:", "--mode", "mac",
                         "--carriers", 1, "--control", control) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            client = Client(control, haul)
            said = [client.ask(line) for line in (
                "port attach 1", "show port info 1", "port attach bad:", "port attach nothing:t0",
                "port attach 1 afpacket:nothere")]
            fine = [said[0].strip().endswith("it has no device yet; give it another spec"),
                    "there is no device" in said[1], "no such kind of port" in said[2],
                    "no such kind of port" in said[3], "there is no interface nothere" in said[4]]
            ways = [kind for kind in ("afpacket", "afxdp") if not netns.lacks(kind)]
            for kind in ways + ways:
                said += [client.ask(f"port attach 1 {kind}:t0"), client.ask("port attach ring:")]
                fine += ["Port 1 is attached" in said[-2], "No port is empty" in said[-1],
                         came(client, "t1")]
                said.append(client.ask("port detach 1"))
            netns.ip("link del t0")
            if not netns.lacks("tap"):
                said.append(client.ask("port attach 1 tap:t0"))
                fine.append(came(client, "t0"))
            r = haul.end()
        netns.ip("link del g0")
    tap.ok(all(fine) and r.rc == 0 and "ledger" not in r.err,
           "an empty port gets devices of several kinds", (fine, said, r))


def test_places(tap):
    """What two empty ports take, one command after the other."""
    netns.veth("t0", "t1")
    netns.veth("g0", "g1")
    with tempfile.TemporaryDirectory() as d:
        control = os.path.join(d, "control")
        asked = (
            ("clear port xstats all", ""), ("set poller spin", ""), ("clear port stats all", ""),
            ("port attach ring:", "Port 1 is attached"), ("set poller block", "no way to wait"),
            ("clear port xstats all", ""), ("port detach 1", "Port 1 is detached"),
            ("clear port xstats all", ""), ("set poller block", "^$"), ("set poller sleep", "^$"),
            ("port start 1", "Port 1 has no device"), ("port stop all", ""),
            ("port attach afpacket:nothere", "there is no interface nothere"),
            ("show port summary all", "2    - .* none .* empty:queues=1"),
            ("port attach afpacket:t0", "Port 2 is attached"),
            ("port attach 1 afpacket:t0", "is on t0 already"),
            ("port detach 2", ""), ("port attach 1 afpacket:t0", "Port 1 is attached"),
            ("port attach 2", "is on t0 already"), ("port detach 1", ""),
            (f"port attach 1 memif:role=server,socket={d}/m", "Port 1 is attached"),
            ("port detach 1", ""), ("port attach 1", "Port 1 is attached"), ("port detach 1", ""),
            (f"port attach 1 pcap:tx={d}/p", "Port 1 is attached"),
            ("port detach 1", ""), ("port attach 1", "Port 1 is attached"),
            ("clear port stats all", ""), ("port detach all", "Port 1 is detached"))
        with fwd.Running("--port", "afpacket:g0", "--port", "empty:queues=1", "--port",
                         "empty:queues=1", "--poller", "block", "--carriers", 1,
                         "--control", control) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            client = Client(control, haul)
            wrong = [(line, said) for line, right in asked
                     if not re.search(right, (said := client.ask(line)).strip())]
            r = haul.end()
    netns.ip("link del t0")
    netns.ip("link del g0")
    tap.ok(not wrong and r.rc == 0, "places for ports: each command has its answer", (wrong, r))


def test_source(tap):
    """Modes that make frames give them the address of a port that has come."""
    netns.veth("t0", "t1")
    netns.veth("g0", "g1")
    for mode, more in (("txonly", ()), ("flowgen", ()), ("generate", ("--rate", 1000))):
        with tempfile.TemporaryDirectory() as d:
            control = os.path.join(d, "control")
            with fwd.Running("--port", "afpacket:g0", "--port", "empty:", "--mode", mode,
                             "--carriers", 1, "--control", control, *more) as haul:
                netns.wait_for(haul.runs, "haul-fwd to run")
                client, raw = Client(control, haul), netns.Raw("t1")
                said = client.ask("port attach afpacket:t0")
                own = netns.mac("t0")
                # The first ones may be from before.
                netns.wait_for(lambda: (raw.recv() or b"")[6:12] == own, "its address")
                raw.close()
                r = haul.end()
        tap.ok(r.rc == 0, f"{mode}: the source of its frames", (said, r))
    netns.ip("link del t0")
    netns.ip("link del g0")


def random_attaches(choose, client):
    """Whether the prompt said the right thing each time: the first port gets devices and loses
    them, in any order with what cannot be."""
    attached, right = False, True
    for _ in range(choose.randrange(12)):
        time.sleep(choose.random() * 0.05)  # at any moment
        spec = choose.choice(["", "ring:", "null:no-rx=1", "afpacket:t0", "afpacket:nothere", "x"])
        if attached and choose.randrange(2):
            right &= "Port 0 is detached" in client.ask("port detach 0")
            attached = False
            continue
        said = client.ask(f"port attach 0 {spec}".strip())
        if attached:
            right &= ("it has a device" in said) == bool(spec)
        elif spec not in ("", "x", "afpacket:nothere"):
            right &= "Port 0 is attached" in said
        attached |= "Port 0 is attached" in said
    return right


def random_args(choose, d):
    """A program whose first port loses t0, or is empty; and the interfaces through which its ports
    get frames."""
    kind = choose.choice([k for k in ("afpacket", *KINDS) if not netns.lacks(k)] + ["empty"] * 2)
    other = choose.choice(["afpacket", "tap", "null", "ring"])
    if kind != "tap":
        netns.veth("t0", "t1")
    if other == "afpacket":
        netns.veth("g0", "g1")
    args = ["--port", f"{kind}:" + ("t0" if kind in KINDS else ""),
            "--port", other + (":g0" if other in KINDS else ":")]
    if kind == "empty":
        args += ["--control", os.path.join(d, "control")]
    mode = choose.choice(["io", "mac", "macswap", "rxonly", "txonly", "flowgen", "icmpecho", "csum",
                          "generate"])
    waits = ["block", "adaptive"] if kind not in ("tap", "empty") and other == "afpacket" else []
    args += ["--mode", mode, "--carriers", choose.choice([1, 2, 3]),
             "--poller", choose.choice(["spin", "sleep", "sleep:500", *waits])]
    args += ["--rate", 5000] if mode == "generate" else \
        ["--handler", choose.choice(["burst", "coroutine"])]
    more = [["--steal", "cluster"], ["--times"], ["--trace", os.path.join(d, "trace")],
            ["--capture", os.path.join(d, "capture")], ["--telemetry-control"]]
    if mode != "generate":
        more += [["--spread", "all"], ["--port-topology", choose.choice(["loop", "chained"])]]
    if mode in ("io", "macswap") and "coroutine" in args:
        more += [["--service", "1ms", "--service-sleep"]]
    for option in choose.sample(more, choose.randrange(4)):
        args += option
    return args, ["t0" if kind == "tap" else "t1",
                  *{"afpacket": ["g1"], "tap": ["g0"]}.get(other, [])]


def random_one(choose, d):
    """None, or what is wrong with the end of one program."""
    args, peers = random_args(choose, d)
    empty, right = "empty:" in args, True
    returns = not empty and choose.randrange(2) == 1
    if returns:
        args += ["--lost-port", "return"]
    with fwd.Running(*args) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        if haul.process.poll() is not None:
            r = haul.wait()
            wrong = None if r.rc == 2 else "not even a wrong argument"
        else:
            loads = [Load(netns.Raw(peer)) for peer in peers]
            for load in loads:
                load.start()
            if empty:
                right = random_attaches(choose, Client(os.path.join(d, "control"), haul))
            else:
                time.sleep(choose.random() * 0.4)  # at any moment
                lose("deleted" if returns else choose.choice(["deleted", "down"]))
                haul.wait_for(lambda: "t0 is gone" in haul.said() or "t0 went" in haul.said(),
                              "its line")
                time.sleep(choose.random() * 0.2)  # with packets for the lost one
            if returns and peers[0] == "t1":
                netns.veth("t0", "t1")
            if returns:
                haul.wait_for(lambda: "t0' is back" in haul.said(), "its return")
                time.sleep(choose.random() * 0.2)  # with the port
            r = haul.end(choose.choice([signal.SIGINT, signal.SIGTERM]))
            for load in loads:
                load.goes = False
                load.join()
            good = right and r.rc == (0 if returns or empty else 1) and r.json and not any(
                text in r.err for text in ("ledger", "BUG", "packet buffers ", "Sanitizer"))
            wrong = None if good else "its end"
    for name in ("t0", "g0"):
        if netns.exists(name):
            netns.ip(f"link del {name}")
    return wrong and f"{wrong}: {r}"


def test_random(tap):
    seed = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
    programs = int(os.environ.get("HAUL_LOST", 4 if netns.fewer() else 20))
    print(f"# HAUL_SEED={seed}", flush=True)
    wrong = []
    for i in range(programs):
        with tempfile.TemporaryDirectory() as d:
            found = random_one(random.Random(seed + i), d)
        if found:
            wrong.append(f"HAUL_SEED={seed + i} HAUL_LOST=1: {found}")
    tap.ok(not wrong, f"{programs} programs with random options", "\n".join(wrong))


def main():
    tap = netns.Tap()
    for i, kind in enumerate(KINDS):
        if not netns.can_open(tap, kind, f"{kind} is lost"):
            continue
        for turn, way in enumerate(WAYS):
            if netns.fewer() and (i + turn) % 2:
                continue
            if kind == "tap" and way[1] in ("block", "adaptive"):
                way = (way[0], "sleep", way[2])
            how = ("deleted", "down")[(turn + i) // 2 % 2]
            test_lost(tap, kind, way, how)
            if turn < 2:
                test_returns(tap, kind, way, how)
    test_sent_there(tap)
    test_last(tap)
    test_stays_out(tap)
    test_watched(tap)
    test_stopped(tap)
    test_command(tap)
    test_empty(tap)
    test_places(tap)
    test_source(tap)
    test_random(tap)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main()
