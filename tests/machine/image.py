# SPDX-License-Identifier: BSD-3-Clause
"""Debian's kernel for an emulated machine, and an initramfs for it: busybox, the kernel's modules
that the guest needs, and the script init. The kernel is that of Debian's package, which apt
fetches (70 MB) and which is not installed: what is needed of it (20 MB) is kept in a folder."""
import glob
import lzma
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

QEMU = "qemu-system-x86_64"
BUSYBOX = "/bin/busybox"
# The package that depends on the newest kernel's.
NEWEST = "linux-image-amd64"
# What the guest loads, with all that these depend on.
MODULES = ("virtio_pci", "virtio_net", "9pnet_virtio", "9p", "vfio_pci", "vfio_iommu_type1")
KEPT = re.compile(r"\./(boot/vmlinuz-.*|lib/modules/[^/]*/kernel/("
                  r"drivers/(virtio|vfio)/.*|fs/(9p|fscache|netfs)/.*|net/9p/.*|virt/lib/.*|"
                  r"drivers/net/(net_failover|virtio_net)|net/core/failover).*)")


class Missing(Exception):
    """Why there can be no machine here."""


def missing():
    """The reason why no machine can be made here, or None; without a look at the kernel."""
    if os.uname().machine != "x86_64":
        return f"machines of x86_64 only, not of {os.uname().machine}"
    for program in QEMU, BUSYBOX, "apt-get", "dpkg-deb":
        if not shutil.which(program):
            return f"no {program}; .ci/install test brings it on Debian"
    with open(BUSYBOX, "rb") as f:
        needs_libraries = b"/ld-linux" in f.read()
    if needs_libraries:
        return f"{BUSYBOX} is not static: install busybox-static"
    return None


def _package():
    """The name of the newest kernel's package."""
    shown = subprocess.run(["apt-cache", "show", NEWEST], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r"^Depends: (linux-image-\S+)", shown, re.M)
    if not found:
        raise Missing(f"apt knows no {NEWEST}: apt-get update")
    return found[1]


def _unpack(deb, folder):
    """What KEPT names, without its folders."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as p:
        with tarfile.open(fileobj=p.stdout, mode="r|") as tar:
            for entry in tar:
                if entry.isfile() and KEPT.fullmatch(entry.name):
                    name = os.path.basename(entry.name)
                    name = "vmlinuz" if name.startswith("vmlinuz-") else name
                    with open(os.path.join(folder, name), "wb") as f:
                        shutil.copyfileobj(tar.extractfile(entry), f)


def _fetch(package, folder):
    """Fills the folder, at once: others may look for it meanwhile."""
    parent = os.path.dirname(folder)
    os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as temporary:
        done = subprocess.run(["apt-get", "-q", "download", package], cwd=temporary,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        debs = glob.glob(os.path.join(temporary, "*.deb"))
        if done.returncode or not debs:
            said = [line for line in done.stdout.splitlines() if line.startswith("E:")]
            raise Missing(f"apt-get cannot fetch {package}: {said[0] if said else done.stdout}")
        unpacked = os.path.join(temporary, "kernel")
        os.mkdir(unpacked)
        _unpack(debs[0], unpacked)
        if not os.path.exists(folder):
            os.rename(unpacked, folder)


def kernel(folder):
    """The folder with vmlinuz and modules, fetched if need be; of an earlier run, if apt has no
    newer one. Raises Missing."""
    why = missing()
    if why:
        raise Missing(why)
    here = sorted(glob.glob(os.path.join(folder, "linux-image-*")))
    try:
        wanted = os.path.join(folder, _package())
        if not os.path.exists(wanted):
            _fetch(os.path.basename(wanted), wanted)
        return wanted
    except Missing:
        if here:
            return here[-1]
        raise


def _module(folder, name):
    """The bytes of a module; Debian 13 compresses them."""
    for spelled in name, name.replace("_", "-"):
        for suffix, opened in (".ko", open), (".ko.xz", lzma.open):
            path = os.path.join(folder, spelled + suffix)
            if os.path.exists(path):
                with opened(path, "rb") as f:
                    return f.read()
    raise Missing(f"{folder} has no module {name}")


def _ordered(folder):
    """(name, bytes) of MODULES and what they depend on, each after those that it needs."""
    found = {}

    def add(name):
        if name in found:
            return
        data = _module(folder, name)
        needs = re.search(rb"\0depends=([^\0]*)\0", data)
        for need in needs[1].decode().split(",") if needs and needs[1] else ():
            add(need.replace("-", "_"))
        found[name] = data

    for name in MODULES:
        add(name)
    return list(found.items())


def _entry(name, mode, data=b""):
    """A file of a cpio archive of format newc."""
    name = name.encode() + b"\0"
    fields = 0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0
    head = b"070701" + b"".join(b"%08X" % n for n in fields) + name
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def initramfs(folder, path, settings):
    """Writes the initramfs. settings: lines for a shell, which init reads."""
    with open(BUSYBOX, "rb") as f:
        busybox = f.read()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "init"), "rb") as f:
        init = f.read()
    modules = _ordered(folder)
    with open(path, "wb") as out:
        for name in "bin", "modules", "dev", "proc", "sys", "root":
            out.write(_entry(name, 0o40755))
        out.write(_entry("bin/busybox", 0o100755, busybox))
        out.write(_entry("init", 0o100755, init))
        out.write(_entry("settings", 0o100644, settings.encode()))
        for i, (name, data) in enumerate(modules):
            out.write(_entry(f"modules/{i:02}-{name}.ko", 0o100644, data))
        out.write(_entry("TRAILER!!!", 0))
