# SPDX-License-Identifier: BSD-3-Clause
"""haul on the PCI NICs that QEMU emulates, with Debian's kernel, vfio and an IOMMU: one machine
boots, and guest.py tries haul-echo on all kinds in it, and haul-fwd. HAUL_FLAPS: how often a link
goes down and up. With --whole, which takes an hour, whole.py tries what any port can do on pairs of
NICs, of the kinds in HAUL_KINDS ("virtio e1000e") or of all.
Usage: nics.py BUILD HAUL-ECHO HAUL-FWD, or nics.py --whole BUILD"""
import os
import shlex
import sys

import image
import machine

HERE = os.path.dirname(os.path.abspath(__file__))
PASSED_ON = "HAUL_FEWER", "HAUL_FLAPS", "HAUL_STEPS", "HAUL_REQUESTS", "HAUL_MOVES"
MOVES = 300  # of queues and buckets, for each kind of handler
QUEUES = {"virtio": 4, "vmxnet3": 4}  # e1000e and igb have no RSS that DPDK would use


def skip_all(why):
    print(f"1..0 # SKIP {why}", flush=True)
    sys.exit(0)


def all_kinds():
    if image.missing():
        skip_all(image.missing())
    kinds = [kind for kind in machine.KINDS if machine.has_kind(kind)]
    print(f"# {', '.join(kinds)}; no such NIC in this QEMU: "
          f"{', '.join(kind for kind in machine.KINDS if kind not in kinds) or 'none'}")
    return kinds


def run(build, nics, script, words, **more):
    """Runs a script of this folder in the machine, and returns its exit code."""
    settings = "".join(f"{name}={shlex.quote(os.environ[name])} "
                       for name in PASSED_ON if name in os.environ)
    command = settings + shlex.join(["python3", os.path.join(HERE, script), *words])
    try:
        m = machine.Machine(build, nics, command, **more)
    except image.Missing as e:
        skip_all(e)
    with m:
        for line in m.lines():
            print(line, flush=True)
    if m.exit is None:
        print("# the machine ended early")
        for line in m.console.splitlines()[-30:]:
            print(f"# {line}")
    return m.exit if m.exit is not None else 1


def whole(build):
    """Each pair has links of its own: a NIC that nobody has started keeps frames of a link that
    has several queues."""
    sys.path.append(os.path.join(os.path.dirname(HERE), "net"))
    import netns
    kinds = os.environ.get("HAUL_KINDS", " ".join(all_kinds())).split()
    nics, pairs = [], []
    for kind in kinds:
        n, queues = len(nics), QUEUES.get(kind, 1)
        pairs.append(f"{kind},{queues},{n},{n},{n + 1},{n + 1}")
        # The device knows its number of queues from its link; vmxnet3 has always several.
        nics += [machine.Nic(kind, n + i, queues if kind == "virtio" else 1) for i in (0, 1)]
    os.environ.setdefault("HAUL_MOVES", str(MOVES))
    image.kernel(os.path.join(os.path.abspath(build), "machine"))  # the new network has no others
    netns.enter()
    programs = ("apps/haul-fwd", "apps/haul-echo", "tests/net/frag_echo",
                "apps/haul-compare/haul-compare", "apps/haul-doctor")
    return run(build, nics, "whole.py",
               [*(os.path.join(os.path.abspath(build), p) for p in programs), *pairs],
               cpus=4, memory=2048)


def main(first, *rest):
    if first == "--whole":
        return whole(*rest)
    kinds = all_kinds()
    nics = [*map(machine.Nic, kinds), machine.Nic("virtio", link=1)]
    return run(first, nics, "guest.py", [*map(os.path.abspath, rest), *kinds])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
