# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-dumpcap beside haul-fwd: it captures where another process can attach, which takes huge
pages with names, and says that it cannot elsewhere; --capture works in both."""
import os
import shutil
import subprocess
import tempfile

import fwd
import netns
import pcapng

MEMORY = 256  # MB

netns.enter()
tap = netns.Tap()


def hugepages():
    """True if there are enough free ones, in a file system."""
    free = size = 0
    with open("/proc/meminfo") as f:
        for line in f:
            if line.startswith("HugePages_Free:"):
                free = int(line.split()[1])
            if line.startswith("Hugepagesize:"):
                size = int(line.split()[1]) // 1024
    with open("/proc/mounts") as f:
        return free * size >= MEMORY + 64 and any(" hugetlbfs " in line for line in f)


def dumpcap(prefix, path):
    return subprocess.run(["dpdk-dumpcap", f"--file-prefix={prefix}", "-i", "0", "-c", "100", "-w",
                           path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)


def attach(*eal):
    """What dpdk-dumpcap does while haul-fwd forwards, and the results of both."""
    prefix = f"haul-test-{os.getpid()}"
    with tempfile.TemporaryDirectory() as d:
        path, own = os.path.join(d, "theirs"), os.path.join(d, "own")
        with fwd.Running("--port", "ring:", "--carriers", 1, "--tx-first", 1, "--capture", own,
                         "--eal", f"--file-prefix={prefix}", "-m", MEMORY, *eal) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            theirs = dumpcap(prefix, path)
            r = haul.end()
        frames = pcapng.summary(path) if theirs.returncode == 0 else None
        return theirs, frames, r


if not shutil.which("dpdk-dumpcap"):
    netns.skip_all("dpdk-dumpcap is not installed (Debian: dpdk)")
done, _, haul = attach("--no-huge")
tap.ok(done.returncode != 0 and "rimary process" in done.stdout,
       "without huge pages: dpdk-dumpcap cannot attach", done.stdout)
tap.ok(haul.rc == 0 and haul.json and haul.json["capture"]["captured"] > 0,
       "without huge pages: --capture captures", haul)
if hugepages():
    done, frames, haul = attach()
    tap.ok(done.returncode == 0 and frames and frames.frames >= 100,
           "with huge pages: dpdk-dumpcap captures", f"{done.stdout} {haul}")
    tap.ok(haul.rc == 0 and haul.json, "with huge pages: the end", haul)
else:
    tap.skip("with huge pages: dpdk-dumpcap captures",
             f"fewer than {MEMORY + 64} MB of huge pages are free in a mounted hugetlbfs")
tap.done()
