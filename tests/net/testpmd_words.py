#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Commands of the prompt beside dpdk-testpmd's, each program on a veth pair of its own: what one
refuses, the other refuses, and scripts find the words that they look for in both.

testpmd_words.py PATH-OF-HAUL-FWD
"""
import json
import os
import re
import subprocess
import tempfile

import netns

import fwd
from prompt import PROMPT, Client, Terminal
from testpmd import Testpmd, need

MAC, GROUP = "02:00:00:00:00:11", "01:00:5e:00:00:11"
KEY = "6d5a" * 20

# Commands, and what both say; None: nothing but blank lines. In order: later ones see what earlier
# ones have changed.
SAME = [
    ("show device info all", r"Infos for device .*Bus name: vdev.*Driver name: net_af_packet"
                             r".*Devargs: iface=.*Port id: 0 .*MAC address: .*Device name: "
                             r".*speed capability: Autonegotiate"),
    (f"mac_addr add 0 {MAC}", r"mac_addr_cmd error: \(Operation not supported\)"),
    (f"mac_addr remove 0 {MAC}", r"mac_addr_cmd error: \(Operation not supported\)"),
    ("mac_addr set 0 02:00:00:00:00:77", None),
    ("show port 0 macs", r"Number of MAC address added: 1\s+02:00:00:00:00:77"),
    (f"mcast_addr add 0 {GROUP}", r"rte_eth_dev_set_mc_addr_list\(port=0, nb=1\) failed. diag=-95"),
    (f"mcast_addr add 0 {MAC}", "Invalid multicast.addr"),
    (f"mcast_addr remove 0 {GROUP}", "multicast address not filtered by port 0"),
    ("show port 0 mcast_macs", "Number of Multicast MAC address added: 0"),
    ("rx_vxlan_port add 4790 0", r"udp tunneling add error: \(Operation not supported\)"),
    ("set flow_ctrl rx on 0", "cannot get current flow ctrl parameters, return code = -95"),
    (f"port config 0 rss-hash-key ipv4 {KEY}", "dev_info did not provide a valid hash key size"),
    ("port config 0 rss reta (0,0)", "Redirection table size is 0 which is invalid for RSS"),
    ("set nbcore 1", "Number of forwarding cores set to 1"),
    ("show port 0 rx_offload configuration", r"Rx Offloading Configuration of port 0 :\s+Port :"
                                             r".*Queue\[ 0\] :"),
    ("port stop all", r"Stopping ports\.\.\..*Done"),
    ("port config 0 rx_offload vlan_strip on", None),
    ("port config 0 rx_offload vlan_strip off", None),
    ("port config 0 rxq 0 ring_size 256", None),
    ("port config all rxd 256", None),
    ("port config all txd 256", None),
    ("port config all rxq 1", None),
    ("port config all burst 16", None),
    ("port 0 rxq 0 setup", None),
    ("port start all", "Done"),
    ("port stop all", r"Stopping ports\.\.\..*Done"),
    ("port close all", r"Closing ports\.\.\..*Port 0 is closed.*Done"),
    ("show port info all", r"\A(?!.*Infos for port)"),
]

need()
netns.enter()
tap = netns.Tap()


def fits(said, wanted):
    if wanted is None:
        return said.strip() == ""
    return re.search(wanted, said, re.S) is not None


netns.veth("v0", "v1")
netns.veth("w0", "w1")
with tempfile.TemporaryDirectory() as d, \
        fwd.Running("--port", "afpacket:w0", "--carriers", 1, "--mode", "io", "-i",
                    "--control", f"{d}/c", options=["--json"], stdin=subprocess.PIPE) as haul, \
        Testpmd("net_af_packet0,iface=v0") as peer:
    client = Client(f"{d}/c", haul)
    for command, wanted in SAME:
        ours, theirs = client.ask(command), peer.answer(command)
        tap.ok(fits(ours, wanted) and fits(theirs, wanted), command,
               f"wanted: {wanted}\nhaul-fwd: {ours}\ntestpmd: {theirs}")
    client.sock.close()

# What testpmd's scripts wait for at the end, on a terminal.
with Terminal("--port", "null:", "-i") as terminal:
    terminal.wait_for(PROMPT)
    terminal.type("quit\n")
    terminal.wait_for("Bye...")
    tap.ok(terminal.process.wait(60) == 0, "quit on a terminal: Bye... is the last line")

# Command lines of dpdk-testpmd: (arguments, CPUs of carriers, ports, notes)
NULLS = ["--vdev=net_null0", "--vdev", "net_null1"]
LINES = [
    (["-l", "0,1", *NULLS, "--", "-i"], 1, ["net_null0", "net_null1"], []),
    (["-l0-1", "-n", "4", "--no-huge", "-m", "512", "--no-pci", "--file-prefix=x", *NULLS, "--",
      "--nb-cores=1", "--rxq=1", "--txq=1", "-i"], 1, ["net_null0", "net_null1"], []),
    (["-c", "0x3", "-n4", "--vdev=net_null0,size=256", "--", "-i", "--total-num-mbufs=2048"], 1,
     ["net_null0,size=256"], []),
    (["--vdev=net_null0", "--", "-i", "--numa", "--mbcache=512", "--disable-link-check",
      "--stats-period", "1", "--forward-mode=macswap"], 1, ["net_null0"],
     ["--numa", "--mbcache=512", "--disable-link-check", "--stats-period"]),
]
with tempfile.TemporaryDirectory() as d:
    link = f"{d}/dpdk-testpmd"
    os.symlink(os.path.abspath(fwd.FWD), link)
    for i, (args, carriers, ports, notes) in enumerate(LINES):
        start = [link] if i % 2 else [fwd.FWD, "--testpmd"]
        r = subprocess.run([*start, *args], input="show json\nquit\n", text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        found = re.search(r"^testpmd> show json\n(\{.*?^\})", r.stdout, re.S | re.M)
        got = json.loads(found.group(1)) if found else {}
        noted = re.findall(r"^haul-fwd: note: (--\S+) has no effect here", r.stderr, re.M)
        tap.ok(r.returncode == 0 and noted == notes and
               [p["spec"] for p in got.get("ports", [])] == ports and
               len(got.get("carriers", [])) == carriers, f"{start[-1] == link} {' '.join(args)}",
               f"{r.stderr}\n{r.stdout[:2000]}")
    for args, wanted in ((["-l", "0", *NULLS, "--", "--hairpinq=1"], "--hairpinq: not there"),
                         (["-l"], "-l: its value"),
                         (["--vdev", "--"], "--vdev: its value"),
                         (["--", "--no-such"], "--no-such")):
        r = subprocess.run([link, *args], stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        tap.ok(r.returncode == 2 and wanted in r.stderr and len(r.stderr.splitlines()) == 1,
               f"testpmd {' '.join(args)}: refused with a line", r)
tap.done()
