# SPDX-License-Identifier: BSD-3-Clause
"""Two programs of ours that wait for each other: over vhost and virtio-user, memif, and a veth
pair. Requests one at a time, submitted by another thread; peers that are killed and restarted."""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

import netns
from fwd import Running
from wait import POLLERS, REQUESTS

CLIENT = sys.argv[2]
SEED = random.randrange(1 << 32)
KILLS = 3
TRAFFIC = r" rx +(?!0\.00 )\S"  # in a report


def client(spec, poller, requests=REQUESTS, *more):
    return subprocess.Popen([CLIENT, spec, poller, str(requests), str(SEED), *more],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def answered(tap, what, process):
    out, err = process.communicate()
    print(f"# {what}: {out.strip()}")
    tap.ok(process.returncode == 0, f"{what}: every request answered, pool whole",
           f"exit code {process.returncode}: {out}{err}")


def ends(tap, what, server, sig=signal.SIGINT):
    server.process.send_signal(sig)
    result = server.wait()
    tap.ok(result.rc == 0 and result.json, f"{what}: clean end by {sig.name}", result)
    return result


def over_vhost(tap, directory):
    for n, poller in enumerate(POLLERS):
        path = os.path.join(directory, f"v{n}")
        what = f"vhost and virtio-user, {poller}"
        with Running("--port", f"vhost:{path}", "--carriers", 1, "--handler", "coroutine",
                     "--poller", poller) as server:
            netns.wait_for(server.runs, "haul-fwd to run")
            answered(tap, what, client(f"virtio-user:{path}", poller))
            answered(tap, f"{what}, in a storm",
                     client(f"virtio-user:{path}", poller, max(REQUESTS // 10, 1), "storm"))
            victim = client(f"virtio-user:{path}", poller, 10 ** 6)
            reports(server, TRAFFIC)
            victim.kill()
            victim.communicate()
            answered(tap, f"{what}, after a peer was killed",
                     client(f"virtio-user:{path}", poller, max(REQUESTS // 10, 1)))
            result = ends(tap, what, server, (signal.SIGINT, signal.SIGTERM)[n % 2])
            sleeps = result.json["carriers"][0]["sleeps"] if result.json else -1
            tap.ok((sleeps == 0) == (poller == "spin"), f"{what}: it does what it is called",
                   result)


def over_veth(tap):
    """A storm: other submissions in between, and constant changes of the policy."""
    for turn, poller in enumerate(POLLERS):
        netns.veth("v0", "v1")
        for one, two in netns.share((("afxdp:v0", "afpacket:v1"), ("afpacket:v0", "afxdp:v1")),
                                    turn):
            what = f"{one} and {two}, {poller}"
            with Running("--port", one, "--carriers", 1, "--poller", poller) as server:
                netns.wait_for(server.runs, "haul-fwd to run")
                answered(tap, f"{what}, in a storm",
                         client(two, poller, max(REQUESTS // 2, 1), "storm"))
                ends(tap, what, server)
        netns.ip("link del v0")


def reports(server, pattern):
    """Waits for a new report on port 0 that matches the pattern."""
    already = len(server.said())
    netns.wait_for(lambda: re.search(f"^  port 0 .*{pattern}", server.said()[already:], re.M),
                   f"a report of {pattern}")


def over_memif(tap, directory):
    """The server outlives the clients, because a client's PMD connects once, when it starts."""
    path = os.path.join(directory, "m")
    with Running("--port", f"memif:role=server,socket={path}", "--carriers", 1,
                 "--poller", "sleep", options=("--json", "--period", "0.2")) as server:
        netns.wait_for(server.runs, "haul-fwd to run")
        for what in "memif, sleep", "memif, sleep, another peer":
            answered(tap, what, client(f"memif:role=client,socket={path}", "sleep"))
        for _ in range(KILLS):
            victim = client(f"memif:role=client,socket={path}", "sleep", 10 ** 6)
            reports(server, TRAFFIC)
            victim.kill()
            victim.communicate()
            answered(tap, "memif, sleep, after a peer was killed",
                     client(f"memif:role=client,socket={path}", "sleep", max(REQUESTS // 10, 1)))
        ends(tap, "memif, sleep", server)


def main():
    tap = netns.Tap()
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory(prefix="haul") as directory:
        over_vhost(tap, directory)
        over_memif(tap, directory)
    if netns.can_open(tap, "afxdp"):
        over_veth(tap)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main()
