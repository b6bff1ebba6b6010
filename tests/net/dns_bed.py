# SPDX-License-Identifier: BSD-3-Clause
"""haul-dns and what its tests put around it: a kernel interface beside its port, name servers that
know a zone with all types in use, and clients."""
import base64
import contextlib
import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import netns

import dns_message as dns

IP4, IP6 = "10.9.9.2", "fd09::2"  # of haul-dns
MINE4, MINE6 = "10.9.9.1", "fd09::1"  # of the kernel: clients and servers
UPSTREAM = 5353
TCP = 5300  # haul-dns over the kernel

ZONE = f"""
@       300 SOA ns.test. admin.test. 7 3600 600 86400 60
@       300 NS ns.test.
@       300 NS ns2.test.
@       300 MX 10 mail.test.
@       300 MX 20 MAIL2.test.
@       300 CAA 0 issue "ca.test"
@       300 DNSKEY 257 3 13 {base64.b64encode(bytes(range(64))).decode()}
@       300 TXT "v=spf1 -all"
ns      300 A 192.0.2.1
ns      300 AAAA 2001:db8::1
ns2     300 A 192.0.2.2
mail    300 A 192.0.2.3
MAIL2   300 A 192.0.2.4
a       300 A 192.0.2.10
a       300 AAAA 2001:db8::10
many    300 A 192.0.2.11
many    300 A 192.0.2.12
many    300 A 192.0.2.13
zero      0 A 192.0.2.14
short     1 A 192.0.2.15
long  99999 A 192.0.2.16
alias   300 CNAME a.test.
chain   200 CNAME chain2.test.
chain2  100 CNAME Chain3.test.
chain3  300 CNAME many.test.
dangle  300 CNAME nosuch.test.
txt     300 TXT "one" "two" "" "\\"quoted\\" and \\000\\255"
_sip._udp 300 SRV 1 2 5060 mail.test.
_sip._udp 300 SRV 2 2 5060 a.test.
ptr     300 PTR a.test.
naptr   300 NAPTR 1 2 "S" "SIP+D2U" "" _sip._udp.test.
hinfo   300 HINFO "PDP-10" "ITS"
loc     300 LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m
sshfp   300 SSHFP 4 2 {"ab" * 32}
tlsa    300 TLSA 3 1 1 {"cd" * 32}
ds      300 DS 12345 13 2 {"ef" * 32}
ds      300 NS ns.test.
svcb    300 SVCB 1 a.test. alpn=h2,h3 port=8443
https   300 HTTPS 1 . alpn=h2 ipv4hint=192.0.2.10
https   300 HTTPS 2 A.test. alpn=h3
dname   300 DNAME other.test.
x.other 300 A 192.0.2.20
*.wild  300 A 192.0.2.30
uri     300 URI 10 1 "ftp://ftp.test/"
unknown 300 TYPE65280 \\# 5 0102030405
empty   300 TYPE65281 \\# 0
euifor  300 EUI48 00-00-5e-00-53-2a
Case.MiXed 300 A 192.0.2.40
b.x.d.e.f 300 A 192.0.2.50
"""
# What the zone answers, in one way or the other.
QUESTIONS = """
test. SOA|test. NS|test. MX|test. CAA|test. DNSKEY|test. TXT|test. A|a.test. A|a.test. AAAA|
a.test. MX|many.test. A|zero.test. A|long.test. A|alias.test. A|alias.test. AAAA|alias.test. CNAME|
alias.test. TXT|chain.test. A|chain.test. AAAA|dangle.test. A|txt.test. TXT|_sip._udp.test. SRV|
ptr.test. PTR|naptr.test. NAPTR|hinfo.test. HINFO|loc.test. LOC|sshfp.test. SSHFP|tlsa.test. TLSA|
svcb.test. SVCB|https.test. HTTPS|dname.test. DNAME|x.dname.test. A|y.dname.test. A|z.wild.test. A|
z.wild.test. AAAA|uri.test. URI|unknown.test. TYPE65280|unknown.test. A|empty.test. TYPE65281|
euifor.test. EUI48|case.mixed.test. A|f.test. A|d.e.f.test. TXT|b.x.d.e.f.test. A|nosuch.test. A|
x.nosuch.test. MX|nosuch.a.test. A|big1.test. TXT|big2.test. TXT|big4.test. TXT|big16.test. TXT|
addresses.test. A|ds.test. DS"""
QUESTIONS = [tuple(q.split()) for q in QUESTIONS.replace("\n", "").split("|")]


def zone(signed=True, more=""):
    """The text of the zone test. With signatures that nobody checks here."""
    lines = [line.split(maxsplit=3) for line in (ZONE + more).strip().splitlines()]
    for kilobytes in 1, 2, 4, 16:
        for i in range(kilobytes * 4):
            lines.append([f"big{kilobytes}", "300", "TXT", f'"{i:04}{"x" * 246}"'])
    for i in range(40):
        lines.append(["addresses", "300", "A", f"198.51.100.{i}"])
    text = ["$ORIGIN test."] + [" ".join(line) for line in lines]
    if signed:
        signature = base64.b64encode(bytes(64)).decode()
        names = {}
        for name, ttl, kind, _ in lines:
            names.setdefault(name, {})[kind] = ttl
        order = sorted(names, key=lambda n: n.lower().split(".")[::-1] if n != "@" else [])
        for name, after in zip(order, order[1:] + order[:1]):
            kinds = names[name]
            text.append(f"{name} 60 NSEC {'test.' if after == '@' else after} "
                        f"{' '.join(kinds)} RRSIG NSEC")
            for kind in [*kinds, "NSEC"]:
                ttl = kinds.get(kind, 60)
                labels = 1 + (0 if name == "@" else len(name.removeprefix("*.").split(".")))
                text.append(f"{name} {ttl} RRSIG {kind} 13 {labels} {ttl} 20300101000000 "
                            f"20200101000000 12345 test. {signature}")
    return "\n".join(text) + "\n"


class Unbound(netns.Child):
    """A name server that knows the zone, and fails for fail.test."""

    def __init__(self, folder, addresses=(MINE4, MINE6), port=UPSTREAM, text=None, options=""):
        name = f"{folder}/unbound-{addresses[0]}-{port}"
        with open(f"{name}.zone", "w") as f:
            f.write(text or zone())
        listen = "\n".join(f"  interface: {a}@{port}" for a in addresses)
        with open(f"{name}.conf", "w") as f:
            f.write(f"""server:
  directory: "{folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  log-time-ascii: no
  verbosity: 0
  do-daemonize: no
  num-threads: 1
{listen}
  access-control: 0.0.0.0/0 allow
  access-control: ::/0 allow
  do-not-query-localhost: no
  module-config: "iterator"
  minimal-responses: no
  local-zone: "test." nodefault
  max-udp-size: 4096
  so-rcvbuf: 4m
{options}
auth-zone:
  name: "fail."
  primary: 127.0.0.1@1
  for-downstream: yes
  for-upstream: yes
  fallback-enabled: no
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@1
auth-zone:
  name: "test."
  zonefile: "{name}.zone"
  for-downstream: yes
  for-upstream: yes
  fallback-enabled: no
remote-control:
  control-enable: no
""")
        self.address, self.port = addresses[0], port
        self.process = subprocess.Popen(["unbound", "-d", "-c", f"{name}.conf"],
                                        stderr=subprocess.PIPE, text=True)
        self.client = Client(addresses[0], port)
        netns.wait_for(self.is_up, "unbound to answer")

    def is_up(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"unbound: {self.process.stderr.read()}")
        with contextlib.suppress(TimeoutError, ConnectionError):
            # a pause between looks
            return self.client.ask("test.", "SOA", patience=0.1).rcode == dns.NOERROR
        return False

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def __exit__(self, *args):
        self.resume()
        super().__exit__(*args)
        self.process.stderr.close()


class Client:
    """Asks a server by UDP, from a port of its own, or by TCP."""

    def __init__(self, address=IP4, port=53, mine=None):
        self.to = address, port
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.sock = socket.socket(self.family, socket.SOCK_DGRAM)
        if mine:
            self.sock.bind((mine, 0))
        self.sock.connect(self.to)
        self.id = 0

    def send(self, name, type, **more):
        self.id = (self.id + 1) & 0xffff
        self.sock.send(dns.query(name, type, id=self.id, **more))
        return self.id

    def recv(self, patience=60):
        self.sock.settimeout(patience)
        return self.sock.recv(65536)

    def ask(self, name, type, patience=60, **more):
        """The answer to this query; others are thrown away."""
        id = self.send(name, type, **more)
        end = time.monotonic() + patience
        while True:
            answer = dns.Message(self.recv(max(end - time.monotonic(), 0.001)))
            if answer.id == id:
                return answer

    def ask_tcp(self, name, type, patience=60, to=None, **more):
        with socket.create_connection(to or self.to, patience) as s:
            msg = dns.query(name, type, id=77, **more)
            s.sendall(struct.pack("!H", len(msg)) + msg)
            got = b""
            while len(got) < 2 or len(got) < 2 + int.from_bytes(got[:2], "big"):
                more = s.recv(65536)
                if not more:
                    raise ConnectionError("no answer")
                got += more
            return dns.Message(got[2:])

    def close(self):
        self.sock.close()


class HaulDns(netns.Child):
    """The program, with its port and the kernel's end of it."""

    def __init__(self, binary, port, dev, *args, upstreams=(f"{MINE4}:{UPSTREAM}",), carriers=2,
                 kernel=True):
        more = [x for u in upstreams for x in ("--upstream", u)]
        self.process = subprocess.Popen(
            [binary, "--port", port, "--address", f"{IP4}/24", "--address", f"{IP6}/64",
             "--tcp", f"0.0.0.0:{TCP}", "--carriers", str(carriers), "--poller", "adaptive",
             "--json", "--period", "0", *more, *map(str, args), *netns.settings(["--carriers"])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.is_ready = [], threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        if kernel:
            give_addresses(dev)
            netns.wait_for(lambda: self.is_ready.is_set() or self.process.poll() is not None,
                           "haul-dns to be ready")

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if "ready" in line:
                self.is_ready.set()

    def stop(self, sig=signal.SIGINT):
        """Exit code, figures or None, what it said."""
        self.process.send_signal(sig)
        return self.wait()

    def wait(self, seconds=60):
        out = self.process.stdout.read()
        self.process.wait(seconds)
        self.reader.join()
        return self.process.returncode, out, netns.said("".join(self.lines))

    def __exit__(self, *args):
        super().__exit__(*args)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


def give_addresses(dev):
    netns.wait_for(lambda: netns.exists(dev), f"{dev} to be there")
    netns.ip(f"link set {dev} up")
    netns.ip6(dev)
    netns.ip(f"addr replace {MINE4}/24 dev {dev}")
    netns.ip(f"addr replace {MINE6}/64 dev {dev} nodad")
    netns.wait_up(dev)


@contextlib.contextmanager
def bed(binary, port="tap:dns0", dev="dns0", unbound=None, args=(), **more):
    """haul-dns and an unbound that it asks, both up; yields them."""
    folder = tempfile.mkdtemp(prefix="dns-")
    with HaulDns(binary, port, dev, *args, **more) as program:
        if not program.is_ready.is_set():
            raise RuntimeError("".join(program.lines))
        with Unbound(folder, **(unbound or {})) as server:
            yield program, server


def mac_of(dev):
    """The link-layer address of haul-dns, as text, as the kernel has found it."""
    Client().ask("test.", "SOA")
    said = subprocess.run(["ip", "neigh", "show", IP4, "dev", dev], check=True,
                          capture_output=True, text=True).stdout.split()
    return said[said.index("lladdr") + 1]


def beds():
    """Kinds of ports that can be opened here: name, port, the kernel's end."""
    found = []
    if not netns.lacks("tap"):
        found.append(("TAP", "tap:dns0", "dns0"))
    if not netns.lacks("afxdp"):
        netns.veth("v0", "v1", queues=2)
        found.append(("AF_XDP", "afxdp:v0", "v1"))
    return found


def have(*programs):
    """Skips the whole test if one of these programs is not installed."""
    for name in programs:
        if subprocess.run(["which", name], stdout=subprocess.DEVNULL).returncode != 0:
            netns.skip_all(f"no {name} here")


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")
