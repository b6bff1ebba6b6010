#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command flow beside dpdk-testpmd's, each program on a TAP port and an AF_PACKET port of its
own: line by line the same, but for pointers, and for the word that haul-fwd names in a wrong line.

On a kernel without TC's flower and multiq, the PMD of TAP ports validates rules, and creates none.

testpmd_flow.py PATH-OF-HAUL-FWD
"""
import re
import subprocess
import tempfile

import netns

import fwd
from prompt import Client
from testpmd import Testpmd, has_dpdk_of, need

ETH, UDP = "pattern eth / end", "pattern eth / ipv4 src is 1.2.3.4 / udp dst is 53 / end"
MANY = " / ".join(["ingress pattern eth"] + ["void"] * 20 + ["end actions drop / end"])
# In order: rules that exist are those of earlier commands.
SAME = [
    "flow list 0",
    f"flow validate 0 ingress {UDP} actions drop / end",
    f"flow create 0 ingress {UDP} actions drop / end",
    f"flow create 0 ingress priority 1 {UDP} actions queue index 0 / end",
    "flow create 0 priority 2 ingress pattern eth dst is 02:00:00:00:00:01 type is 0x0800 / ipv4 "
    "proto is 6 dst spec 10.0.0.0 dst prefix 8 / tcp src spec 1 src mask 0xffff / end "
    "actions passthru / end",
    "flow create 0 priority 3 ingress pattern eth / vlan vid is 5 / ipv6 dst is 2001:db8::1 / udp "
    "/ end actions drop / void / end",
    f"flow create 0 priority 4 ingress {ETH} actions drop / end",
    "flow list 0",
    "flow destroy 0 rule 1",
    "flow destroy 0 rule 9",
    "flow list 0",
    "flow list 0 group 0",
    f"flow create 0 priority 5 ingress {UDP} actions drop / end",
    "flow list 0",
    "flow query 0 0 count",
    "flow list 0 group 7",
    "flow flush 0",
    "flow list 0",
    # The PMD has something against each of these.
    f"flow validate 0 ingress {UDP} actions queue index 7 / end",
    f"flow validate 0 ingress {UDP} actions mark id 5 / end",
    f"flow validate 0 ingress {UDP} actions end",
    f"flow validate 0 ingress {UDP} actions count / end",
    f"flow validate 0 egress {UDP} actions drop / end",
    f"flow validate 0 transfer {UDP} actions drop / end",
    f"flow validate 0 group 3 ingress {UDP} actions drop / end",
    f"flow validate 0 priority 999999 ingress {UDP} actions drop / end",
    f"flow validate 0 {UDP} actions drop / end",
    "flow validate 0 ingress pattern end actions drop / end",
    "flow validate 0 ingress pattern ipv4 / end actions drop / end",
    "flow validate 0 ingress pattern eth / vxlan vni is 5 / end actions drop / end",
    "flow validate 0 ingress pattern eth / ipv4 ttl is 5 / end actions drop / end",
    "flow validate 0 ingress pattern eth / ipv4 / udp dst spec 1 dst last 5 dst mask 0xffff / end "
    "actions drop / end",
    "flow validate 0 ingress pattern eth / vlan dei is 1 / end actions drop / end",
    "flow validate 0 ingress pattern eth / ipv6 tc is 1 / end actions drop / end",
    "flow validate 0 ingress pattern eth / mpls label is 5 / end actions drop / end",
    f"flow validate 0 ingress {ETH} actions of_push_vlan ethertype 0x8100 / end",
    f"flow validate 0 ingress {ETH} actions set_ipv4_src ipv4_addr 1.2.3.4 / dec_ttl / end",
    f"flow validate 0 ingress {ETH} actions jump group 1 / end",
    f"flow validate 0 ingress {ETH} actions raw_encap index 1 / end",
    f"flow validate 0 {MANY}",
    "flow flush 5",
    # Wrong words.
    "flow",
    "flow creat 0 x",
    "flow create",
    "flow create 0",
    "flow create 0 ingress pattern eth / end",
    "flow create 0 ingress pattern eth srcc is 1 / end actions drop / end",
    "flow create 0 ingress pattern eth src is 1 / end actions drop / end",
    "flow create 0 ingress pattern eth src / end actions drop / end",
    "flow create 0 ingress pattern eth end actions drop / end",
    "flow create 0 ingress pattern udp dst is 65536 / end actions drop / end",
    "flow create 0 ingress pattern udp dst prefix 17 / end actions drop / end",
    "flow create 0 ingress pattern ipv4 src is 1.2.3 / end actions drop / end",
    "flow create 0 ingress pattern eth / end actions droop / end",
    "flow create 0 ingress pattern eth / end actions drop / end more",
    "flow create 0 ingress pattern eth / end actions queue indx 3 / end",
    "flow destroy 0",
    "flow destroy 0 rule x",
    "flow query 0 0",
    "flow isolate 0",
    # Of a PMD without flow rules.
    f"flow validate 1 ingress {UDP} actions drop / end",
    f"flow create 1 ingress {UDP} actions drop / end",
    "flow list 1",
    "flow flush 1",
    "flow isolate 1 1",
    # Rules go with the stop of their port.
    f"flow create 0 ingress {UDP} actions drop / end",
    "port stop 0",
    "flow list 0",
    "port start 0",
    f"flow create 0 ingress {UDP} actions drop / end",
    "flow list 0",
]

need()
if not has_dpdk_of(fwd.FWD):
    netns.skip_all("dpdk-testpmd has another DPDK than haul-fwd")
netns.enter()
netns.need("tap")
tap = netns.Tap()


def lines(said):
    """Without what the PMD logs, and what differs from run to run."""
    said = re.sub(r"cause: 0x[0-9a-f]+", "cause", said)
    kept = []
    for line in said.splitlines():
        if line.startswith("Bad arguments") or line == "Command not found":
            line = "Bad arguments"
        if line and not re.match(r"(?!port_flow_complain)\w+\(\): |Configuring|Port 0: ", line):
            kept.append(line.rstrip())
    return kept


netns.veth("v0", "v1")
netns.veth("w0", "w1")
with tempfile.TemporaryDirectory() as d, \
        fwd.Running("--port", "tap:t0", "--port", "afpacket:w0", "--carriers", 1, "-i",
                    "--control", f"{d}/c", options=["--json"], stdin=subprocess.PIPE) as haul, \
        Testpmd("net_tap0,iface=t1", "net_af_packet0,iface=v0") as peer:
    client = Client(f"{d}/c", haul)
    for command in SAME:
        ours, theirs = lines(client.ask(command)), lines(peer.answer(command))
        if command.startswith("port "):  # their words are testpmd_words.py's
            ours = theirs = [] if "Done" in ours and "Done" in theirs else [ours, theirs]
        if command.startswith("flow destroy") and not theirs:  # it is silent then
            theirs = [f"Flow rule #{command.split()[-1]} not found"]
        tap.ok(ours == theirs, command, f"haul-fwd: {ours}\ntestpmd: {theirs}")
    # It crashes the PMD of DPDK 22.11, and testpmd, where the kernel has no TC.
    for verb in "validate", "create":
        ours = client.ask(f"flow {verb} 0 ingress {UDP} actions rss queues 0 end / end")
        tap.ok(re.match("Flow rule (#1 created|validated)|port_flow_complain", ours),
               f"{verb} a rule with RSS", ours)
    listed = client.ask("help flow")
    tap.ok(re.search(r"^    eth: dst\|src\|type", listed, re.M) and
           re.search(r"^    queue: index", listed, re.M), "help flow: items and actions", listed)
    client.sock.close()
tap.done()
