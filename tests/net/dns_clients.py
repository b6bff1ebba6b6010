# SPDX-License-Identifier: BSD-3-Clause
"""haul-dns and others' programs: what dig prints, dnsperf with answers from the cache, nmap's
scans, random packets of scapy's, frames that are not for it. It answers what it should, and nothing
else.

Usage: dns_clients.py HAUL_DNS
"""
import logging
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

import netns

import dns_bed
import dns_message as dns

BINARY = sys.argv[1]
ALL = not netns.fewer()
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
PACKETS = 20000 if ALL else 2000


def run(*args):
    return subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=240).stdout


def dig(*args, at=dns_bed.IP4):
    return run("dig", f"@{at}", "+tries=1", "+time=60", *args)


def is_kept():
    return "EDE: 13 (Cached Error)" in dig("x.fail", "A")


def digs(t, name):
    for args, wanted in (
            (("a.test", "A", "+short"), r"^192\.0\.2\.10\n$"),
            (("chain.test", "A", "+short"), r"^chain2\.test\.\nChain3\.test\.\nmany"),
            (("nosuch.test", "A"), r"status: NXDOMAIN.*flags: qr rd ra;.*\ntest\.\s+\d+\s+IN"
                                   r"\s+SOA\s+ns\.test\. admin\.test\. 7 3600"),
            (("txt.test", "TXT", "+short"), r'"one" "two" "" "\\"quoted\\" and \\000\\255"'),
            (("https.test", "HTTPS", "+short"), r"1 \. alpn=\"h2\" ipv4hint=192\.0\.2\.10"),
            (("unknown.test", "TYPE65280", "+short"), r"\\# 5 0102030405"),
            (("x.fail", "A"), r"status: SERVFAIL.*EDE: 22 \(No Reachable Authority\)"),
            (("a.test", "A", "+cookie"), r"COOKIE: [0-9a-f]{48} \(good\)"),
            (("a.test", "A", "+noedns"), r"ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 0"),
            (("a.test", "A", "+edns=1", "+noednsneg"), r"status: BADVERS"),
            (("a.test", "A", "+ednsopt=65001:abcd", "+ednsflags=0x4000"), r"status: NOERROR"),
            (("a.test", "A", "+subnet=192.0.2.0/24"), r"status: NOERROR"),
            (("a.test", "A", "+dnssec"), r"\bRRSIG\s+A 13 2 300 20300101000000"),
            (("a.test", "A", "+opcode=NOTIFY"), r"status: NOTIMP"),
            (("version.bind", "TXT", "CH"), r"status: REFUSED"),
            (("ID.server", "TXT", "CH", "+norec"), r'NOERROR.*\s0\s+CH\s+TXT\s+"node-1"\n'),
            (("id.server", "A", "CH"), r"status: REFUSED"),
            (("health.server", "TXT", "CH", "+short"), r'^"serving"\n$'),
            (("big1.test", "TXT", "+bufsize=512", "+ignore"), r"flags: qr tc rd ra"),
            (("big16.test", "TXT", "+tcp", "-p", dns_bed.TCP), r"ANSWER: 64,"),
            (("-p", dns_bed.TCP, "+tcp", "+keepopen", "a.test", "A", "test", "MX"),
             r"192\.0\.2\.10.*mail\.test")):
        said = dig(*args, at=dns_bed.MINE4 if "+tcp" in args else dns_bed.IP4)
        t.ok(re.search(wanted, said, re.S), f"{name}: dig {' '.join(map(str, args))}", said)
    t.ok(dig("a.test", "AAAA", "+short", at=dns_bed.IP6) == "2001:db8::10\n", f"{name}: dig, IPv6")
    # For 5 s at first, and twice as long each time that it is over.
    netns.wait_for(is_kept, "a failure that is kept")
    t.ok(True, f"{name}: dig is told that a failure was kept")


def dnsperf(t, name, folder):
    turns = 5000 if ALL else 500
    asked = [q for q in dns_bed.QUESTIONS if not q[0].startswith("big")]
    with open(f"{folder}/queries", "w") as f:
        f.writelines(f"{n} {k}\n" for n, k in asked)
    said = run("dnsperf", "-s", dns_bed.IP4, "-d", f"{folder}/queries", "-n", turns, "-t", 60,
               "-q", 100, "-c", 4, "-e")
    sent, lost = (int(re.search(rf"Queries {w}:\s+(\d+)", said)[1]) for w in ("sent", "lost"))
    rate = re.search(r"Queries per second:\s+([\d.]+)", said)[1]
    print(f"# {name}: dnsperf: {sent} queries, {lost} lost, {rate} a second")
    t.ok(lost == 0 and sent == turns * len(asked) and not re.search(r"SERVFAIL|REFUSED", said),
         f"{name}: dnsperf loses no query", said)


def alive():
    """From a new socket, which has no answers to earlier queries."""
    client = dns_bed.Client()
    a = client.ask("a.test.", "A")
    client.close()
    return a.rcode == dns.NOERROR and len(a.answers) == 1


def nmap(t, name):
    common = ("nmap", "-n", "-Pn")
    said = run(*common, "--initial-rtt-timeout", "5s", "--max-rtt-timeout", "20s", "-sU", "-sV",
               "--version-intensity", "0", "-p", "53", "--script",
               "dns-nsid,dns-recursion,dns-cache-snoop", dns_bed.IP4)
    t.ok(re.search(r"^53/udp\s+open\s+domain", said, re.M), f"{name}: nmap finds the service", said)
    t.ok(not re.search(r"positive|bind\.version", said) and "id.server: node-1\n" in said,
         f"{name}: it tells its name, and nothing of what is cached", said)
    for scan in (("-sU", "-p", "1-52,54-200"), ("-sS", *(["-O"] if ALL else []), "-p", "1-200"),
                 ("-sO",)):
        said = run(*common, "-T5", "--max-retries", "0", *scan, dns_bed.IP4)
        t.ok(not re.search(r"^\d\S* +open +(?! |icmp)", said, re.M),
             f"{name}: nmap {' '.join(scan)} finds nothing else", said)
    t.ok(alive(), f"{name}: it is alive after scans of ports, protocols, its system")


def few_queues(t):
    """Clients by TCP are served where servers can be asked."""
    if not netns.can_open(t, "afxdp", "a queue for two carriers"):
        return
    netns.veth("y0", "y1")
    with dns_bed.bed(BINARY, "afxdp:y0", "y1", args=["--spread", "off"]) as (program, _):
        client, to = dns_bed.Client(), (dns_bed.MINE4, dns_bed.TCP)
        codes = [client.ask_tcp(f"n{i}.wild.test.", "A", to=to).rcode for i in range(8)]
        client.close()
        t.ok(codes == [dns.NOERROR] * 8, "a queue for two carriers: queries by TCP", codes)
        code, out, said = program.stop()
        t.ok(code == 0, "a queue for two carriers: a clean end", f"{code} {out} {said}")
    netns.ip("link del y0")


def notes(t):
    """Servers that cannot be asked are named at the start."""
    servers = {"10.9.9.1:5353": "", "10.8.8.8:53": "no route; use --route",
               "[fd88::8]:53": "no route; use --route", "10.9.9.2:53": "haul-dns itself"}
    with dns_bed.bed(BINARY, args=["--address", "10.7.7.7/32"], upstreams=servers) as (program, _):
        said = [line for line in program.lines if "cannot be asked" in line]
        wanted = [(s, why) for s, why in servers.items() if why]
        t.ok(len(said) == len(wanted) and
             all(f"server {s} " in line and why in line for (s, why), line in zip(wanted, said)),
             "notes about servers that cannot be asked", said)
        client = dns_bed.Client()
        t.ok(client.ask("a.test.", "A").rcode == dns.NOERROR, "the other one is")
        client.close()
        program.stop()


def wrong_texts(t):
    """Lines about what is wrong show it."""
    with tempfile.NamedTemporaryFile("w") as f:
        base = ["--port", "null:", "--address", "10.9.9.2/24", "--upstream", "10.9.9.1",
                "--duration", "1ms"]
        for options, text, code, wanted in (
                (["--allow", "10.0.0.0/8,all"], "", 2, "--allow: 'all': no network, such as"),
                (["--acl", f.name], "# a\n10.0.0.0/8 1.2.3.4/5/6 # b\n", 1,
                 "line 2: '1.2.3.4/5/6': no network"),
                (["--hosts", f.name], "10.1.1.1 a\r\n10.1.1.2 *.b\r\n10.1.1.3 c", 1,
                 "line 2: '10.1.1.2 *.b': no address and its names"),
                (["--hosts", f.name], "\ufeff10.1.1.1 a\n", 0, "ready"),
                (["--upstream", "dns.example"], "", 2, "--upstream: 'dns.example': not the addr"),
                (["--upstreams", f.name], "search a\nnameserver fe80::1%eth0 # router\n", 1,
                 "line 2: 'fe80::1%eth0': not the address of a server"),
                (["--hosts", f.name], "10.1.1.1", 1, "line 1: '10.1.1.1': no address and")):
            with open(f.name, "w") as file:
                file.write(text)
            r = subprocess.run([BINARY, *base, *options], capture_output=True, text=True)
            t.ok(r.returncode == code and wanted in r.stderr, f"{options[0]} {text!r}", r)


def udp(mac, src, dst, payload, sport=4321, dport=53):
    from scapy.all import Ether, IP, IPv6, UDP, Raw
    layer = IPv6 if ":" in dst else IP
    return Ether(src="02:00:00:00:00:33", dst=mac) / layer(src=src, dst=dst) / \
        UDP(sport=sport, dport=dport) / Raw(payload)


def answers_to(wire, client, frames):
    """What comes back for these, except to the one that shows that they have been looked at; but
    another carrier may still look at them, so the wire is quiet for a moment at the end."""
    for frame in frames:
        wire.send(bytes(frame))
    mark = client.send("mark.wild.test.", "A")
    got, is_marked = [], False
    while True:
        frame = wire.recv(0.05 if is_marked else 60)  # nothing is to come
        if frame is None and is_marked:
            return got
        if frame is None:
            raise TimeoutError("no answer to the mark")
        if frame[12:14] == b"\x08\x06" or frame[12:14] == b"\x86\xdd" and frame[20] == 58:
            continue  # neighbours
        if frame[12:14] == b"\x08\x00" and frame[36:38] == struct.pack("!H", dns_bed.UPSTREAM):
            continue  # a question to the server
        if frame[42:44] == struct.pack("!H", mark):
            client.recv()
            is_marked = True
        else:
            got.append(frame)


def not_for_us(t, name, dev, client, mac):
    """Each would be answered, were it not for one thing."""
    from scapy.all import IP, UDP
    wire = netns.Raw(dev)
    query = dns.query("a.test.", "A", id=0x4242)
    mine, ours = dns_bed.MINE4, dns_bed.IP4
    good = udp(mac, mine, ours, query)
    good6 = udp(mac, dns_bed.MINE6, dns_bed.IP6, query)
    t.ok(len(answers_to(wire, client, [good, good6])) == 2, f"{name}: a good frame is answered")
    wrong_sum = good.copy()
    wrong_sum[UDP].chksum = 1
    wrong_head = good.copy()
    wrong_head[IP].chksum = 1
    frames = {
        "another address": udp(mac, mine, "10.9.9.7", query),
        "the network's broadcast": udp(mac, mine, "10.9.9.255", query),
        "everybody": udp("ff:ff:ff:ff:ff:ff", mine, "255.255.255.255", query),
        "a group": udp("01:00:5e:00:00:fb", mine, "224.0.0.251", query),
        "from ourselves": udp(mac, ours, ours, query),
        "from nobody": udp(mac, "0.0.0.0", ours, query),
        "from everybody": udp(mac, "255.255.255.255", ours, query),
        "from the network's broadcast": udp(mac, "10.9.9.255", ours, query),
        "from a group": udp(mac, "224.0.0.1", ours, query),
        "from loopback": udp(mac, "127.0.0.1", ours, query),
        "to our address, as a broadcast": udp("ff:ff:ff:ff:ff:ff", mine, ours, query),
        "for another machine": udp("02:00:00:00:00:99", mine, ours, query),
        "another port": udp(mac, mine, ours, query, dport=5353),
        "from port 0": udp(mac, mine, ours, query, sport=0),
        "an answer": udp(mac, mine, ours, query[:2] + b"\x81\x80" + query[4:], sport=53),
        "no header": udp(mac, mine, ours, query[:11]),
        "nothing": udp(mac, mine, ours, b""),
        "a wrong checksum": wrong_sum,
        "a wrong checksum of the head": wrong_head,
        "IPv6, another address": udp(mac, dns_bed.MINE6, "fd09::7", query),
        "IPv6, from ourselves": udp(mac, dns_bed.IP6, dns_bed.IP6, query),
        "IPv6, from a group": udp(mac, "ff02::1", dns_bed.IP6, query),
        "IPv6, from nobody": udp(mac, "::", dns_bed.IP6, query),
    }
    for what, frame in frames.items():
        got = answers_to(wire, client, [frame] * 3)
        t.ok(not got, f"{name}: no answer: {what}", [f.hex() for f in got])
    wire.close()


def random_packets(t, name, client):
    """Queries with bytes, or fields, at random. Each answer is well formed, and no larger than it
    may be."""
    from scapy.all import DNS, DNSQR, fuzz
    choose = random.Random(SEED)
    random.seed(SEED)
    larger, malformed, nb = [], [], 0
    for i in range(PACKETS):
        if i % 4 == 0 and i < 2000:
            msg = bytes(fuzz(DNS(qd=fuzz(DNSQR()), an=None)))
        else:
            msg = bytearray(dns.query(choose.choice(dns_bed.QUESTIONS)[0], "A", id=i,
                                      size=choose.choice((None, 0, 512, 4096, 65535))))
            for _ in range(choose.randrange(4)):
                msg[choose.randrange(len(msg))] = choose.randrange(256)
            msg = msg[:choose.randrange(len(msg) + 1)] if i % 9 == 0 else msg
        try:
            client.sock.send(bytes(msg))
        except OSError:
            continue
        if i % 50 != 49:
            continue
        mark = client.send("a.test.", "A")
        while True:
            got = client.recv()
            try:
                a = dns.Message(got)
            except (IndexError, ValueError, struct.error) as e:
                malformed.append((got.hex(), repr(e)))
                continue
            nb += 1
            if len(got) > 1232:
                larger.append(len(got))
            if a.id == mark and a.answers and a.question == [(b"a.test.", 1, 1)]:
                break
    t.ok(nb > PACKETS / 10 and not larger and not malformed,
         f"{name}: {PACKETS} random queries: {nb} answers, well formed, none too large",
         (nb, larger[:5], malformed[:5]))
    t.ok(alive(), f"{name}: it is alive after that")


def main():
    netns.enter()
    logging.getLogger("scapy").setLevel(logging.ERROR)  # there is no default route
    dns_bed.have("unbound", "dig", "dnsperf", "nmap")
    t = netns.Tap()
    print(f"# HAUL_SEED={SEED}")
    folder = tempfile.mkdtemp(prefix="dns-")
    few_queues(t)
    notes(t)
    wrong_texts(t)
    for name, port, dev in dns_bed.beds():
        args = ["--allow", "10.0.0.0/8 fd00::/8 127.0.0.0/8 0.0.0.0/8 224.0.0.0/3 ::/8 ff00::/8",
                "--id", "node-1"]
        with dns_bed.bed(BINARY, port, dev, args=args) as (program, _):
            client = dns_bed.Client()
            mac = dns_bed.mac_of(dev)
            for test in (lambda: digs(t, name), lambda: dnsperf(t, name, folder),
                         lambda: not_for_us(t, name, dev, client, mac),
                         lambda: random_packets(t, name, client),
                         lambda: nmap(t, name)):
                began = time.monotonic()
                test()
                print(f"# {time.monotonic() - began:.1f} s", flush=True)
            client.close()
            code, out, said = program.stop()
            t.ok(code == 0, f"{name}: a clean end", f"{code} {out} {said}")
    t.done()


main()
