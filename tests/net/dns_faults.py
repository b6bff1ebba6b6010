# SPDX-License-Identifier: BSD-3-Clause
"""haul-dns while servers fail: a path that loses datagrams, servers that die and come back, a
reload, an end at any time. Each query is answered. That it is in time, is shown in virtual time, by
dns_upstream.c and dns_serve.c: nothing here depends on the speed of the machine.

Usage: dns_faults.py HAUL_DNS
"""
import os
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import netns

import dns_bed
import dns_message as dns
from dns_path import Path

BINARY = sys.argv[1]
ALL = not netns.fewer()
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
AT_ONCE = 200
STALE, CACHED_ERROR, NO_REACHABLE = 3, 13, 22  # extended errors (RFC 8914)
TIMEOUT = 2  # s after which haul-dns gives up
LONG = 60  # s: it gives up after its number of tries


def ask_many(client, names, during=None):
    """Asks for all, some at once. Returns the answers and their times, by name; during: called
    with the number of answers."""
    asked, answers, names = {}, {}, list(names)
    todo = list(reversed(names))
    while todo or asked:
        while todo and len(asked) < AT_ONCE:
            name = todo.pop()
            asked[client.send(name, "A")] = name, time.monotonic()
        if not select.select([client.sock], [], [], 2 * LONG)[0]:
            break
        a = dns.Message(client.recv())
        if a.id in asked:
            name, began = asked.pop(a.id)
            answers[name] = a, time.monotonic() - began
        if during:
            during(len(answers))
    return answers


def summary(answers):
    codes = [a.rcode for a, _ in answers.values()]
    times = sorted(t for _, t in answers.values()) or [0]
    return {"answers": len(codes), "SERVFAIL": codes.count(dns.SERVFAIL),
            "NOERROR": codes.count(dns.NOERROR), "p50": round(times[len(times) // 2], 4),
            "p99": round(times[len(times) * 99 // 100], 3), "most": round(times[-1], 3)}


def names_of(choose, n):
    return [f"n{choose.randrange(1 << 48):x}.wild.test." for _ in range(n)]


def bad_path(choose, **how):
    return Path(dns_bed.MINE4, 5354, (dns_bed.MINE4, dns_bed.UPSTREAM), choose, **how)


def ask_over(t, choose, share, n):
    """n questions over a path that loses this share of datagrams, each way."""
    with bad_path(choose, loss=share, repeat=0.05, delay=0.005) as path:
        client = dns_bed.Client()
        said = summary(ask_many(client, names_of(choose, n)))
        client.close()
        print(f"# {share:.0%} each way: {said}; {path.lost} of {path.asked} lost")
        t.ok(said["answers"] == n and said["SERVFAIL"] + said["NOERROR"] == n,
             f"{share:.0%} loss each way: each query is answered", said)
    return said


def loss(t, choose):
    for share, n, timeout in ((0.1, 6000 if ALL else 1500, LONG),
                              (0.5, 2000 if ALL else 300, TIMEOUT)):
        with dns_bed.bed(BINARY, args=["--timeout", timeout],
                         upstreams=[f"{dns_bed.MINE4}:5354"]) as (program, _):
            said = ask_over(t, choose, share, n)
            # Of 450 million questions one loses all tries.
            if timeout == LONG:
                t.ok(said["NOERROR"] >= 0.999 * n, f"{share:.0%} loss: nearly all by answers", said)
            ends_well(t, f"{share:.0%} loss", program)


def ends_well(t, name, program):
    code, out, said = program.stop()
    t.ok(code == 0, f"{name}: a clean end", f"{code} {out} {said}")


def resting():
    """How many servers do not answer, as monitors see it."""
    with urllib.request.urlopen("http://127.0.0.1:9100/metrics", timeout=60) as page:
        return int(re.search(r'haul_program_upstreams_resting\{carrier="0"\} (\d+)',
                             page.read().decode())[1])


def dead_and_back(t, choose):
    args = ["--timeout", TIMEOUT, "--patience", "300ms", "--stale", "3600", "--metrics", 9100]
    with dns_bed.bed(BINARY, args=args) as (program, server):
        client = dns_bed.Client()
        client.ask("short.test.", "A")
        t.ok(resting() == 0, "metrics: the server answers")
        time.sleep(2.1)  # its TTL of 1 s
        server.pause()
        a = client.ask("short.test.", "A", size=1232)
        t.ok(a.rcode == dns.NOERROR and len(a.answers) == 1 and a.ede() == STALE,
             "no server: an expired answer, which says so", (a.flags, a.answers, a.opt))
        t.ok(a.answers[0].ttl == 30, "with a TTL of 30 s", a.answers)
        a = client.ask("new.wild.test.", "A", size=1232)
        t.ok(a.rcode == dns.SERVFAIL and a.ede() == NO_REACHABLE,
             "no server: SERVFAIL for what was never known", (a.flags, a.opt))

        def is_kept():
            a = client.ask("new.wild.test.", "A", size=1232)
            return a.rcode == dns.SERVFAIL and a.ede() == CACHED_ERROR

        # For 5 s at first, and twice as long each time that it is over.
        netns.wait_for(is_kept, "a failure that is kept", 300)
        t.ok(True, "a failure is known for a while")

        def rests():
            client.ask(f"n{choose.randrange(1 << 48)}.wild.test.", "A")
            return resting()

        netns.wait_for(rests, "metrics to say that it rests")
        server.resume()

        def is_back():
            return client.ask(f"n{choose.randrange(1 << 48)}.wild.test.", "A").rcode == dns.NOERROR

        netns.wait_for(is_back, "the server to be asked again")
        t.ok(True, "the server is back: it is asked again")
        netns.wait_for(lambda: not resting(), "metrics to say that it answers")
        client.close()
        ends_well(t, "dead and back", program)


def one_of_two(t, choose):
    n = 4000 if ALL else 1500
    netns.ip(f"addr add 10.9.9.3/32 dev lo")
    folder = tempfile.mkdtemp(prefix="dns-")
    upstreams = [f"{dns_bed.MINE4}:{dns_bed.UPSTREAM}", f"10.9.9.3:{dns_bed.UPSTREAM}"]
    args = ["--timeout", LONG]
    with dns_bed.bed(BINARY, args=args, upstreams=upstreams) as (program, first), \
            dns_bed.Unbound(folder, ("10.9.9.3",)) as second:
        client = dns_bed.Client()

        def events(nb):
            if nb == n // 4:
                first.pause()
            elif nb == n // 2:
                first.resume()
            elif nb == n * 3 // 4:
                second.process.kill()

        said = summary(ask_many(client, names_of(choose, n), events))
        print(f"# two servers: {said}")
        t.ok(said["answers"] == n and said["SERVFAIL"] + said["NOERROR"] == n,
             "one of two servers fails, then the other one: each query is answered", said)
        t.ok(said["NOERROR"] >= 0.99 * n, "nearly all by answers", said)
        client.close()
        ends_well(t, "two servers", program)


def query_file(folder, names):
    with open(f"{folder}/queries", "w") as f:
        f.writelines(f"{name} A\n" for name in names)
    return f"{folder}/queries"


def dnsperf(file, seconds, *more):
    return subprocess.Popen(["dnsperf", "-s", dns_bed.IP4, "-d", file, "-l", str(seconds), "-q",
                             "50", "-c", "10", "-t", "60", *more], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def figures_of(text):
    """Sent, lost, and rate."""
    sent, lost = (re.search(rf"Queries {word}:\s+(\d+)", text) for word in ("sent", "lost"))
    rate = re.search(r"Queries per second:\s+([\d.]+)", text)
    return int(sent[1]), int(lost[1]), float(rate[1])


def local(client):
    return [r.data[0] for r in client.ask("local.example.", "A").answers]


def reload(t, choose):
    folder = tempfile.mkdtemp(prefix="dns-")
    hosts = f"{folder}/hosts"

    def write_hosts(i):
        with open(hosts + ".new", "w") as f:
            f.write(f"10.1.1.{i} local.example\n")
        os.rename(hosts + ".new", hosts)

    write_hosts(0)
    with dns_bed.bed(BINARY, args=["--hosts", hosts]) as (program, _):
        client = dns_bed.Client()
        known = [name for name, kind in dns_bed.QUESTIONS if kind == "A"]
        file = query_file(folder, known * 20 + names_of(choose, 5000) + ["local.example"])
        load = dnsperf(file, 10 if ALL else 3)
        nb = 0
        while load.poll() is None:
            nb += 1
            write_hosts(nb % 250)
            program.process.send_signal(signal.SIGHUP)
            time.sleep(0.02)  # between reloads
            client.ask("a.test.", "A")
        out, _ = load.communicate()
        sent, lost, rate = figures_of(out)
        print(f"# {nb} reloads: {sent} queries, {lost} lost, {rate:.0f} a second")
        t.ok(lost == 0 and sent > 0 and nb > 0, f"reloads under dnsperf lose no query", out)
        wanted = [bytes([10, 1, 1, nb % 250])]
        netns.wait_for(lambda: local(client) == wanted, "the last file to count")
        t.ok(True, "the last file counts")
        with open(hosts, "w") as f:
            f.write("10.1.1.1.1 local.example\n")
        before = len(program.lines)
        program.process.send_signal(signal.SIGHUP)
        netns.wait_for(lambda: len(program.lines) > before, "a line about the file")
        said = "".join(program.lines[before:])
        t.ok("hosts" in said and local(client) == wanted,
             "a bad file is named, and changes nothing", said)
        client.close()
        code, out, said = program.stop()
        t.ok(code == 0, "reload: a clean end", f"{code} {out} {said}")


def ends(t, choose):
    n = 40 if ALL else 8
    folder = tempfile.mkdtemp(prefix="dns-")
    file = query_file(folder, names_of(choose, 2000) + ["a.test"])
    wrong = []
    with dns_bed.bed(BINARY) as (program, _):  # its unbound is for all of them
        program.stop()
        for i in range(n):
            early = i % 2 == 0
            wait = choose.random() * (0.3 if early else 1.0)
            sig = choose.choice((signal.SIGINT, signal.SIGTERM))
            with dns_bed.HaulDns(BINARY, f"tap:dns{i}x", f"dns{i}x", kernel=not early) as one:
                load = None if early else dnsperf(file, 5)
                time.sleep(wait)  # the time at which the signal comes
                code, out, said = one.stop(sig)
                if load:
                    load.kill()
                    load.communicate()
            said = re.sub(r"^haul-dns: ready.*\n", "", said)
            # Before main() has begun the signal has its default action.
            if not (code == 0 and not said or early and code == -sig):
                wrong.append((round(wait, 3), sig.name, code, said))
    t.ok(not wrong, f"{n} ends by a signal at a random time, half of them in the first 0.3 s",
         wrong)


def main():
    netns.enter()
    netns.need("tap")
    dns_bed.have("unbound", "dnsperf")
    t = netns.Tap()
    print(f"# HAUL_SEED={SEED}")
    choose = random.Random(SEED)
    for test in loss, one_of_two, dead_and_back, reload, ends:
        began = time.monotonic()
        test(t, choose)
        print(f"# {test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    t.done()


main()
