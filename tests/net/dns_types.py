# SPDX-License-Identifier: BSD-3-Clause
"""haul-dns and unbound give the same answers to the same questions, of all types in use: not cached
and cached, with EDNS and without, in datagrams of all sizes, over IPv4 and IPv6, TAP and AF_XDP.

Usage: dns_types.py HAUL_DNS
"""
import random
import os
import sys
import time

import netns

import dns_bed
import dns_message as dns

ALL = not netns.fewer()
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
SIZES = (None, 512, 513, 700, 1232, 1400, 4096)


def in_mixed_case(choose, name):
    return "".join(choose.choice((c.lower(), c.upper())) for c in name)


def differ(ours, theirs, age):
    """What is different that should be equal, or None. age: s since the first answer."""
    if ours.rcode != theirs.rcode:
        return f"rcode {ours.rcode}, not {theirs.rcode}"
    if dns.said(ours.answers) != dns.said(theirs.answers):
        return f"answers {dns.said(ours.answers)}, not {dns.said(theirs.answers)}"
    least = {}
    for r in theirs.answers:
        key = r.name.lower(), r.type
        least[key] = min(r.ttl, least.get(key, r.ttl))
    for r in ours.answers:
        ttl = min(least[r.name.lower(), r.type], 86400)
        if not ttl - age - 2 <= r.ttl <= ttl:
            return f"TTL {r.ttl} of {r.name}, not {ttl} less up to {age}"
    return None


def differ_in_authority(ours, theirs, do):
    """Of negative answers."""
    wanted = {6, 46, 47} if do else {6}
    theirs = [r for r in theirs.authority if r.type in wanted and
              (r.type != 46 or r.data[0][:2] != b"\0\2")]  # no signature of NS
    ours = dns.said(ours.authority)
    return None if ours == dns.said(theirs) else f"authority {ours}, not {dns.said(theirs)}"


def is_negative(msg, type):
    return not any(r.type == dns.type_of(type) for r in msg.answers)


def compare(choose, client, judge, name, type, size, do, age):
    """One question, to both; if the answer is truncated, once more by TCP. What is wrong, or
    None."""
    asked = in_mixed_case(choose, name)
    ours = client.ask(asked, type, size=size, do=do)
    theirs = judge.ask_tcp(name, type, size=None if size is None else 4096, do=do)
    most = max(512, min(size or 512, 1232))
    if len(ours.bytes) > most:
        return f"{len(ours.bytes)} bytes, more than {most}"
    if ours.tc:
        if ours.answers:
            return "records beside the flag of truncation"
        if len(theirs.bytes) <= 512:
            return "a short answer is truncated"
        ours = client.ask_tcp(asked, type, to=(dns_bed.MINE4, dns_bed.TCP), size=size, do=do)
        if ours.tc:
            return "truncated by TCP"
    if ours.question != [(asked.encode(), dns.type_of(type), 1)]:
        return f"question {ours.question}"
    if ours.flags & ~(dns.TC | 15) != dns.QR | dns.RD | dns.RA:
        return f"flags {ours.flags:#x}"
    if (ours.opt is None) != (size is None):
        return f"OPT {ours.opt}"
    if ours.opt and (ours.opt[1] & 0x8000) != (0x8000 if do else 0):
        return f"flag DO of {ours.opt}"
    wrong = differ(ours, theirs, age)
    if wrong:
        return wrong
    if is_negative(ours, type):
        return differ_in_authority(ours, theirs, do)
    return None


def compare_all(t, name, server, choose, address):
    client = dns_bed.Client(address)
    judge = server.client
    began = time.monotonic() - 60  # what is cached already may be older
    for do in False, True:
        wrong, nb = [], 0
        # The first answer is from the server, the others from the cache.
        for turn in range(3):
            for q in dns_bed.QUESTIONS:
                sizes = SIZES if ALL else [choose.choice(SIZES)]
                for size in [s for s in sizes if s or not do]:
                    nb += 1
                    w = compare(choose, client, judge, *q, size, do, time.monotonic() - began)
                    if w:
                        wrong.append((turn, *q, size, w))
        for w in wrong[:10]:
            print("#", *w)
        t.ok(not wrong, f"{name}, {'with' if do else 'without'} DO: {nb} answers are unbound's",
             f"{len(wrong)} are not")
    client.close()


def errors(t, name, server, address):
    client = dns_bed.Client(address)
    a = client.ask("x.fail.", "A", size=1232)
    t.ok(a.rcode == dns.SERVFAIL and not any(a.sections), f"{name}: SERVFAIL of the server",
         a.flags)
    a = client.ask("a.test.", "A", flags=0)
    t.ok(a.rcode == dns.REFUSED, f"{name}: without RD nobody sees what is cached", hex(a.flags))
    a = client.ask("a.test.", "A", flags=0x2800 | dns.RD)
    t.ok(a.rcode == dns.NOTIMP, f"{name}: another opcode", hex(a.flags))
    a = client.ask("a.test.", "ANY", size=1232)
    t.ok(a.rcode == dns.NOERROR and len(a.answers) == 1, f"{name}: ANY gets one record", a.answers)
    client.close()


def text_of(n):
    """A name and its TXT record, which make an answer of n bytes with an OPT."""
    left = n - 12 - len(dns.to_wire(f"s{n}.test.")) - 4 - 12 - 11
    strings = []
    while left > 0:
        strings.append("x" * (min(left, 256) - 1))
        left -= len(strings[-1]) + 1
    return f"s{n} 300 TXT " + " ".join(f'"{s}"' for s in strings) + "\n"


def mtu(t, binary):
    """An answer in a datagram is no larger than --udp-size, nor than the MTU."""
    sizes = 1352, 1353, 1372, 1373, 1452, 1453, 1472
    zone = dns_bed.zone(signed=False, more="".join(map(text_of, sizes)))
    for mtu in 1500, 1400:
        netns.veth("z0", "z1", mtu=mtu)
        with dns_bed.bed(binary, "afpacket:z0", "z1", unbound={"text": zone},
                         args=["--udp-size", 1472]) as (program, _):
            for address, headers in (dns_bed.IP4, 28), (dns_bed.IP6, 48):
                client = dns_bed.Client(address)
                answers = [client.ask(f"s{n}.test.", "TXT", size=4096) for n in sizes]
                whole = [n for n, a in zip(sizes, answers) if len(a.bytes) == n and not a.tc]
                rest = [a for a in answers if a.tc and not a.answers]
                wanted = [n for n in sizes if n <= mtu - headers]
                t.ok(whole == wanted and len(whole) + len(rest) == len(sizes),
                     f"MTU {mtu}, {address}: the answers that fit, others are truncated",
                     [(len(a.bytes), a.tc) for a in answers])
                client.close()
            code, out, said = program.stop()
            t.ok(code == 0, f"MTU {mtu}: a clean end", f"{code} {out} {said}")
        netns.ip("link del z0")


def main():
    netns.enter()
    dns_bed.have("unbound")
    t = netns.Tap()
    print(f"# HAUL_SEED={SEED}")
    choose = random.Random(SEED)
    mtu(t, sys.argv[1])
    for name, port, dev in dns_bed.beds():
        with dns_bed.bed(sys.argv[1], port, dev) as (program, server):
            for address in dns_bed.IP4, dns_bed.IP6:
                compare_all(t, f"{name}, {address}", server, choose, address)
                errors(t, f"{name}, {address}", server, address)
            code, out, said = program.stop()
            t.ok(code == 0, f"{name}: a clean end", f"{code} {out} {said}")
    t.done()


main()
