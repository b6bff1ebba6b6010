# SPDX-License-Identifier: BSD-3-Clause
"""getaddrinfo() with a name server that answers nothing: in a coroutine it stops the poller of the
carrier, offloaded it does not. The longest time between two polls is printed for both, and for a
carrier without lookups.
Usage: resolver.py RESOLVER"""
import json
import socket
import subprocess
import sys
import tempfile

import netns

LOOKUPS = 3
SECONDS = 1  # of a lookup: the least that resolv.conf can say


def run(program, how):
    done = subprocess.run([program, how, str(LOOKUPS)], stdout=subprocess.PIPE, text=True,
                          check=True)
    return json.loads(done.stdout)


def main():
    program = sys.argv[1]
    netns.enter()
    with tempfile.NamedTemporaryFile("w") as conf, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        conf.write(f"nameserver 127.0.0.1\noptions timeout:{SECONDS} attempts:1\n")
        conf.flush()
        if subprocess.run(["mount", "--bind", conf.name, "/etc/resolv.conf"],
                          stderr=subprocess.DEVNULL).returncode:
            netns.skip_all("resolv.conf cannot be replaced here")
        silent.bind(("127.0.0.1", 53))
        tap = netns.Tap()
        none, direct, offloaded = (run(program, how) for how in ("sleep", "direct", "offload"))
        print(f"# no lookups for {LOOKUPS} s: longest time between two polls "
              f"{none['longest_gap_ms']:.3f} ms")
        for figures, how in (direct, "in the coroutine"), (offloaded, "offloaded"):
            print(f"# {LOOKUPS} lookups {how}: {figures['lookups_ms']:.0f} ms, longest time "
                  f"between two polls {figures['longest_gap_ms']:.3f} ms")
            tap.ok(figures["failed"] == LOOKUPS, f"{how}: the name server is silent", figures)
        tap.ok(direct["longest_gap_ms"] >= 900 * SECONDS, "a lookup stops the poller", direct)
        tap.ok(offloaded["longest_gap_ms"] < direct["longest_gap_ms"] / 2,
               "an offloaded one does not", offloaded)
        subprocess.run(["umount", "/etc/resolv.conf"], check=True)
    tap.done()


main()
