# SPDX-License-Identifier: BSD-3-Clause
"""A path to a name server that loses, repeats and delays datagrams, or all of them: a proxy on a
thread, with an address and port of its own. For kernels without netem."""
import contextlib
import heapq
import select
import socket
import struct
import threading
import time


def pump(a, b):
    """Until one end closes."""
    while True:
        for s, other in ((a, b), (b, a)):
            if s in select.select([a, b], [], [])[0]:
                got = s.recv(65536)
                if not got:
                    return
                other.sendall(got)


class Path:
    def __init__(self, address, port, to, choose, loss=0.0, repeat=0.0, delay=0.0):
        """loss, repeat: shares of datagrams, each way; delay: most seconds, each way."""
        self.choose, self.loss, self.repeat, self.delay = choose, loss, repeat, delay
        self.front, self.back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "ab")
        for s in self.front, self.back:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.front.bind((address, port))
        self.back.connect(to)
        self.to = to
        self.tcp = socket.create_server((address, port), backlog=1000)
        self.asked = self.asked_tcp = self.lost = 0
        self.clients = {}  # by the id that the server gets: address and id of the client
        self.later = []
        self.ends = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends:
            wait = min(0.1, self.later[0][0] - time.monotonic()) if self.later else 0.1
            for s in select.select([self.front, self.back, self.tcp], [], [], max(wait, 0))[0]:
                {self.front: self.forward, self.back: self.back_again,
                 self.tcp: self.accept}[s]()
            while self.later and self.later[0][0] <= time.monotonic():
                _, _, send, args = heapq.heappop(self.later)
                try:
                    send(*args)
                except OSError:  # nobody listens behind it
                    pass

    def accept(self):
        """TCP loses nothing."""
        self.asked_tcp += 1
        client = self.tcp.accept()[0]
        threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def serve(self, client):
        with contextlib.suppress(OSError), client, socket.create_connection(self.to, 60) as server:
            pump(client, server)

    def pass_on(self, send, *args):
        if self.choose.random() < self.loss:
            self.lost += 1
            return
        for _ in range(2 if self.choose.random() < self.repeat else 1):
            at = time.monotonic() + self.choose.random() * self.delay
            heapq.heappush(self.later, (at, id(args) + self.choose.random(), send, args))

    def forward(self):
        msg, client = self.front.recvfrom(4096)
        self.asked += 1
        ours = self.asked & 0xffff
        self.clients[ours] = client, msg[:2]
        self.pass_on(self.back.send, struct.pack("!H", ours) + msg[2:])

    def back_again(self):
        try:
            msg = self.back.recv(65536)
        except ConnectionError:
            return
        client, theirs = self.clients.get(struct.unpack_from("!H", msg)[0], (None, b""))
        if client:
            self.pass_on(self.front.sendto, theirs + msg[2:], client)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()
        self.tcp.close()
        self.front.close()
        self.back.close()
