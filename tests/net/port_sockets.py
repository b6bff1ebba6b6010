# SPDX-License-Identifier: BSD-3-Clause
"""Ports to another process, or to another port, over a Unix socket: memif, vhost, virtio-user.

Usage: port_sockets.py PROBE
"""
import os
import socket
import stat
import sys
import tempfile

import netns
import tap
from probe import Error, Probe, frame, refused

t = tap.Tap()


def reaches(a, b, q):
    """True if a frame came from a to b. memif's client gives its server buffers when it polls."""
    b.count(1, 0.01)
    return a.send(frame(7), q) == 1 and b.count(1, 0.2)[0] > 0


def exchange(a, b, q=0):
    """A frame each way. Either end may need time until the other one's queue is ready."""
    netns.wait_for(lambda: reaches(a, b, q), "a frame to b")
    netns.wait_for(lambda: reaches(b, a, q), "a frame to a")
    b.count(100, 0.02)
    a.send(frame(1), q)
    there = b.recv()
    a.count(100, 0.02)
    b.send(frame(2), q)
    return there == [(frame(1), q)] and a.recv() == [(frame(2), q)]


def vhost(probe, path):
    v = probe.open(f"vhost:{path}", 2)
    t.ok(v.queues == 1 and "add queues=2" in v.notice and "1 queue for 2" in v.notice,
         "vhost: one queue unless both sides have more", v.notice)
    u = probe.open(f"virtio-user:{path}")
    v.start(), u.start()
    t.ok(exchange(v, u), "vhost and virtio-user: frames go both ways")
    e = refused(probe, f"vhost:{path}")
    t.ok(f"port 'vhost:{path}' of this program is on {path} already" in e.line,
         "vhost: a path that is taken here", e)
    other = Probe(sys.argv[1])
    e = refused(other, f"vhost:{path}")
    t.ok("another program listens on" in e.line, "vhost: a path that is taken elsewhere", e)
    other.quit()
    u.close(), v.close()
    t.ok(not os.path.exists(path), "vhost: the socket is gone")
    t.ok(probe.is_whole(), "vhost and virtio-user: the pool is whole", probe.pool())


def two_queues(probe, path):
    v = probe.open(f"vhost:{path},queues=2", 2)
    u = probe.open(f"virtio-user:{path},queues=2", 2)
    t.ok(v.queues == u.queues == 2 and v.notice == u.notice == "", "vhost: two queues if said so")
    v.start(), u.start()
    t.ok(exchange(v, u, 0) and exchange(v, u, 1), "vhost: frames on both queues")
    # in the other order: the guest's end finds no peer, and SIGPIPE does not end the program
    v.close()
    u.send(frame(), n=10)
    u.close()
    t.ok(probe.is_whole(), "vhost: closed before virtio-user", probe.pool())


def again_and_again(path):
    """Callbacks of the PMD's must have been unregistered, or EAL's interrupt thread crashes."""
    probe = Probe(sys.argv[1])
    v = probe.open(f"vhost:{path}").start()
    for starts in True, False:
        for _ in range(20):
            u = probe.open(f"virtio-user:{path}")
            if starts:
                u.start()
            u.close()
        t.ok(True, f"virtio-user: opened, {'started, ' * starts}closed 20 times")
    v.close()
    t.ok(probe.quit() == 0, "virtio-user: and the program ends well")


def left_behind(probe, path):
    """A stale socket, as a crashed program leaves it."""
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
    v = probe.open(f"vhost:{path}")
    t.ok(True, "vhost: a socket left behind is no obstacle")
    v.close()


def memif(probe, program, path):
    s = probe.open(f"memif:role=server,socket={path}", 2)
    t.ok(s.queues == 1 and "add queues=2" in s.notice, "memif: one queue", s.notice)
    s.start()
    other = Probe(program)
    c = other.open(f"memif:role=client,socket={path},rsize=9").start()
    t.ok(exchange(c, s), "memif: frames go both ways between two processes")
    other.kill()
    s.send(frame(), n=3)
    other = Probe(program)
    c = other.open(f"memif:role=client,socket={path}").start()
    t.ok(exchange(c, s), "memif: the other side may crash and come again")
    third = Probe(program)
    e = refused(third, f"memif:role=server,socket={path}")
    t.ok("another program listens on" in e.line, "memif: a socket that is taken", e)
    third.quit()
    s.close()
    t.ok(probe.is_whole(), "memif: the server's pool is whole", probe.pool())
    c.close()
    t.ok(other.is_whole() and other.quit() == 0, "memif: the client's pool is whole")


def memif_queues(probe, path):
    s = probe.open(f"memif:role=server,socket={path},id=3,queues=2", 2).start()
    other = probe.open(f"memif:role=server,socket={path},id=4", 1).start()
    c = probe.open(f"memif:role=client,socket={path},id=3,queues=2", 2).start()
    t.ok(exchange(c, s, 0) and exchange(c, s, 1), "memif: two queues if said so")
    t.ok(other.count(1, 0.05)[0] == 0, "memif: ids share a socket")
    for twice in f"server,socket={path},id=4", f"client,socket={path},id=3":
        e = refused(probe, f"memif:role={twice}")
        t.ok("is that end of the link already; choose another id=N" in e.line,
             f"memif: an id twice, {twice[:6]}", e)
    e = refused(probe, f"memif:role=server,socket={path}x,queues=3", 2)
    t.ok("queues=3 for 2 carriers" in e.line, "memif: more queues than carriers", e)
    lone = probe.open(f"memif:role=client,socket={path}x")
    try:
        lone.start()
    except Error as e:
        t.ok("no server listens on" in e.line, "memif: a client without a server", e)
    after = probe.open(f"memif:role=server,socket={path}x").start()
    lone.start()
    t.ok(exchange(lone, after), "memif: a server after its own client")
    for port in after, lone, c, other, s:
        port.close()
    t.ok(probe.is_whole(), "memif: the pool is whole after two queues", probe.pool())


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def listening(probe, form, directory):
    """Permission to connect, and ownership of the path."""
    path = os.path.join(directory, "a")
    form, kind = form.replace("PATH", path), form.partition(":")[0]
    for more, mode in ("", 0o600), (",mode=0660", 0o660), (",mode=777", 0o777):
        port = probe.open(form + more)
        t.ok(mode_of(path) == mode, f"{kind}: a socket of mode {mode:o}", oct(mode_of(path)))
        t.ok(os.listdir(directory) == ["a"], f"{kind}: and nothing else", os.listdir(directory))
        port.close()
        t.ok(os.listdir(directory) == [], f"{kind}: the socket goes", os.listdir(directory))
    for wrong in "0880", "01777", "-1", "rw", "0600x":
        e = refused(probe, f"{form},mode={wrong}")
        t.ok(f"mode={wrong} is no mode like 0660" in e.line, f"{kind}: mode={wrong}", e)
    # Another process moved the socket away and put a file of its own there.
    for make in os.mkdir, lambda p: open(p, "w").close(), lambda p: os.symlink("/none", p):
        port = probe.open(form)
        os.rename(path, path + "x")
        make(path)
        port.close()
        left = sorted(os.listdir(directory))
        t.ok(left == ["a", "ax"], f"{kind}: what is not its own stays", left)
        e = refused(probe, form)
        t.ok("exists and is no socket" in e.line, f"{kind}: and is in the way", e)
        os.unlink(path + "x")
        os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
    t.ok(os.listdir(directory) == [], f"{kind}: nothing is left", os.listdir(directory))


os.umask(0)  # the probe's umask has it too, and must not matter
probe = Probe(sys.argv[1])
with tempfile.TemporaryDirectory() as d:
    vhost(probe, os.path.join(d, "v"))
    two_queues(probe, os.path.join(d, "v2"))
    again_and_again(os.path.join(d, "v4"))
    left_behind(probe, os.path.join(d, "v3"))
    memif(probe, sys.argv[1], os.path.join(d, "m"))
    memif_queues(probe, os.path.join(d, "m2"))
    for form in "vhost:PATH", "memif:role=server,socket=PATH":
        with tempfile.TemporaryDirectory() as empty:
            listening(probe, form, empty)
    for form in f"vhost:{d}/n,client=1", f"memif:role=client,socket={d}/n":
        e = refused(probe, f"{form},mode=0600")
        t.ok("mode= is for the side that makes the socket" in e.line, f"{form[:5]}: no mode", e)
t.ok(probe.quit() == 0, "EAL ends")
t.done()
