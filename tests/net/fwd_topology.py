# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd --port-topology: to which port frames go, with three and with four ports."""
import netns

import fwd

COUNT = 8  # frames into each port

# To which port each of so many ports forwards.
PEERS = {
    ("paired", 3): [1, 0, 2],
    ("paired", 4): [1, 0, 3, 2],
    ("chained", 1): [0],
    ("chained", 3): [1, 2, 0],
    ("chained", 4): [1, 2, 3, 0],
    ("loop", 2): [0, 1],
    ("loop", 3): [0, 1, 2],
}

netns.enter()
tap = netns.Tap()
for i in range(4):
    netns.veth(f"v{i}", f"w{i}")
wires = [netns.Raw(f"w{i}") for i in range(4)]


def number(frame):
    return int.from_bytes(frame[14:18], "big")


def deliver(ports, peers):
    """Sends COUNT frames into each port. Returns the ports at which they do not arrive, or with
    others' numbers."""
    wrong = []
    for i in range(ports):
        for n in range(COUNT):
            wires[i].send(fwd.frame(100 * i + n, 60))
    for i in range(ports):
        got = [wires[peers[i]].recv() for _ in range(COUNT)]
        numbers = sorted(number(f) if f else -1 for f in got)
        if numbers != [100 * i + n for n in range(COUNT)]:
            wrong.append((i, peers[i], numbers))
    return wrong


for (topology, ports), peers in PEERS.items():
    for handler in "burst", "coroutine":
        args = [a for i in range(ports) for a in ("--port", f"afpacket:v{i}")]
        with fwd.Running(*args, "--carriers", "1", "--handler", handler,
                         "--port-topology", topology) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            wrong = deliver(ports, peers) if haul.process.poll() is None else "it has ended"
            r = haul.end()
        tap.ok(not wrong and r.rc == 0 and r.dropped() == 0 and
               [p["rx_packets"] for p in r.json["ports"]] == [COUNT] * ports,
               f"{topology}, {ports} ports, {handler}: each frame leaves by the port's peer",
               f"{wrong}\n{r}")

# The addresses of mode mac follow the topology: to the default peer of the port that sends.
with fwd.Running("--port", "afpacket:v0", "--port", "afpacket:v1", "--port", "afpacket:v2",
                 "--carriers", "1", "--mode", "mac", "--port-topology", "chained") as haul:
    netns.wait_for(haul.runs, "haul-fwd to run")
    wires[0].send(fwd.frame(1, 60))
    got = wires[1].recv()
    r = haul.end()
tap.ok(r.rc == 0 and got and got[:12] == bytes.fromhex("020000000001") + netns.mac("v1"),
       "mode mac, chained: addresses of the port that sends", f"{got}\n{r}")

r = fwd.run("--port", "null:", "--port-topology", "ring")
tap.ok(r.rc == 2 and r.err.count("\n") == 1 and
       "--port-topology ring: give one of paired|chained|loop" in r.err,
       "another topology is refused", r)
tap.done()
