# SPDX-License-Identifier: BSD-3-Clause
"""A reader of pcapng files that accepts nothing but what haul writes: each block's lengths, options
and padding are checked."""
import collections
import struct

IN, OUT = 1, 2
SECTION, INTERFACE, STATISTICS, FRAME = 0x0A0D0D0A, 1, 5, 6

Frame = collections.namedtuple("Frame", "port direction queue ns len bytes")
Statistics = collections.namedtuple("Statistics", "port received dropped")
Summary = collections.namedtuple("Summary", "frames dropped")


class File:
    def __init__(self):
        self.names, self.resolution, self.all, self.statistics, self.program = [], [], [], [], ""

    def frames_of(self, port, direction):
        return [f for f in self.all if f.port == port and f.direction == direction]

    def frames(self, port, direction):
        return [f.bytes for f in self.frames_of(port, direction)]


def options(data):
    """The options as a dictionary; they end with an end."""
    found, at = {}, 0
    while True:
        code, size = struct.unpack_from("<HH", data, at)
        if code == 0:
            assert size == 0 and at + 4 == len(data), "bytes behind the last option"
            return found
        assert code not in found
        found[code] = data[at + 4:at + 4 + size]
        at += 4 + size
        assert not any(data[at:at + -size % 4]), "padding"
        at += -size % 4


def blocks(data, torn=False):
    """Types and bodies. torn: the last block may be cut off."""
    at = 0
    while at < len(data):
        left = len(data) - at
        if torn and (left < 8 or struct.unpack_from("<I", data, at + 4)[0] > left):
            return
        kind, size = struct.unpack_from("<II", data, at)
        assert size % 4 == 0 and struct.unpack_from("<I", data, at + size - 4)[0] == size
        yield kind, data[at + 8:at + size - 4]
        at += size


def parse(data, torn=False):
    file = File()
    for i, (kind, body) in enumerate(blocks(data, torn)):
        assert (kind == SECTION) == (i == 0)
        if kind == SECTION:
            assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
            file.program = options(body[16:])[4].decode()
        elif kind == INTERFACE:
            found = options(body[8:])
            assert struct.unpack_from("<HH", body) == (1, 0) and len(found[6]) == 6
            file.names.append(found[2].decode())
            file.resolution.append(found[9][0])
        elif kind == FRAME:
            port, high, low, captured, size = struct.unpack_from("<IIIII", body)
            end = 20 + captured + -captured % 4
            assert not any(body[20 + captured:end]), "padding"
            found = options(body[end:])
            file.all.append(Frame(port, *struct.unpack("<I", found[2]),
                                  *struct.unpack("<I", found[6]), high << 32 | low, size,
                                  body[20:20 + captured]))
            assert port < len(file.names) and captured <= size
        else:
            assert kind == STATISTICS
            found = options(body[12:])
            file.statistics.append(Statistics(*struct.unpack_from("<I", body),
                                              *struct.unpack("<Q", found[4]),
                                              *struct.unpack("<Q", found[5])))
    return file


def read(path):
    with open(path, "rb") as f:
        return parse(f.read())


def join(files):
    """Several files as one."""
    whole = File()
    whole.names = files[0].names
    for file in files:
        whole.all += file.all
    return whole


def summary(path):
    """The number of frames, and of dropped ones by the statistics, of a file that may be large."""
    frames = dropped = 0
    with open(path, "rb") as f:
        while head := f.read(8):
            kind, size = struct.unpack("<II", head)
            if kind == STATISTICS:
                dropped += struct.unpack("<Q", options(f.read(size - 8)[12:-4])[5])[0]
            else:
                frames += kind == FRAME
                f.seek(size - 8, 1)
    return Summary(frames, dropped)
