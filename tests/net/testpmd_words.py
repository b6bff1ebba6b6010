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
from testpmd import Testpmd, has_dpdk_of, need

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
    ("set portlist 0", None),
    ("set portlist 0,7", "Invalid "),
    ("set portmask 1", None),
    ("set nbport 1", "Number of forwarding ports set to 1"),
    ("set nbport 9", r"nb fwd ports 9 > 1 \(number of configured ports\) - ignored"),
    ("set nbcore 1", "Number of forwarding cores set to 1"),
    ("set fwd io retry", "Set io packet forwarding mode with retry"),
    ("set burst tx delay 10 retry 100", None),
    ("show config fwd", "io packet forwarding with retry - ports=1.*"
                        "TX retry num: 100, delay between TX retries: 10us"),
    ("set fwd io", r"Set io packet forwarding mode\s*$"),
    ("show config fwd", "io packet forwarding - ports=1"),
    ("show port 0 rx_offload configuration", r"Rx Offloading Configuration of port 0 :\s+Port :"
                                             r".*Queue\[ 0\] :"),
    ("tx_vlan set pvid 0 5 maybe", "Bad arguments"),
    ("show port 0 rxq 0 desc used count", "Invalid queueid = 0"),
    ("show port 0 rxq 9 desc used count", "Invalid queueid = 9"),
    ("show port 0 rxq 0 desc 0 status", "Invalid input: queue id = 0, desc id = 0"),
    ("show port 0 txq 0 desc 9 status", "Invalid input: queue id = 0, desc id = 9"),
    ("show port 0 ptypes", "L2 ptypes unsupported.*L3 ptypes unsupported.*Inner L4 ptypes unsup"),
    ("set port 0 ptype_mask 0xff", "Port 0 doesn't support any ptypes."),
    ("show port 0 eeprom", "operation not supported by device"),
    ("vlan set inner tpid 0x8100 0",
     r"tx_vlan_tpid_set\(port_pi=0, vlan_type=1, tpid=33024\) failed diag=-95"),
    ("vlan set outer tpid 0x88a8 0",
     r"tx_vlan_tpid_set\(port_pi=0, vlan_type=2, tpid=34984\) failed diag=-95"),
    ("port config 0 udp_tunnel_port add vxlan 4789",
     r"udp tunneling port add error: \(Operation not supported\)"),
    ("set txsplit rand", None),
    ("set txpkts 64,100", None),
    ("show config txpkts",
     "Number of segments: 2.*Segment sizes: 64,100.*Split packet: rand"),
    ("set txsplit off", None),
    ("set record-core-cycles on", None),
    ("set record-burst-stats on", None),
    ("set xstats-hide-zero on", None),
    ("set flush_rx off", None),
    ("set link_check on", None),
    ("set log lib.eal 5", None),
    ("dump_memzone", "Zone"),
    ("port stop all", r"Stopping ports\.\.\..*Done"),
    ("tx_vlan set 0 5 6", "Error: qinq insert not supported by port 0"),
    ("csum set outer-ip hw 0", "Outer IP checksum offload is not supported by port 0"),
    ("csum show 0", "IP checksum offload is sw.*UDP checksum offload is sw.*"
                    "TCP checksum offload is sw.*SCTP checksum offload is sw.*"
                    "Outer-Ip checksum offload is sw.*Outer-Udp checksum offload is sw"),
    ("port config all speed 1000 duplex full", None),
    ("port config 0 speed auto duplex auto", None),
    ("port config 0 speed 1000 duplex half", "Invalid speed/duplex parameters"),
    ("port config 0 rx_offload vlan_strip on", None),
    ("port config 0 rx_offload vlan_strip off", None),
    ("port config 0 rxq 0 ring_size 256", None),
    ("port config all rxd 256", None),
    ("port config all txd 256", None),
    ("port config all rxq 1", None),
    ("port config all txq 1", None),
    ("port 0 rxq 0 deferred_start on", None),
    ("port 0 rxq 0 deferred_start off", None),
    ("port 0 txq 0 deferred_start off", None),
    ("port config all burst 16", None),
    ("port 0 rxq 0 setup", None),
    ("port start all", "Done"),
    ("port stop all", r"Stopping ports\.\.\..*Done"),
    ("port close all", r"Closing ports\.\.\..*Port 0 is closed.*Done"),
    ("show port info all", r"\A(?!.*Infos for port)"),
]

need()
if not has_dpdk_of(fwd.FWD):  # newer ones read the number of used descriptors without the PMD
    SAME = [one for one in SAME if "desc used count" not in one[0]]
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

# On ports of other kinds: line by line the same, but for a reason of the PMD behind it.
SAME_LINES = ["show port 0 ptypes", "show port 0 eeprom", "show port 0 rxq 0 desc used count",
              "show port 0 rxq 0 desc 0 status", "show port 0 txq 0 desc 0 status",
              "vlan set inner tpid 0x8100 0", "show config txpkts",
              "show port 0 rx_offload configuration", "set fwd mac retry"]
if not has_dpdk_of(fwd.FWD):
    SAME_LINES.remove("show port 0 rxq 0 desc used count")


def lines_of(said):
    return [line.rstrip() for line in said.splitlines()
            if line.strip() and not re.match(r" *([RT]X-packets:|-{20}|\+{20})", line)]


for vdev, spec in (("net_tap0,iface=q0", "tap:q1"), ("net_null0", "null:"), ("net_ring0", "ring:")):
    with tempfile.TemporaryDirectory() as d, \
            fwd.Running("--port", spec, "--carriers", 1, "--mode", "io", "-i", "--control",
                        f"{d}/c", options=["--json"], stdin=subprocess.PIPE) as haul, \
            Testpmd(vdev) as peer:
        client, wrong = Client(f"{d}/c", haul), []
        for command in SAME_LINES:
            ours, theirs = lines_of(client.ask(command)), lines_of(peer.answer(command))
            if len(ours) != len(theirs) or not all(
                    a == b or a.startswith(f"{b}: ") for a, b in zip(ours, theirs)):
                wrong.append(f"{command}: {ours} {theirs}")
        tap.ok(not wrong, f"{spec}: what both say, line by line", "\n".join(wrong))
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
    (["--vdev=net_null0", "--", "-i", "--coremask=0x2", "--eth-peers-configfile=/dev/null",
      "--disable-device-start", "--eth-link-speed=1000", "--display-xstats", "rx_good_packets",
      "--record-core-cycles", "--record-burst-stats"], 1, ["net_null0"], []),
    (["--vdev=net_null0", "--", "-i", "--hot-plug", "--rxq-share", "--rxpt=4", "--txfreet", "8",
      "--rx-mq-mode=1", "--max-lro-pkt-size", "2000", "--print-event=all", "--tx-first",
      "--noisy-lkup-memory=1"], 1, ["net_null0"],
     ["--hot-plug", "--rxq-share", "--rxpt=4", "--txfreet", "--rx-mq-mode=1",
      "--max-lro-pkt-size", "--print-event=all", "--tx-first", "--noisy-lkup-memory"]),
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
                         (["--vdev=net_null0", "--", "--rxpkts=64"], "buffers of one size"),
                         (["--vdev=net_null0", "--", "--eth-peers-configfile=/none"], "No such"),
                         (["--vdev=net_null0", "--", "--eth-link-speed=7"], "Mbit/s"),
                         (["-l"], "-l: its value"),
                         (["--vdev", "--"], "--vdev: its value"),
                         (["--", "--no-such"], "--no-such")):
        r = subprocess.run([link, *args], stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        tap.ok(r.returncode == 2 and wanted in r.stderr and len(r.stderr.splitlines()) == 1,
               f"testpmd {' '.join(args)}: refused with a line", r)
tap.done()
