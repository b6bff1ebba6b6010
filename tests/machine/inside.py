# SPDX-License-Identifier: BSD-3-Clause
"""Shared by what runs in the emulated machine: the host's monitor of QEMU, the NICs, and looks at a
haul-echo."""
import json
import os
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "net"))

from echo import IP4  # noqa: E402  after that
from wait import cpu_seconds  # noqa: E402

QUIET = 2  # seconds
# Without receive interrupts, with vfio; haul cannot detect that.
NO_INTERRUPTS = "e1000e", "igb"


class Host:
    """QEMU's monitor, by way of the host: machine.py."""

    def __init__(self):
        self.port = open("/dev/ttyS1", "r+b", buffering=0)

    def request(self, **request):
        self.port.write(b"?" + json.dumps(request).encode() + b"\n")
        reply = b""
        while not reply.endswith(b"\n"):
            reply += self.port.read(4096)
        return json.loads(reply)

    def do(self, what, **arguments):
        reply = self.request(do=what, **{"with": arguments})
        if "error" in reply:
            raise RuntimeError(f"{what}: {reply}")


class Nic:
    def __init__(self, number):
        self.id = f"nic{number}"
        self.address = f"0000:{number + 1:02x}:00.0"
        self.port = f"pci:{self.address}"


def idle(tap, what, echo):
    """A poller that blocks takes no CPU."""
    before, began = cpu_seconds(echo.process.pid), time.monotonic()
    time.sleep(QUIET)  # the time whose cost is measured
    share = (cpu_seconds(echo.process.pid) - before) / (time.monotonic() - began)
    print(f"# {what}: {100 * share:.1f} % of a CPU when idle")
    # A poller that spins takes most of one. The threads that are no carriers take some: emulation.
    tap.ok(share < 0.25, f"{what}: hardly any CPU time when idle", share)


def answers_once(patience=1):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(patience)  # a look: the request may be lost
        s.sendto(b"again", (IP4, 7))
        try:
            return s.recv(64) == b"again"
        except TimeoutError:
            return False


def is_out(host, nic):
    """True once the machine has the NIC no more: vfio has let it go."""
    reply = host.request(do="qom-get", **{"with": {
        "path": f"/machine/peripheral/{nic.id}", "property": "type"}})
    return "error" in reply
