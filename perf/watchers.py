# SPDX-License-Identifier: BSD-3-Clause
"""Those who look at a program while it is measured: haul-top, and a scrape each second."""

import contextlib
import os
import socket
import subprocess
import threading
import urllib.error
import urllib.request

import forwarders as fwd


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def scrape(port, stopped, answers):
    while not stopped.wait(1):  # as Prometheus would
        with contextlib.suppress(urllib.error.URLError), \
                urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            answers.append(len(answer.read()))


@contextlib.contextmanager
def watched(program, haul_top, port):
    """haul-top with its default interval, and scrapes; fails if either got no figures."""
    top = subprocess.Popen([haul_top, "--pid", str(program.process.pid), "--record", os.devnull],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    stopped, answers = threading.Event(), []
    scraper = threading.Thread(target=scrape, args=(port, stopped, answers))
    scraper.start()
    try:
        yield
        if top.poll() is not None or not answers:
            raise fwd.Failed(f"{len(answers)} scrapes; haul-top: "
                             + (top.stderr.read() if top.poll() is not None else "attached"))
    finally:
        stopped.set()
        scraper.join()
        top.terminate()
        top.communicate()
