# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program of libFuzzer with the seeds and words below. A long run, with what it finds kept:

    nice python3 tests/fuzz/fuzz.py http build/tests/fuzz/fuzz_http --runs 50000000 --corpus DIR

An input that fails is written to the working directory; give it to the program to repeat it."""
import argparse
import os
import struct
import subprocess
import sys
import tempfile

# What is freed fills no cache, and little memory: so small a quarantine is twice as fast.
RSS_MB = 1024

ETHER = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1])


def of_input(frame):
    return bytes([128, len(frame)]) + frame


def frame4(ident, at, more, length):
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, ident, more << 13 | at // 8, 64, 253, 0,
                     b"\x0a\0\0\1", b"\x0a\0\0\2")
    return of_input(ETHER + b"\x08\0" + ip + bytes(length))


def frame6(ident, at, more, length):
    ip = struct.pack("!IHBB16s16sBBHI", 6 << 28, 8 + length, 44, 64, b"\xfd" + bytes(14) + b"\1",
                     b"\xfd" + bytes(14) + b"\2", 253, 0, at | more, ident)
    return of_input(ETHER + b"\x86\xdd" + ip + bytes(length))


HEAD = b" HTTP/1.1\r\nHost: h\r\n"
QUERY = b"\0\1\1\0\0\1\0\0\0\0\0\0\3www\7example\3com"
OPT = b"\0\0\x29\4\xd0\0\0\x80\0\0\x0c\0\x0a\0\x08abcdefgh"
SEEDS = {
    # The first byte: 1 response, 2 small limits, 4 HEAD, 8 small body; the second: a split.
    "http": [
        b"00GET /a%20b?c=d" + HEAD + b"Connection: close\r\n\r\n",
        b"00POST /" + HEAD + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello"
        b"GET / HTTP/1.0\r\n\r\n",
        b"00PUT http://[::1]:80/" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
        b"5;a=\"b\"\r\nhello\r\n0\r\nA: b\r\n\r\nOPTIONS *" + HEAD + b"\r\n",
        b"10HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"
        b"HTTP/1.0 204 \r\n\r\n",
        b"20GET /" + HEAD + b"A: b\r\nC: d\r\nE: f\r\n\r\n",
        b"90HTTP/1.0 200 OK\r\n\r\nuntil the end",
    ],
    # The first byte: path, range after a size, date after the time now, conditions of a request.
    "http_text": [
        b"0/a/%2e%2e/b/./c//", b"0/.well-known/a%20b", b"1\x00\x10\0\0\0\0\0\0bytes=0-0,-1,5-",
        b"2\0\0\0\0\0\0\0\0Sun, 06 Nov 1994 08:49:37 GMT",
        b"2\0\0\0\0\0\0\0\0Sunday, 06-Nov-94 08:49:37 GMT",
        b"2\0\0\0\0\0\0\0\0Sun Nov  6 08:49:37 1994",
        b"3GET / HTTP/1.0\r\nRange: bytes=0-\r\nIf-Range: \"a\"\r\n\r\n",
        b"3GET / HTTP/1.0\r\nIf-None-Match: \"b\", W/\"a\"\r\n"
        b"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
        b"3GET / HTTP/1.0\r\nIf-Match: *\r\n"
        b"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
    ],
    # The first byte: 0x80 a reply, else a query; bits for sizes, DO and the code.
    "dns": [
        b"\1" + QUERY + b"\0\0\1\0\1", QUERY.join([b"\x1b", b"\0\0\x1c\0\1" + OPT]),
        b"\x80\0\1\0\0\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4",
        b"\x80\0\2\0\0\xc0\x0c\0\5\0\1\0\0\0\x3c\0\4\1a\xc0\x10"
        b"\xc0\x2d\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4",
        b"\x84\0\0\1\0\xc0\x18\0\6\0\1\0\0\0\x3c\0\x1a\1a\xc0\x18\1b\xc0\x18" + bytes(20),
        b"\x82\2\1\0\1\xc0\x0c\0\x0f\0\1\0\0\0\x3c\0\6\0\x0a\1m\xc0\x10" + OPT,
    ],
    "dns_text": [
        b"1127.0.0.1 localhost\n10.0.0.1 a b # c\n::1 a\nfe80::1%lo0 a\n",
        b"010.0.0.0/8, !10.6.0.0/16\n#x\n::1,fd00::/8",
    ],
    # Steps: 0 open, 2 close, 3 receive, 4 and 5 time and a carrier, 6 bytes of a frame, 7 a frame
    # for a flow. The seeds' frames: a packet, an error and one changed byte for each kind of flow.
    "flows": [
        bytes([0, what, 0, 7, 0, 0, 0, 9, 7, 0, 0, 1, 9, 3, 0, 3, 0, 7, 0, 20, 0, 9, 36, 1, 3, 0,
               4, 99, 5, 2, 0, 0]) for what in range(0, 32, 3)] + [
        b"\6\4\x2a" + b"\xff" * 6 + b"\2\0\0\0\0\2\x08\6\0\1\x08\0\6\4\0\1\2\0\0\0\0\2"
        b"\x0a\0\0\2\0\0\0\0\0\0\x0a\0\0\1"],
    # Each frame after a byte (128 right checksum, 64 two segments, else time) and its length.
    # Steps: use, use and wait, hear, hear a question, confirm, age, leave; or an advertisement.
    "neigh": [
        b"\0" + bytes([0, 1, 0, 2, 1, 3, 6, 0, 40, 0, 1, 0, 6, 0, 30, 3, 1, 7, 4, 1, 9, 5, 1, 0]),
        b"\0" + bytes([1, 1, 0, 1, 2, 0, 6, 0, 20, 7, 0, 0, 2, 2, 1, 7, 0, 0]),
        b"\0" + b"".join(bytes([0, n, 0]) for n in range(40)) + bytes([6, 0, 30]),
        b"\1" + bytes(21) + b"\xff" + bytes(32) + b"\x88\0\0\0\x60\0\0\0\xfd" + bytes(15) +
        b"\2\1\2\0\0\0\0\1",
    ],
    "reassembly": [
        b"".join(frame4(*f) for f in [(1, 0, True, 16), (1, 16, False, 9)]),
        b"".join(frame4(*f) for f in [(1, 16, False, 16), (1, 0, True, 24)]),
        b"".join(frame4(i, 0, True, 8) for i in range(9)),
        b"".join(frame6(*f) for f in [(1, 0, True, 16), (1, 16, False, 9)]),
        b"".join(frame6(*f) for f in [(1, 0, False, 8), (2, 8, True, 8), (2, 0, True, 8)]),
    ],
}
WORDS = {
    "http": [
        "\r\n", "\r\n\r\n", "\n", "\r", ": ", " HTTP/1.1\r\n", " HTTP/1.0\r\n",
        "HTTP/1.1 200 OK\r\n", "GET ", "HEAD ", "POST ", "PUT ", "CONNECT ", "OPTIONS *",
        "http://", "https://", "Host: h\r\n", "Content-Length: ", "Transfer-Encoding: ",
        "chunked", "gzip, ", "Connection: ", "close", "keep-alive", "Expect: ", "100-continue",
        "0\r\n\r\n", "1\r\n", ";a=b", "%2e", "?", "[::1]", "18446744073709551616",
        "ffffffffffffffff", " ", "\t", ", ", "204", "304",
    ],
    "http_text": [
        "/", "..", "/../", "%2e", "%2f", "%00", "bytes=", "-", ",", "18446744073709551615", "Feb",
        " GMT", "Friday, ", "Sat, ", "29", "60", "\"a\"", "W/", "*", "If-Match: ", "\r\n",
    ],
    "dns": [
        "\xc0\x0c", "\xc0\x10", "\0\1\0\1", "\0\2\0\1", "\0\5\0\1", "\0\6\0\1", "\0\x21\0\1",
        "\0\x23\0\1", "\0\x27\0\1", "\0\x2e\0\1", "\0\x2f\0\1", "\0\x29\x04\xd0", "\0\x0a\0\x08",
        "\0\x0a\0\x28", "\0\0\0\x3c\0\4", "\0\0\x80\0", "\3www\7example\3com\0", "\x3f", "\x40",
        "\x80", "\xff\xff",
    ],
    "dns_text": [
        "10.0.0.0", "/8", "!", ", ", "#", "\n", "::", "fd00::1", "/128", "%", " a", " b.",
        "localhost", "\r\n", "::ffff:1.2.3.4", "1.0.0.10.in-addr.arpa", "255.255.255.255",
    ],
    "flows": ["\0\1\0", "\7\0\0\0\x10", "\3\0", "\4\xff", "\2\0", "\x08\0\x45", "\x86\xdd\x60"],
    "neigh": ["\2\1", "\1\1", "\xff", "\6\0\x1e"],
    "reassembly": [
        "\x08\0\x45", "\x86\xdd\x60", "\x81\0", "\x20\0", "\0\1", "\x2c", "\xfd",
    ],
}


def prepare(name, folder):
    for i, seed in enumerate(SEEDS[name]):
        with open(os.path.join(folder, f"seed{i}"), "wb") as f:
            f.write(seed)
    words = os.path.join(folder, "words")
    with open(words, "w", encoding="ascii") as f:
        for word in WORDS[name]:
            f.write('"%s"\n' % "".join(
                c if c.isascii() and c.isalnum() else f"\\x{ord(c):02x}" for c in word))
    return words


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=SEEDS)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=1, help="0: another one each time")
    parser.add_argument("--corpus", help="folder of inputs to begin with, and to add to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = options.corpus or os.path.join(folder, "corpus")
        os.makedirs(kept, exist_ok=True)
        seeds = os.path.join(folder, "seeds")
        os.mkdir(seeds)
        words = prepare(options.name, seeds)
        os.rename(words, os.path.join(folder, "words"))
        done = subprocess.run(
            [options.program, f"-runs={options.runs}", f"-seed={options.seed}", "-max_len=2048",
             f"-dict={folder}/words", "-print_final_stats=1", "-timeout=60",
             f"-rss_limit_mb={RSS_MB}", kept, seeds],
            env={"ASAN_OPTIONS": "quarantine_size_mb=8", **os.environ},
            stdout=subprocess.DEVNULL if options.corpus is None else None,
            stderr=subprocess.PIPE if options.corpus is None else None, check=False)
    print("1..1")
    if done.returncode:
        sys.stderr.buffer.write(done.stderr or b"")
    print(f"{'not ok' if done.returncode else 'ok'} 1 - {options.name}: {options.runs} inputs")
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
