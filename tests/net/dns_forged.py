# SPDX-License-Identifier: BSD-3-Clause
"""haul-dns under forgers: replies with a wrong id, port, name, or source, as fast as they can be
sent, are not accepted, and the right one still is. Queries from forged addresses get no more
answers than the limit of their network allows, and none that is larger than it may be.

Usage: dns_forged.py HAUL_DNS FRAME_FLOOD
"""
import contextlib
import os
import random
import socket
import struct
import subprocess
import sys
import time

import netns

import dns_bed
import dns_message as dns
from dns_path import Path

BINARY, FLOOD = sys.argv[1:3]
ALL = not netns.fewer()
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
SECONDS = 4 if ALL else 1
RIGHT, BAD = socket.inet_aton("192.0.2.14"), socket.inet_aton("6.6.6.6")
PATH = 5354  # of the bad path
OTHER = "10.9.9.9"  # a neighbour that is no server


def ipv4(src, dst, payload, sport, dport):
    """A frame without its checksums, and without MAC addresses."""
    udp = struct.pack("!4H", sport, dport, 8 + len(payload), 0) + payload
    return struct.pack("!2BHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + \
        socket.inet_aton(src) + socket.inet_aton(dst) + udp


def forge(question, address=BAD, ttl=3600, flags=dns.QR | dns.RD | dns.RA):
    """A reply to the question of a query, which says what the forger wants."""
    end = question.index(b"\0", 12) + 5
    return question[:2] + struct.pack("!5H", flags, 1, 1, 0, 0) + question[12:end] + \
        b"\xc0\x0c" + struct.pack("!2HIH", 1, 1, ttl, 4) + address


class Flood:
    """Frames out of dev, until the end of the with statement."""

    def __init__(self, dev, mac, packet, *fields, rate=0, seconds=3600, my_mac=None):
        frame = mac + (my_mac or netns.mac(dev)) + b"\x08\x00" + packet
        self.process = subprocess.Popen(
            [FLOOD, dev, str(rate), str(seconds), frame.hex(), *fields], stdout=subprocess.PIPE,
            text=True, env=os.environ | {"HAUL_SEED": str(SEED)})

    def finish(self):
        out, _ = self.process.communicate()
        sent, seconds = out.split()
        return int(sent), float(seconds)


def addresses(answer):
    return [r.data[0] for r in answer.answers]


def blind(t, name, dev, choose):
    """The forger knows the question and the server, and floods ports and ids at random; some of the
    floods come from others. The server takes its time."""
    mac = bytes.fromhex(dns_bed.mac_of(dev).replace(":", ""))
    question = dns.query("zero.test.", "A", size=1232)
    kinds = [("ids and ports", dns_bed.MINE4, ("36:2", "42:2")),
             ("ids, ports, sources", dns_bed.MINE4, ("26:4", "36:2", "42:2")),
             ("ids, ports and all else", dns_bed.MINE4, ("26:50",))]
    for what, source, fields in kinds if ALL else [choose.choice(kinds)]:
        packet = ipv4(source, dns_bed.IP4, forge(question), PATH, 1024)
        client, wrong, nb = dns_bed.Client(), 0, 0
        before = netns.counter(dev, "tx_packets")
        flood = Flood(dev, mac, packet, *fields, seconds=SECONDS)
        while flood.process.poll() is None:
            a = insist(client)
            nb += 1
            wrong += BAD in addresses(a)
        sent, seconds = flood.finish()
        taken = netns.counter(dev, "tx_packets") - before
        print(f"# {name}: {sent / seconds:.0f} forged replies a second, {taken / seconds:.0f} "
              f"reached it; {nb} questions")
        t.ok(wrong == 0 and nb > 0, f"{name}: {what} at random: none of {sent} is accepted", wrong)
        a = insist(client)
        t.ok(addresses(a) == [RIGHT], f"{name}: the right one is, afterwards", a.answers)
        client.close()


class Forger(Path):
    """On the path: it sees the query, and sends others' replies before the right one."""

    def __init__(self, *args, **more):
        self.forge, self.nb = None, 0
        self.elsewhere = {}
        for key in ((OTHER, PATH), (dns_bed.MINE4, PATH + 1)):
            self.elsewhere[key] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.elsewhere[key].bind(key)
        super().__init__(*args, **more)

    def forward(self):
        msg, client = self.front.recvfrom(4096)
        if self.forge:
            self.nb += self.forge(self, msg, client)
        self.asked += 1
        ours = self.asked & 0xffff
        self.clients[ours] = client, msg[:2]
        self.back.send(struct.pack("!H", ours) + msg[2:])

    def __exit__(self, *args):
        super().__exit__(*args)
        for s in self.elsewhere.values():
            s.close()


def with_id(msg, id):
    return struct.pack("!H", id) + msg[2:]


def other_ids(path, msg, client):
    """Many but the right one: as many as can be sent while it is waited for."""
    reply, right = forge(msg), struct.unpack_from("!H", msg)[0]
    step = 16
    n = 0
    for id in range(right % step, 1 << 16, step):
        if id != right:
            path.front.sendto(with_id(reply, id), client)
            n += 1
    return n


def swap_case(msg, at):
    return msg[:at] + bytes([msg[at] ^ 0x20]) + msg[at + 1:]


def other_fields(path, msg, client):
    """Each differs from the right one in one thing only."""
    reply = forge(msg)
    name_end = msg.index(b"\0", 12)
    ours = [swap_case(reply, at) for at in range(13, name_end) if chr(msg[at]).isalpha()]
    ours += [
        reply[:2] + b"\x01\x00" + reply[4:],  # a query
        reply[:2] + struct.pack("!H", dns.QR | 0x2800) + reply[4:],  # another opcode
        reply[:4] + b"\0\0" + reply[6:12] + reply[name_end + 5:],  # no question
        reply[:4] + b"\0\2" + reply[6:name_end + 5] + reply[12:],  # two
        reply[:name_end + 2] + b"\x1c" + reply[name_end + 3:],  # another type
        reply[:name_end + 4] + b"\x03" + reply[name_end + 5:],  # another class
        forge(msg[:12] + dns.to_wire("other.test.") + msg[name_end + 1:]),
        forge(msg[:12] + b"\x01x" + msg[12:]),  # a name below
        reply[:20], reply[:12], reply[:3], b"", reply[:-1],
        with_id(reply, struct.unpack_from("<H", msg)[0]),
    ]
    ours = [r for r in ours if r[:2] != msg[:2] or r[2:] != reply[2:]]
    for r in ours:
        path.front.sendto(r, client)
    for s in path.elsewhere.values():
        s.sendto(reply, client)
    for port in -2, -1, 1, 2:  # sockets of other questions
        path.front.sendto(reply, (client[0], (client[1] + port) & 0xffff))
    return len(ours) + 6


def all_right(path, msg, client):
    """On the path, it can: this shows that the others could fail."""
    path.front.sendto(forge(msg), client)
    return 1


def poison(path, msg, client):
    """The right reply, with more in it than was asked for."""
    end = msg.index(b"\0", 12) + 5
    bad = dns.to_wire("a.test.") + struct.pack("!2HIH", 1, 1, 3600, 4) + BAD
    ns = dns.to_wire("test.") + struct.pack("!2HIH", 2, 1, 3600, 4) + b"\1x\xc0\x0c"
    reply = msg[:2] + struct.pack("!5H", dns.QR | dns.RD | dns.RA, 1, 2, 1, 1) + msg[12:end] + \
        b"\xc0\x0c" + struct.pack("!2HIH", 1, 1, 0, 4) + RIGHT + bad + ns + bad
    path.front.sendto(reply, client)
    return 1


def insist(client):
    """As clients do: the query may have met a full queue of the interface; or the right reply came
    so late, behind thousands of others, that haul-dns had given up."""
    while True:
        with contextlib.suppress(TimeoutError):
            a = client.ask("zero.test.", "A", patience=5)
            if a.rcode == dns.NOERROR:
                return a


def on_path(t, name, path):
    client = dns_bed.Client()
    for how in other_ids, other_fields:
        turns = 30 if how is other_fields else 16 if ALL else 3
        path.forge, path.nb, wrong = how, 0, []
        for _ in range(turns):
            a = insist(client)
            wrong += [a.answers] if addresses(a) != [RIGHT] else []
        path.forge = None
        t.ok(not wrong, f"{name}: {path.nb} replies that differ in one thing from the right one, "
             f"which comes last ({how.__name__.replace('_', ' ')})", wrong)
    path.forge = poison
    a = insist(client)
    t.ok(addresses(a) == [RIGHT] and not a.authority and not a.additional,
         f"{name}: nothing that was not asked for is passed on", a.sections)
    path.forge = None
    a = client.ask("a.test.", "A")
    t.ok(addresses(a) == [socket.inet_aton("192.0.2.10")], f"{name}: nor is it kept", a.answers)
    path.forge = all_right
    a = insist(client)
    t.ok(addresses(a) == [BAD], f"{name}: who sees the query can forge a reply", a.answers)
    path.forge = None
    client.close()


def received(dev):
    return netns.counter(dev, "rx_packets"), netns.counter(dev, "rx_bytes")


def catch_up(choose):
    """Waits until what was sent before has been looked at: then new names are answered on each
    queue, of which these ports find all. Returns the most frames that it has sent for them."""
    nb = 0
    for _ in range(32):
        client, is_answered = dns_bed.Client(), False
        while not is_answered:
            nb += 2  # a question and an answer
            with contextlib.suppress(TimeoutError):
                client.ask(f"n{choose.randrange(1 << 48):x}.wild.test.", "A", patience=5)
                is_answered = True
        client.close()
    return nb


def amplify(t, name, dev, rate, slip, choose):
    """One network of forged clients, whose machines nobody asks."""
    mac = bytes.fromhex(dns_bed.mac_of(dev).replace(":", ""))
    frame = 14
    for what, question, fields in (
            ("one name", dns.query("addresses.test.", "A", size=4096), ("29:1", "34:2", "42:2")),
            ("names that are not", dns.query("x.nosuch.test.", "A", size=4096),
             ("29:1", "34:2", "42:2", "55:1:a")),
            ("malformed", dns.query("a.test.", "A", size=4096)[:-5], ("29:1", "34:2"))):
        packet = ipv4("10.77.7.7", dns_bed.IP4, question, 1024, 53)
        packets, size = received(dev)
        began = time.monotonic()
        sent, seconds = Flood(dev, mac, packet, *fields, seconds=SECONDS, rate=50000).finish()
        marks = catch_up(choose)
        answering = time.monotonic() - began  # s, or less
        packets, size = (a - b for a, b in zip(received(dev), (packets, size)))
        full = rate * (answering + 1) + 50 + marks  # and questions to the server
        print(f"# {name}, slip {slip}, {what}: {sent / seconds:.0f} queries a second, answers "
              f"{packets / seconds:.0f} a second of {size / max(packets, 1):.0f} bytes")
        # All may be answered by short ones with slip.
        if slip == 0:
            t.ok(packets <= full, f"{name}: {what}: no more answers than the rate", (packets, full))
        else:
            t.ok(packets <= full + 1.1 * sent / slip, f"{name}: {what}: each {slip}nd goes to TCP",
                 (packets, full))
        most = full * 1300 + (packets - min(full, packets)) * (frame + len(packet) + 20)
        t.ok(size <= most, f"{name}: {what}: those beyond it are no larger than the queries",
             (size, most))


def real_client(t, name, client):
    """One that is in the same network as forged ones gets there with a cookie."""
    good = 0
    cookie = os.urandom(8)
    a = client.ask("a.test.", "A", size=1232, options=dns.option(10, cookie))
    full = a.options().get(10, (0, b""))[1]
    for _ in range(200):
        try:
            a = client.ask("a.test.", "A", size=1232, options=dns.option(10, full))
        except TimeoutError:
            break
        good += len(a.answers) == 1
    t.ok(len(full) == 24 and good == 200, f"{name}: a client with a cookie has no limit", good)


def limits(t, name, port, dev, choose):
    for slip in (0, 2) if ALL or name == "TAP" else (0,):
        args = ["--rate", 20, "--slip", slip, "--allow", "10.0.0.0/8"]
        with dns_bed.bed(BINARY, port, dev, args=args) as (program, _):
            amplify(t, name, dev, 20, slip, choose)
            if slip == 0:
                client = dns_bed.Client()
                real_client(t, name, client)
                client.close()
            ends_well(t, f"{name}, slip {slip}", program)


def ends_well(t, name, program):
    code, out, said = program.stop()
    t.ok(code == 0, f"{name}: a clean end", f"{code} {out} {said}")


def poisoned(t, name, port, dev, choose):
    # A failure would be kept for some seconds, in which nobody asks the forger.
    args = ["--timeout", "60"]
    with dns_bed.bed(BINARY, port, dev, args=args,
                     upstreams=[f"{dns_bed.MINE4}:{PATH}"]) as (program, _):
        to = dns_bed.MINE4, dns_bed.UPSTREAM
        with Path(dns_bed.MINE4, PATH, to, choose, delay=0.01):
            blind(t, name, dev, choose)
        with Forger(dns_bed.MINE4, PATH, to, choose) as path:
            on_path(t, name, path)
        ends_well(t, name, program)


def main():
    netns.enter()
    dns_bed.have("unbound")
    t = netns.Tap()
    print(f"# HAUL_SEED={SEED}")
    choose = random.Random(SEED)
    netns.ip(f"addr add {OTHER}/32 dev lo")
    for name, port, dev in dns_bed.beds():
        for test in poisoned, limits:
            began = time.monotonic()
            test(t, name, port, dev, choose)
            print(f"# {name}, {test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    t.done()


main()
