# SPDX-License-Identifier: BSD-3-Clause
"""What examples.py does with the examples that have flows."""
import contextlib
import re
import select
import socket
import threading
import time

import netns

SERVERS = ["10.77.0.11", "10.77.0.12", "10.77.0.13"]
CLIENTS = 60


class Server:
    """Answers datagrams with its address, until it is stopped."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 7))
        self.address = address.encode()
        self.checks = 0
        self.ends = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends:
            # In between it looks whether it ends.
            if select.select([self.socket], [], [], 0.05)[0]:
                text, client = self.socket.recvfrom(2048)
                self.socket.sendto(self.address, client)
                self.checks += text == b"up?"

    def stop(self):
        self.ends = True
        self.thread.join()
        self.socket.close()


def ask(clients):
    """The server that answers each client. One without an answer asks again, as flows that end do
    not hand on what waits in them."""
    answers = {}
    end = time.monotonic() + 60
    while len(answers) < len(clients) and time.monotonic() < end:
        waiting = [c for c in clients if c not in answers]
        for client in waiting:
            client.send(b"who?")
        last = time.monotonic() + 2  # until they ask again
        while len(answers) < len(clients) and time.monotonic() < last:
            # Until then they may have asked in vain.
            for client in select.select(waiting, [], [], 0.1)[0]:
                with contextlib.suppress(ConnectionRefusedError):
                    answers[client] = client.recv(100).decode()
    return answers


def balancer(tap, binary, env, example):
    """Three servers, of which one dies, and comes back."""
    options = ["--port", "tap:b0", "--ip", "10.77.0.1/24", "--period", "0"]
    for server in SERVERS:
        options += ["--server", server]
    with example(binary, env, *options) as e, contextlib.ExitStack() as stack:
        netns.wait_carriers(e.process)
        for address in "10.77.0.2", *SERVERS:
            netns.ip(f"address add {address}/24 dev b0")
        netns.wait_up("b0")
        servers = {address: Server(address) for address in SERVERS}
        stack.callback(lambda: [server.stop() for server in servers.values()])
        # Before, a check may have failed, and those who come then stay with the others.
        netns.wait_for(lambda: all(s.checks > 0 for s in servers.values()) and
                       e.said().count("is up") == e.said().count("is down"), "the first checks")
        clients = []
        for _ in range(CLIENTS):
            client = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            client.bind(("10.77.0.2", 0))
            client.connect(("10.77.0.1", 7))
            clients.append(client)

        def until(condition):
            """Asks until the answers are so."""
            answers = ask(clients)
            end = time.monotonic() + 60
            while not condition(answers) and time.monotonic() < end and e.runs():
                answers = ask(clients)
            return answers

        first = until(lambda answers: set(answers.values()) == set(SERVERS))
        shares = {s: list(first.values()).count(s) for s in SERVERS}
        tap.ok(len(first) == CLIENTS and min(shares.values()) >= CLIENTS // 8,
               "balancer: each server has clients", shares)
        tap.ok(ask(clients) == first, "balancer: each client keeps its server")
        dead = SERVERS[1]
        servers.pop(dead).stop()
        second = until(lambda answers: dead not in answers.values())
        tap.ok(len(second) == CLIENTS and dead not in second.values() and
               all(second[c] == first[c] for c in clients if first[c] != dead),
               "balancer: the clients of a dead server move, and no others")
        servers[dead] = Server(dead)
        # Those who come now; the others keep their flows.
        netns.wait_for(lambda: f"{dead} is up" in e.said().rpartition(f"{dead} is down")[2],
                       "the check")
        tap.ok(ask(clients) == second, "balancer: a server that comes back takes no conversation")
        status, _, err = e.stop()
        tap.ok(status == 0 and err.count("is up") == err.count("is down") >= 1,
               "balancer: it says who is up, and its books are right", f"{status} {err}")


def ping_all(example, binary, env, *options):
    """What it prints, its exit status, and the numbers: answered, silent, failed."""
    with example(binary, env, "--port", "tap:q0", "--period", "0", *options) as e:
        netns.wait_carriers(e.process)
        netns.ip("address add 10.77.0.2/24 dev q0")
        netns.wait_up("q0")
        netns.wait_for(lambda: not e.runs(), "its end")
        status, out, err = e.stop()
    found = re.search(r"^\d+ pings in .*: (\d+) answered, (\d+) silent, (\d+) failed$", out, re.M)
    return f"{status} {out} {err}", status, [int(n) for n in found.groups()] if found else [0, 0, 0]


def pinger(tap, binary, env, example):
    """The kernel is the router, and has all addresses of one network, and none of another."""
    netns.ip("link set lo up")
    netns.ip("route add local 10.1.0.0/16 dev lo")
    said, status, numbers = ping_all(example, binary, env)
    tap.ok(status == 0 and sum(numbers) == 10000 and numbers[0] >= 9900,
           "pinger: 10,000 answer", said)
    for line in said.splitlines():
        print("#", line)
    said, status, numbers = ping_all(example, binary, env, "--first", "10.2.0.1", "--count", "3000",
                                     "--deadline", "500ms")
    tap.ok(status == 0 and numbers == [0, 3000, 0], "pinger: 3,000 do not answer in time", said)
