# SPDX-License-Identifier: BSD-3-Clause
"""Frames of haul-fwd's generator, decoded and encoded by hand."""
import ipaddress
import struct
from collections import namedtuple

MAGIC = 0x68F5
SIZE = 18
L4 = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp"}

Stamp = namedtuple("Stamp", "flow sequence intended run late")
Frame = namedtuple("Frame", "vlan version l4 src dst sport dport stamp size sums_right")


def total(data):
    data += b"\0" * (len(data) % 2)
    words = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return words


def stamp_of(payload):
    magic, flow, sequence, b, c = struct.unpack("!HHIQH", payload[:SIZE])
    if magic != MAGIC:
        return None
    return Stamp(flow, sequence, b >> 24, (b >> 16) & 0xFF, (b & 0xFFFF) << 16 | c)


def decode(frame):
    at, vlan = 14, None
    ether = struct.unpack_from("!H", frame, 12)[0]
    if ether == 0x8100:
        vlan, ether = struct.unpack_from("!HH", frame, 14)
        at = 18
    if ether == 0x0800:
        length, proto = struct.unpack_from("!xxH5xB", frame, at)
        src, dst = frame[at + 12:at + 16], frame[at + 16:at + 20]
        right = total(frame[at:at + 20]) == 0xFFFF and frame[at] == 0x45
        end, l4 = at + length, at + 20
    else:
        assert ether == 0x86DD, hex(ether)
        length, proto = struct.unpack_from("!4xHB", frame, at)
        src, dst = frame[at + 8:at + 24], frame[at + 24:at + 40]
        right = True
        end, l4 = at + 40 + length, at + 40
    pseudo = b"" if proto == 1 else src + dst + struct.pack("!IHBB", end - l4, 0, 0, proto)
    right = right and total(pseudo + frame[l4:end]) == 0xFFFF and end == len(frame)
    sport, dport = struct.unpack_from("!HH", frame, l4)
    if proto in (1, 58):
        kind, code, sport = struct.unpack_from("!BBxxH", frame, l4)
        right = right and (kind, code) == (8 if proto == 1 else 128, 0)
        dport = None
        payload = l4 + 8
    elif proto == 17:
        right = right and struct.unpack_from("!HH", frame, l4 + 4)[0] == end - l4
        payload = l4 + 8
    else:
        payload = l4 + (frame[l4 + 12] >> 4) * 4
    right = right and not any(frame[payload + SIZE:end])
    return Frame(vlan, 4 if ether == 0x0800 else 6, L4[proto],
                 str(ipaddress.ip_address(src)), str(ipaddress.ip_address(dst)), sport, dport,
                 stamp_of(frame[payload:]), len(frame), right)


def encode(flow, sequence, run=1, intended=0, late=0):
    """A frame as another generator would send it, without checksums."""
    stamp = struct.pack("!HHIQH", MAGIC, flow, sequence,
                        (intended & (1 << 40) - 1) << 24 | run << 16 | late >> 16, late & 0xFFFF)
    udp = struct.pack("!HHHH", 1024 + flow & 0xFFFF, 9, 8 + len(stamp), 0) + stamp
    ip = struct.pack("!BBHIBBH4s4s", 0x45, 0, 20 + len(udp), 0, 64, 17, 0,
                     bytes([198, 18, 0, 1]), bytes([198, 18, 0, 2]))
    return b"\x02\0\0\0\0\x02" + b"\x02\0\0\0\0\x01" + b"\x08\0" + ip + udp
