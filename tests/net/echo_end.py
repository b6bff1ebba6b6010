# SPDX-License-Identifier: BSD-3-Clause
"""haul-echo: its end. Signals under traffic, --duration, a removed interface, wrong arguments."""
import re
import signal
import subprocess
import sys

import netns
from echo import IP4, Echo, dropped, peer, replies

WRONG = (
    ("no port", "--ip 10.0.0.1/24", "--port"),
    ("no address", "--port null:", "--ip"),
    ("no such option", "--port null: --ip 10.0.0.1/24 --frobnicate", "--frobnicate"),
    ("no option", "--port null: --ip 10.0.0.1/24 eth0", "eth0"),
    ("option without its value", "--port null: --ip", "--ip"),
    ("address without prefix", "--port null: --ip 10.0.0.1", "10.0.0.1"),
    ("not an address", "--port null: --ip 10.0.0/24", "10.0.0/24"),
    ("network's own address", "--port null: --ip 10.0.0.0/24", "10.0.0.0/24"),
    ("group address", "--port null: --ip6 ff02::1/64", "ff02::1/64"),
    ("more addresses than ports", "--port null: --ip 10.0.0.1/24 --ip 10.0.0.2/24", "2 addresses"),
    ("one address for two ports", "--port null: --port null: --ip 10.0.0.1/24",
     "--ip: 1 address given for 2 ports"),
    ("delay in parsecs", "--port null: --ip 10.0.0.1/24 --delay 5pc", "5pc"),
    ("no carriers", "--port null: --ip 10.0.0.1/24 --carriers 0", "--carriers 0"),
    ("a CPU that is not", "--port null: --ip 10.0.0.1/24 --carriers 0,4095", "4095"),
    ("a stack too small", "--port null: --ip 10.0.0.1/24 --stack-size 1", "--stack-size 1"),
    ("no such kind of port", "--port nosuch:thing --ip 10.0.0.1/24", "nosuch:thing"),
    ("no such interface", "--port afpacket:nosuch0 --ip 10.0.0.1/24", "nosuch0"),
    ("a port without a device", "--port empty: --ip 10.0.0.1/24", "empty:"),
    ("name too long for an interface", "--port tap:a_name_too_long_for_it --ip 10.0.0.1/24",
     "a_name_too_long_for_it"),
)


def wrong_arguments(tap, binary):
    for name, args, names in WRONG:
        run = subprocess.run([binary] + args.split(), stdin=subprocess.DEVNULL, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = netns.said(run.stderr).splitlines()
        print(f"# {run.stderr.strip()}")
        tap.ok(run.returncode == 2 and len(lines) == 1 and lines[0].startswith("haul-echo: ")
               and names in lines[0] and not run.stdout, f"wrong arguments: {name}",
               f"exit code {run.returncode}: {run.stderr}{run.stdout}")


def help_and_version(tap, binary):
    run = subprocess.run([binary, "--help"], stdout=subprocess.PIPE, text=True)
    tap.ok(run.returncode == 0 and "Usage: haul-echo" in run.stdout and "default:" in run.stdout
           and "--port tap:" in run.stdout and "\n  afxdp:" in run.stdout,
           "--help shows options, defaults, kinds of ports and an example", run.stdout)


def under_traffic(tap, binary, sig):
    """The flood lasts until after the end."""
    with Echo(binary, "--port", "tap:t0", "--carriers", 2, "--delay", "1ms") as e:
        peer("t0")
        ping = subprocess.Popen(["ping", "-f", "-q", "-n", "-W", "1", "-c", "100000", IP4],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open("/sys/class/net/t0/statistics/rx_packets") as f:
            def flowing():
                f.seek(0)
                return int(f.read()) > 500
            netns.wait_for(flowing, "500 replies")
        code, figures = e.stop(sig)
        ping.kill()
        ping.wait()
        tap.ok(code == 0, f"{sig.name} under traffic: clean end", e.stderr())
        tap.ok(figures and replies(figures, "icmp") >= 400
               and dropped(figures) <= dropped(figures, "stopping")
               + dropped(figures, "not_for_us") + dropped(figures, "unsupported"),
               f"{sig.name} under traffic: figures are printed and add up", figures)


def duration(tap, binary):
    with Echo(binary, "--port", "tap:t0", "--duration", "0.5") as e:
        code, figures = e.wait()
        tap.ok(code == 0 and figures and figures["seconds"] >= 0.5, "--duration ends it",
               f"{code} {figures} {e.stderr()}")


def looking_inside(tap, binary):
    """SIGUSR1: a dump, which --stack-marks adds to; --stack-marks: the same at the end."""
    mark = re.compile(r"\(port 0 queue \d(?:, \.\.\.)?\): "
                      r"used at most (\d+) of (\d+) bytes of stack, (\d+) ended")
    with Echo(binary, "--port", "tap:t0", "--stack-marks") as e:
        peer("t0")
        done = subprocess.run(["ping", "-f", "-q", "-n", "-c", "50", "-w", "20", IP4],
                              stdout=subprocess.PIPE, text=True)
        e.process.send_signal(signal.SIGUSR1)
        netns.wait_for(lambda: e.ended() or mark.search(e.stderr()), "the dump")
        dump = e.stderr()
        tap.ok(done.returncode == 0 and not e.ended() and re.search(r"poller 0x\w+, ", dump),
               "SIGUSR1: a dump, and it goes on", dump)
        code, _ = e.stop()
        used, of, ended = map(int, mark.search(e.stderr().partition("\nStacks:\n")[2]).groups())
        tap.ok(code == 0 and 100 < used < of and ended >= 50,
               "--stack-marks: the stacks of handlers at the end", e.stderr())


def tables(tap, binary):
    """Without --json: a report each period, then the totals, on stdout."""
    run = subprocess.run([binary, "--port", "tap:t0", "--ip", f"{IP4}/24", "--carriers", "2",
                          "--duration", "0.5s", "--period", "200ms"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines = run.stdout.splitlines()
    tap.ok(run.returncode == 0 and sum("total" in line for line in lines) == 1
           and all(any(line.strip().startswith(what) for line in lines)
                   for what in ("port 0", "carrier 0", "carrier 1"))
           and any(line.split()[:1] == ["replies_arp"] for line in lines),
           "tables without --json", run.stdout)


def interface_gone(tap, binary, port, iface):
    """The interface is removed amid a flood."""
    with Echo(binary, "--port", port, "--carriers", 2) as e:
        peer("t0" if port.startswith("tap") else "v1")
        ping = subprocess.Popen(["ping", "-f", "-q", "-n", "-c", "100000", IP4],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"/sys/class/net/{'t0' if port.startswith('tap') else 'v1'}/statistics/"
                  "rx_packets") as f:
            def flowing():
                f.seek(0)
                return int(f.read()) > 100
            netns.wait_for(flowing, "100 replies")
        netns.ip(f"link del {iface}")
        try:
            code, figures = e.wait()
        except subprocess.TimeoutExpired:
            code, figures = "none, it hangs", None
        ping.kill()
        ping.wait()
        lines = [line for line in e.stderr().splitlines() if "ready: " not in line]
        for line in lines:
            print(f"# {line}")
        tap.ok(code == 1, f"{port} taken away: exit code 1", f"{code}: {e.stderr()}")
        tap.ok(any(line.startswith("haul-echo: ") and port in line for line in lines),
               f"{port} taken away: it says so", e.stderr())
        tap.ok(figures is not None, f"{port} taken away: figures are printed", e.stderr())


def main(binary):
    tap = netns.Tap()
    wrong_arguments(tap, binary)
    help_and_version(tap, binary)
    if netns.can_open(tap, "tap"):
        under_traffic(tap, binary, signal.SIGINT)
        under_traffic(tap, binary, signal.SIGTERM)
        duration(tap, binary)
        looking_inside(tap, binary)
        tables(tap, binary)
        interface_gone(tap, binary, "tap:t0", "t0")
    for kind in "afxdp", "afpacket":
        if not netns.can_open(tap, kind):
            continue
        netns.veth("v0", "v1", queues=2)
        interface_gone(tap, binary, f"{kind}:v0", "v0")
        if netns.exists("v0"):
            netns.ip("link del v0")
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main(sys.argv[1])
