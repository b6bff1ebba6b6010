#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random changes of queues and forwarding ports between runs: after each, frames leave by the port
that the commands say, nothing else comes out, and the books are right at the end.

Usage: fwd_reconfigure.py HAUL-FWD [SEED CHANGES]
HAUL_FEWER: 15 changes of each program in place of 40.
"""
import os
import random
import sys
import tempfile

import netns

import fwd
from prompt import Client

COUNT = 8  # frames into each port after a change
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
CHANGES = int(sys.argv[3]) if len(sys.argv) > 3 else 15 if "HAUL_FEWER" in os.environ else 40

netns.enter()
tap = netns.Tap()
print(f"# seed {SEED}", flush=True)
for k in range(3):
    netns.veth(f"v{k}", f"w{k}")
WIRES = [netns.Raw(f"w{k}") for k in range(3)]


class Program:
    """A program, and what its commands have set."""

    def __init__(self, client, r, specs):
        self.client, self.r, self.specs = client, r, specs
        self.ports = list(range(len(specs)))  # that forward, in their order
        self.wires = list(WIRES[:len(specs)])
        self.log, self.number = [], 0

    def say(self, *lines):
        said = ""
        for line in lines:
            said = self.client.ask(line)
            self.log.append(f"{line}: {said.strip()[:200]}")
        return said

    def open_tap(self):
        """Its interface may be another one now."""
        for i, spec in enumerate(self.specs):
            if spec.startswith("tap:"):
                netns.wait_up(spec[4:])
                self.wires[i] = netns.Raw(spec[4:])

    def change(self):
        r = self.r
        port = r.randrange(len(self.specs))
        self.say("stop")
        what = r.choice(["queues", "queues", "list", "list", "deferred", "ring", "offload", "stop",
                         "number", "reset"])
        if what == "queues":
            n = r.choice([1, 2, 3, 4])
            stops = r.random() < 0.5
            said = self.say(*(["port stop all"] if stops else []), f"port config all rxq {n}",
                            f"port config all txq {n}", "port start all", "show config rxtx")
            return said.count(f"RX queue number: {n} Tx queue number: {n}") == len(self.specs)
        if what == "list":
            self.ports = r.sample(range(len(self.specs)), r.randint(1, len(self.specs)))
            said = self.say("set portlist " + ",".join(map(str, self.ports)))
            return "previous number" in said or said.strip() == ""
        if what == "number":
            n = r.randint(1, len(self.ports))
            self.say("set portlist " + ",".join(map(str, self.ports)))
            self.ports = self.ports[:n]
            return f"set to {n}" in self.say(f"set nbport {n}")
        if what == "deferred":
            side = r.choice(["rxq", "txq"])
            self.say(f"port stop {port}", f"port {port} {side} 0 deferred_start on",
                     f"port start {port}")
            said = self.say(f"port {port} {side} 0 start")
            self.say(f"port {port} {side} 0 deferred_start off")
            return said.strip() == "" or "not supported" in said
        if what == "stop":
            side = r.choice(["rxq", "txq"])
            said = self.say(f"port {port} {side} 0 stop")
            again = self.say(f"port {port} {side} 0 start")
            return all(one.strip() == "" or "not supported" in one for one in (said, again))
        if what == "ring":
            return self.say(f"port config {port} rxq 0 ring_size {r.choice([256, 512])}",
                            f"port {port} rxq 0 setup").strip() == ""
        if what == "reset":
            return "Done" in self.say(f"port reset {port}")
        said = self.say(f"port {port} txq 0 tx_offload multi_segs on")
        return said.strip() == "" or "for single queues" in said

    def peer(self, port):
        at = self.ports.index(port) ^ 1
        return self.ports[at] if at < len(self.ports) else port

    def deliver(self):
        """Sends frames into each port that forwards. What is wrong, or ""."""
        self.open_tap()
        if "packet forwarding" not in self.say("start"):
            return "it does not start"
        for port in self.ports:
            frames = [fwd.frame(self.number + n, 60) for n in range(COUNT)]
            self.number += COUNT
            for frame in frames:
                self.wires[port].send(frame)
            got = [self.wires[self.peer(port)].recv() for _ in frames]
            if sorted(map(bytes, filter(None, got))) != sorted(frames):
                return f"from port {port} to {self.peer(port)}: " \
                       f"{len(list(filter(None, got)))} of {COUNT}"
        return ""


def try_program(r, specs, args):
    with tempfile.TemporaryDirectory() as d, \
            fwd.Running(*(a for spec in specs for a in ("--port", spec)), *args, "--control",
                        f"{d}/c", options=["--json", "--period", "0"]) as haul:
        client = Client(f"{d}/c", haul)
        program = Program(client, r, specs)
        wrong = ""
        for change in range(CHANGES):
            if not program.change():
                wrong = "a command failed"
            wrong = wrong or program.deliver()
            if wrong:
                break
        client.sock.close()
        result = haul.end()
    name = f"{' '.join(specs)} {' '.join(map(str, args))}: after each of {CHANGES} changes"
    tap.ok(not wrong, f"{name} frames take their way",
           "\n".join([wrong, *program.log[-14:], str(result)]))
    sums = [sum(p[key] for p in result.json["ports"]) for key in ("rx_packets", "tx_packets")]
    tap.ok(result.rc == 0 and (wrong or sums[0] == sums[1] >= program.number),
           f"{name} the books are right", f"{sums} {program.number}\n{result}")


def main():
    r = random.Random(SEED)
    can_tap = netns.can_open(tap, "tap", "programs with a TAP")
    for i in range(4):
        specs = [f"afpacket:v{k}" for k in range(r.randint(1, 3))]
        if can_tap and i % 2:
            specs[r.randrange(len(specs))] = "tap:t0"
        args = ["--carriers", r.choice([1, 2]), "--mode", "io", "--handler",
                r.choice(["burst", "coroutine"]), "--poller", r.choice(["spin", "block", "sleep"])]
        if "coroutine" in args:
            args += ["--steal", r.choice(["off", "global"]), "--spread",
                     r.choice(["off", "packets"])]
        try_program(r, specs, args)


main()
tap.done()
