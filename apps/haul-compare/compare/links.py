# SPDX-License-Identifier: BSD-3-Clause
"""Links between a generator and what it measures, in a network of their own.

haul-compare moves into a network namespace (and, without privileges, a user namespace), where it
may make interfaces. The kernel removes all of it with the last process inside, however that ends.
"""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import time

from .program import Failed

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_REC_PRIVATE = 0x44000
SIOCGIFFLAGS, SIOCETHTOOL = 0x8913, 0x8946
IFF_UP_RUNNING = 0x41
# ethtool: transmit checksums, TSO, GSO, GRO. AF_XDP has none of them, and a generator's frames are
# to arrive as they were sent.
OFFLOADS = 0x17, 0x1F, 0x24, 0x2C
UP_SECONDS = 20

IS_ROOT = os.geteuid() == 0

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _write(path, content):
    with open(path, "w", encoding="ascii") as file:
        file.write(content)


def _mount(kind, where):
    return _libc.mount(kind.encode(), where.encode(), kind.encode(), 0, None) == 0


def enter():
    """Moves this process into a network of its own. Returns None, or why that is not possible."""
    uid, gid = os.geteuid(), os.getegid()
    flags = CLONE_NEWNET | CLONE_NEWNS | (CLONE_NEWUSER if uid else 0)
    try:
        _check(_libc.unshare(flags), "unshare")
        if uid:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"0 {uid} 1")
            _write("/proc/self/gid_map", f"0 {gid} 1")
        _check(_libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "mount")
    except OSError as e:
        return e.strerror
    _mount("sysfs", "/sys")  # shows the interfaces of the new network
    _mount("bpf", "/sys/fs/bpf")  # for AF_XDP
    for scope in "all", "default":  # no frames but the generator's
        try:
            _write(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6", "1")
        except OSError:
            pass
    return None


def ip(*words):
    try:
        done = subprocess.run(["ip", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        raise Failed("there is no program ip: install iproute2") from None
    if done.returncode:
        raise Failed(f"ip {' '.join(words)}: {done.stdout.strip()}")


def flags(name):
    """The IFF_ flags of an interface; 0 if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            answer = fcntl.ioctl(s, SIOCGIFFLAGS, struct.pack("16sH14x", name.encode(), 0))
        except OSError:
            return 0
    return struct.unpack("16sH14x", answer)[1]


def mac(name):
    with open(f"/sys/class/net/{name}/address", encoding="ascii") as file:
        return file.read().strip()


def wait_up(name):
    end = time.monotonic() + UP_SECONDS
    while flags(name) & IFF_UP_RUNNING != IFF_UP_RUNNING:
        if time.monotonic() > end:
            raise Failed(f"the interface {name} does not come up")
        time.sleep(0.005)


def no_offloads(name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("=II", command, 0))
            request = struct.pack("16sP8x", name.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(s, SIOCETHTOOL, request)
            except OSError:
                pass  # a kernel without it has nothing to turn off


def veth(a, b):
    ip("link", "add", a, "type", "veth", "peer", "name", b)
    for name in a, b:
        no_offloads(name)
        ip("link", "set", name, "up")
    for name in a, b:
        wait_up(name)


def tun_opens():
    """None, or why a user may not make TAP interfaces here."""
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as e:
        return f"/dev/net/tun: {e.strerror}"
    return None


class Link:
    """The two ends, as specs of haul's ports. ready() is called when the subject has opened its
    end, and before the generator opens the other."""

    def __init__(self, kind, generator, subject, more=()):
        self.kind = kind
        self.generator, self.subject = generator, subject
        self.generator_more = list(more)

    def ready(self):
        if self.subject.startswith("tap:"):
            name = self.subject.partition(":")[2]
            no_offloads(name)
            ip("link", "set", name, "up")
            wait_up(name)


def make(kind, name, scratch):
    """A new link of that kind. name: two or three letters that make its interfaces unique."""
    if kind == "tap":
        return Link(kind, f"afpacket:{name}0", f"tap:{name}0")
    if kind == "memif":
        path = os.path.join(scratch, f"{name}.memif")
        return Link(kind, f"memif:role=client,socket={path}", f"memif:role=server,socket={path}")
    veth(f"{name}0", f"{name}1")
    pmd = "afxdp" if kind == "afxdp" else "afpacket"
    return Link(kind, f"{pmd}:{name}0", f"{pmd}:{name}1")


def make_for_sockets(name):
    """A pair of interfaces whose far end the kernel's UDP serves, at the generator's addresses
    (RFC 2544). The generator answers no ARP."""
    near, far = f"{name}0", f"{name}1"
    veth(near, far)
    ip("addr", "add", "198.18.0.2/24", "dev", far)
    ip("neigh", "replace", "198.18.0.1", "lladdr", mac(near), "dev", far)
    return Link("veth", f"afpacket:{near}", far, ["--eth-peer", f"0,{mac(far)}"])


def given(specs):
    return Link("given", specs[0], specs[1])


def is_root():
    """True for root outside of user namespaces. Asked before enter() has changed it."""
    return IS_ROOT
