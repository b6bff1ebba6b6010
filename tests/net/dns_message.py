# SPDX-License-Identifier: BSD-3-Clause
"""Messages of the DNS, for the tests of haul-dns: queries as bytes, and what answers say, with
names written out, so that two answers are equal if they say the same."""
import collections
import struct

QR, AA, TC, RD, RA, AD, CD = 0x8000, 0x400, 0x200, 0x100, 0x80, 0x20, 0x10
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = range(6)
TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "HINFO": 13, "MX": 15, "TXT": 16,
         "AAAA": 28, "LOC": 29, "SRV": 33, "NAPTR": 35, "DNAME": 39, "OPT": 41, "DS": 43,
         "SSHFP": 44, "RRSIG": 46, "NSEC": 47, "DNSKEY": 48, "TLSA": 52, "CDS": 59, "SVCB": 64,
         "HTTPS": 65, "SPF": 99, "EUI48": 108, "ANY": 255, "URI": 256, "CAA": 257}
# Where names are in the data: bytes before the first one, and how many.
NAMES = {2: (0, 1), 5: (0, 1), 6: (0, 2), 12: (0, 1), 15: (2, 1), 33: (6, 1), 39: (0, 1),
         46: (18, 1), 47: (0, 1)}

Record = collections.namedtuple("Record", "name type cls ttl data")


def type_of(name):
    return TYPES[name] if name in TYPES else int(name.removeprefix("TYPE"))


def to_wire(name):
    labels = [label.encode() for label in name.strip(".").split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def query(name, type, id=0, flags=RD, size=None, do=False, options=b"", cls=1):
    """size: that EDNS says we take; None: no EDNS."""
    msg = struct.pack("!6H", id, flags, 1, 0, 0, size is not None) + \
        to_wire(name) + struct.pack("!2H", type_of(type), cls)
    if size is not None:
        msg += b"\0" + struct.pack("!2HIH", 41, size, 0x8000 if do else 0, len(options)) + options
    return msg


def option(code, data):
    return struct.pack("!2H", code, len(data)) + data


class Message:
    """An answer. Raises an exception if it is malformed."""

    def __init__(self, msg):
        self.bytes = msg
        self.id, self.flags, nb, *counts = struct.unpack_from("!6H", msg)
        self.rcode, self.tc = self.flags & 15, bool(self.flags & TC)
        at, self.question = 12, []
        for _ in range(nb):
            name, at = self.name(at)
            self.question.append((name, *struct.unpack_from("!2H", msg, at)))
            at += 4
        self.sections, self.opt = [], None
        for count in counts:
            self.sections.append([])
            for _ in range(count):
                at = self.record(at, self.sections[-1])
        if at != len(msg):
            raise ValueError(f"{len(msg) - at} bytes behind the records")
        self.answers, self.authority, self.additional = self.sections

    def name(self, at):
        labels, end = [], None
        for _ in range(128):
            n = self.bytes[at]
            if n >= 0xc0:
                end = end or at + 2
                at = struct.unpack_from("!H", self.bytes, at)[0] & 0x3fff
                continue
            at += 1
            if n == 0:
                return b".".join(labels) + b".", end or at
            labels.append(self.bytes[at:at + n])
            at += n
        raise ValueError("a name without end")

    def record(self, at, section):
        name, at = self.name(at)
        type, cls, ttl, n = struct.unpack_from("!2HIH", self.bytes, at)
        at += 10
        if at + n > len(self.bytes):
            raise ValueError("data behind the end")
        if type == 41:
            self.opt = (cls, ttl, self.bytes[at:at + n])
        else:
            section.append(Record(name, type, cls, ttl, self.data(type, at, n)))
        return at + n

    def data(self, type, at, n):
        before, nb = NAMES.get(type, (n, 0))
        parts, end = [self.bytes[at:at + before]], at + n
        at += before
        for _ in range(nb):
            name, at = self.name(at)
            parts.append(name.lower())
        return tuple(parts) + (self.bytes[at:end],)

    def ede(self):
        """The code of an extended error (RFC 8914), or None."""
        return self.options().get(15, (None,))[0]

    def options(self):
        """Options of EDNS: the first 16 bits as a number, and the data, of each."""
        found, data = {}, self.opt[2] if self.opt else b""
        while data:
            code, n = struct.unpack_from("!2H", data)
            value = data[4:4 + n]
            found[code] = (int.from_bytes(value[:2], "big"), value)
            data = data[4 + n:]
        return found


def said(records, with_ttl=False):
    """Records as a set to compare: names in lower case."""
    return sorted((r.name.lower(), r.type, r.cls, r.data) + ((r.ttl,) if with_ttl else ())
                  for r in records)
