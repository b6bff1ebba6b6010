# SPDX-License-Identifier: BSD-3-Clause
"""An emulated machine (QEMU, on any host) with PCI NICs for DPDK, which runs one command.

    with Machine(build, nics=[Nic("e1000e"), Nic("e1000e")], command="...") as m:
        for line in m.lines():
            print(line)
    m.exit

Each NIC is bound to vfio-pci, at 0000:01:00.0, 0000:02:00.0, ... The kernel of the machine drives
one more for each link: link 0 connects the NICs of link 0 and peer0, and so on. A link is a hub of
QEMU's, which has one queue; to NICs with several queues it is a bridge of the host, in the network
namespace that the caller has entered. The command runs in
the source tree: the host's files are there, read-only, so that built programs need no copy.

A line "?{...}" of the command's output is a request to the host, which answers with a line on the
same serial port (guest.py): {"do": "set_link", "with": {...}} is passed to QEMU's monitor.
"""
import glob
import json
import os
import shlex
import socket
import subprocess
import tempfile

import image

# Name: the device of QEMU, with its options for a machine with an IOMMU, and DPDK's PMD.
KINDS = {
    "virtio": ("virtio-net-pci,disable-legacy=on,iommu_platform=on", "net_virtio"),
    "e1000e": ("e1000e", "net_e1000"),
    "igb": ("igb", "net_e1000"),
    "vmxnet3": ("vmxnet3", "net_vmxnet3"),
}
# What all of haul's programs use of DPDK's plug-ins.
PMDS = ("bus_pci", "bus_vdev", "mempool_ring", "net_ring", "net_tap", "net_null", "net_af_packet")
# The kernel of the machine receives whole checksums, as from a cable.
COMPLETE = "guest_csum=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off"
MEMORY_MB = 1024  # for machines of a few NICs
TAP_MTU = 9000  # of links of several queues
PEER_MAC = "52:54:00:00:01:{:02x}"
NIC_MAC = "52:54:00:00:00:{:02x}"


class Nic:
    """queues: of a virtio NIC, which spreads flows over them (RSS)."""

    def __init__(self, kind, link=0, queues=1):
        self.kind, self.link, self.queues = kind, link, queues


def address(i):
    """The PCI address of NIC i."""
    return f"0000:{i + 1:02x}:00.0"


def has_kind(kind):
    """True if this QEMU emulates such a NIC."""
    known = subprocess.run([image.QEMU, "-device", "help"], stdout=subprocess.PIPE, text=True)
    return f'name "{KINDS[kind][0].split(",")[0]}"' in known.stdout


def _pmds():
    """The folder in which EAL looks for PMDs, "" if there is not one."""
    done = subprocess.run(["pkg-config", "--variable=libdir", "libdpdk"], stdout=subprocess.PIPE,
                          text=True)
    folders = glob.glob(done.stdout.strip() + "/dpdk/pmds-*")
    return folders[0] if len(folders) == 1 else ""


def _no_netfilter():
    """A bridge is to pass all frames on, as a cable does."""
    for path in glob.glob("/proc/sys/net/bridge/bridge-nf-call-*"):
        with open(path, "w") as f:
            f.write("0")


def _ip(words):
    subprocess.run(["ip", *words.split()], check=True, stdin=subprocess.DEVNULL)


class Machine:
    def __init__(self, build, nics, command, iommu=True, interactive=False, cpus=2,
                 memory=MEMORY_MB):
        """build: of haul, and the place for the kernel. memory: in MB, a third of it in huge pages.
        Raises image.Missing."""
        self.exit = None
        self.console = ""
        self.nics = nics
        self.links = sorted({nic.link for nic in nics})
        self.folder = tempfile.TemporaryDirectory(prefix="haul-machine-")
        tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        kernel = image.kernel(os.path.join(os.path.abspath(build), "machine"))
        initramfs = os.path.join(self.folder.name, "initramfs")
        image.initramfs(kernel, initramfs, self.settings(
            tree, build, command, iommu, interactive))
        self.serial, serial = socket.socketpair()
        self.monitor, monitor = socket.socketpair()
        self.replies = self.monitor.makefile("r")
        self.log = os.path.join(self.folder.name, "console")
        console = "stdio,id=console,signal=off" if interactive else \
            f"file,id=console,path={self.log}"
        arguments = [
            image.QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", "q35,kernel-irqchip=split", "-accel", "tcg,thread=multi",
            "-cpu", "max", "-smp", str(cpus), "-m", str(memory),
            "-kernel", os.path.join(kernel, "vmlinuz"), "-initrd", initramfs,
            "-append", "console=ttyS0 quiet panic=-1 mitigations=off nowatchdog "
            "rcupdate.rcu_cpu_stall_suppress=1 tsc=reliable no_timer_check random.trust_cpu=on "
            f"hugepages={memory // 6}" + " intel_iommu=on" * iommu,
            "-chardev", console, "-serial", "chardev:console",
            "-chardev", f"socket,id=command,fd={serial.fileno()}", "-serial", "chardev:command",
            "-chardev", f"socket,id=monitor,fd={monitor.fileno()}",
            "-mon", "chardev=monitor,mode=control",
            "-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
            *(["-device", "intel-iommu,intremap=on,caching-mode=on"] if iommu else []),
            *self.network(),
        ]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            arguments, stdin=None if interactive else subprocess.DEVNULL,
            stdout=None if interactive else self.errors, stderr=self.errors,
            pass_fds=(serial.fileno(), monitor.fileno()))
        serial.close()
        monitor.close()
        self.ask_monitor("qmp_capabilities")

    def settings(self, tree, build, command, iommu, interactive):
        values = {
            "TREE": tree,
            "FOLDERS": f"{tree} {os.path.abspath(build)}",
            "COMMAND": command,
            "NICS": " ".join(address(i) for i in range(len(self.nics))),
            "PEERS": " ".join(f"peer{n}={PEER_MAC.format(n)}" for n in self.links),
            "PMDS": _pmds(),
            "PMD_NAMES": " ".join(sorted({*PMDS, *(KINDS[nic.kind][1] for nic in self.nics)})),
            "NO_IOMMU": "" if iommu else "1",
            "INTERACTIVE": "1" if interactive else "",
            "TERM": os.environ.get("TERM", "dumb"),
        }
        return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())

    def backend(self, name, link, queues=1):
        """One end of a link, for a NIC's queues."""
        if all(nic.queues == 1 for nic in self.nics if nic.link == link):
            return f"hubport,id={name},hubid={link}"
        bridge, many = f"link{link}", "multi_queue" if queues > 1 else ""
        if not os.path.exists(f"/sys/class/net/{bridge}"):
            _ip(f"link add {bridge} type bridge mcast_snooping 0 ageing_time 0")
            _ip(f"link set {bridge} mtu {TAP_MTU} up")
            _no_netfilter()
        _ip(f"tuntap add {name} mode tap vnet_hdr {many}")
        _ip(f"link set {name} mtu {TAP_MTU} master {bridge} up")
        return f"tap,id={name},ifname={name},script=no,downscript=no,vhost=off,queues={queues}"

    def network(self):
        """A PCIe port for each NIC, so that it can be unplugged, and what connects them."""
        arguments = []
        for i, nic in enumerate(self.nics):
            more = f",mq=on,rss=on,vectors={2 * nic.queues + 2}" if nic.queues > 1 else ""
            arguments += [
                "-device", f"pcie-root-port,id=port{i},chassis={i + 1},addr={i + 4:#x}",
                "-netdev", self.backend(f"net{i}", nic.link, nic.queues),
                "-device", f"{KINDS[nic.kind][0]},id=nic{i},netdev=net{i},bus=port{i},romfile=,"
                f"mac={NIC_MAC.format(i)}{more}",
            ]
        for n in self.links:
            arguments += [
                "-netdev", self.backend(f"peernet{n}", n),
                "-device", f"virtio-net-pci,id=peer{n},netdev=peernet{n},romfile=,{COMPLETE},"
                f"mac={PEER_MAC.format(n)}",
            ]
        return arguments

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.serial.close()
        self.monitor.close()
        if os.path.exists(self.log):
            with open(self.log, errors="replace") as f:
                self.console = f.read()
        self.errors.seek(0)
        self.console += self.errors.read()
        self.folder.cleanup()

    def ask_monitor(self, what, **arguments):
        """QEMU's answer to a command of its monitor."""
        request = {"execute": what, "arguments": arguments}
        self.monitor.sendall(json.dumps(request).encode() + b"\n")
        while True:
            reply = json.loads(self.replies.readline() or '{"error": "QEMU has ended"}')
            if "return" in reply or "error" in reply:  # events come between
                return reply

    def serve(self, request):
        if "exit" in request:
            self.exit = request["exit"]
            return
        reply = self.ask_monitor(request["do"], **request["with"])
        self.serial.sendall(json.dumps(reply).encode() + b"\n")

    def lines(self):
        """The lines that the command prints, until the machine is off. Then self.exit is the
        command's exit status, None if it has none."""
        with self.serial.makefile("r", errors="replace") as said:
            for line in said:
                line = line.rstrip("\r\n")
                if line.startswith("?{"):
                    self.serve(json.loads(line[1:]))
                else:
                    yield line
        self.process.wait()
