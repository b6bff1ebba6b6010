# SPDX-License-Identifier: BSD-3-Clause
"""A virtio-user port whose backend ends is lost, as one whose interface goes: a line says so, the
other port goes on, and with --lost-port return it is taken again. One that is a server, of a raw
vdev, waits for the next backend. The backend is a haul-fwd, or dpdk-testpmd if it is there."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

import netns

import fwd
from prompt import Client
from testpmd import Testpmd

FRAMES = [fwd.frame(i, 100) for i in range(200)]
ENDED = "its backend has ended"


class Haul(netns.Child):
    """A backend: forwards between the socket and h0."""

    def __init__(self, path, client):
        vhost = f"vhost:{path}" + ",client=1" * client
        self.process = subprocess.Popen(
            [fwd.FWD, "--port", vhost, "--port", "afpacket:h0", "--carriers", "1", "--period", "0",
             *netns.settings([])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Pmd(Testpmd):
    """The same by dpdk-testpmd."""

    def __init__(self, path, client):
        super().__init__(f"net_vhost0,iface={path}" + ",client=1" * client,
                         "net_af_packet0,iface=h0")
        super().__enter__()
        self.start("io")

    def __enter__(self):
        return self


def end(backend, path, how):
    """What is killed leaves its socket, on which dpdk-testpmd does not listen again."""
    backend.process.send_signal(how)
    backend.process.wait()
    if os.path.exists(path):
        os.unlink(path)


def passes(raw):
    """True once all frames of a round come back: those sent before a port has started are lost."""
    end_at = time.monotonic() + 60
    while time.monotonic() < end_at:
        while raw.recv(0.05):  # late ones of the round before
            pass
        for f in FRAMES:
            raw.send(f)
        got = set()
        while len(got) < len(FRAMES) and (f := raw.recv(2)):  # a lost one never comes
            got.add(f[12:])
        if got == {f[12:] for f in FRAMES}:
            return True
    return False


def begun(kind, path, client=False):
    backend = kind(path, client)
    if not client:
        netns.wait_for(lambda: os.path.exists(path), "the socket")
    return backend


def test_lost(tap, kind, poller, how):
    """Its line, and the other port goes on."""
    name = f"{kind.__name__}, {poller}, {how.name}"
    with tempfile.TemporaryDirectory() as d:
        path, control = os.path.join(d, "socket"), os.path.join(d, "control")
        port = f"virtio-user:{path}"
        raw, other = netns.Raw("h1"), netns.Raw("g1")
        with begun(kind, path) as backend:
            with fwd.Running("--port", port, "--port", "afpacket:g0", "--mode", "macswap",
                             "--port-topology", "loop", "--carriers", 1, "--poller", poller,
                             "--control", control) as haul:
                netns.wait_for(haul.runs, "haul-fwd to run")
                client = Client(control, haul)
                fine = [passes(raw)]
                said = [client.ask(line) for line in ("stop", "port stop 0", "port start 0",
                                                      "set link-down port 0", "start")]
                down = ENDED not in haul.said()
                client.ask("set link-up port 0")
                end(backend, path, how)
                haul.wait_for(lambda: "the other ports go on" in haul.said(), "its line")
                fine.append(passes(other))
                said.append(client.ask("show port info 0"))
                r = haul.end()
        raw.close()
        other.close()
    tap.ok(all(fine) and down, f"{name}: the other port goes on", (fine, down, said, r))
    tap.ok(r.rc == 1 and f"'{port}': {ENDED}" in r.err and "the port was lost" in said[-1],
           f"{name}: a line, and exit 1", r)


def test_returns(tap, kind, handler):
    """It is taken again, twice."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "socket")
        raw = netns.Raw("h1")
        with begun(kind, path) as backend, fwd.Running(
                "--port", f"virtio-user:{path}", "--port", "null:no-rx=1", "--mode", "macswap",
                "--port-topology", "loop", "--carriers", 1, "--handler", handler,
                "--lost-port", "return") as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            fine = [passes(raw)]
            for turn in range(1, 3):
                end(backend, path, signal.SIGKILL)
                haul.wait_for(lambda: haul.said().count(ENDED) == turn, "its line")
                backend = begun(kind, path)
                haul.wait_for(lambda: haul.said().count("' is back") == turn, "it")
                fine.append(passes(raw))
            r = haul.end()
            end(backend, path, signal.SIGKILL)
        raw.close()
    tap.ok(all(fine) and r.rc == 0, f"{kind.__name__}, {handler}: it is taken again", (fine, r))


def test_server(tap, kind):
    """With server=1 its backends come and go."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "socket")
        raw = netns.Raw("h1")
        with begun(kind, path, True) as backend, fwd.Running(
                "--port", f"net_virtio_user7,path={path},server=1", "--mode", "macswap",
                "--port-topology", "loop", "--carriers", 1) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            fine = [passes(raw)]
            backend.process.kill()
            backend.process.wait()
            time.sleep(2.5)  # two looks at its ports
            with begun(kind, path, True):
                fine.append(passes(raw))
            r = haul.end()
        raw.close()
    tap.ok(all(fine) and r.rc == 0 and ENDED not in r.err,
           f"{kind.__name__}: a server waits for the next backend", (fine, r))


def test_configured(tap, kind):
    """A stopped port that is configured: its program ends, or starts it again."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "socket")
        commands = os.path.join(d, "commands")
        raw = netns.Raw("h1")
        for last in "quit", "port start all":
            with open(commands, "w") as f:
                f.write("port stop all\nport config all rxd 128\nvlan set strip on 0\n"
                        f"show port info 0\n{last}\n")
            with begun(kind, path) as backend, fwd.Running(
                    "--port", f"virtio-user:{path}", "--mode", "macswap", "--port-topology",
                    "loop", "--carriers", 1, "--cmdline-file", commands) as haul:
                goes_on = last != "quit"
                fine = not goes_on or (netns.wait_for(haul.runs, "haul-fwd") or passes(raw))
                r = haul.end() if goes_on else haul.wait()
                end(backend, path, signal.SIGKILL)
            fine = fine and "strip on" in r.out
            tap.ok(fine and r.rc == 0, f"{kind.__name__}: configured while stopped, then "
                   f"{last}", r if fine else "no frame")
        raw.close()


def main():
    tap = netns.Tap()
    netns.veth("h0", "h1")
    netns.veth("g0", "g1")
    for kind in Haul, Pmd:
        if kind is Pmd and not shutil.which("dpdk-testpmd"):
            tap.skip("Pmd", "dpdk-testpmd is not installed")
            continue
        test_configured(tap, kind)
        test_lost(tap, kind, "spin", signal.SIGKILL)
        test_lost(tap, kind, "block", signal.SIGTERM)
        test_returns(tap, kind, "coroutine" if kind is Haul else "burst")
        test_server(tap, kind)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main()
