# SPDX-License-Identifier: BSD-3-Clause
"""haul on the PCI NICs that QEMU emulates, with Debian's kernel, vfio and an IOMMU: one machine
boots, and guest.py tries all kinds in it. HAUL_FLAPS: how often a link goes down and up.
Usage: nics.py BUILD HAUL-ECHO."""
import os
import shlex
import sys

import image
import machine

GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest.py")


def skip_all(why):
    print(f"1..0 # SKIP {why}", flush=True)
    sys.exit(0)


def main(build, *programs):
    if image.missing():
        skip_all(image.missing())
    kinds = [kind for kind in machine.KINDS if machine.has_kind(kind)]
    nics = [machine.Nic(kind) for kind in kinds]
    settings = "".join(f"{name}={shlex.quote(os.environ[name])} "
                       for name in ("HAUL_FEWER", "HAUL_FLAPS") if name in os.environ)
    command = settings + shlex.join(["python3", GUEST, *map(os.path.abspath, programs), *kinds])
    try:
        m = machine.Machine(build, nics, command)
    except image.Missing as e:
        skip_all(e)
    print(f"# {', '.join(kinds)}; no such NIC in this QEMU: "
          f"{', '.join(kind for kind in machine.KINDS if kind not in kinds) or 'none'}")
    with m:
        for line in m.lines():
            print(line, flush=True)
    if m.exit is None:
        print("# the machine ended early")
        for line in m.console.splitlines()[-30:]:
            print(f"# {line}")
    sys.exit(m.exit if m.exit is not None else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
