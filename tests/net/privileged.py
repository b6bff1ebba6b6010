# SPDX-License-Identifier: BSD-3-Clause
"""Programs with more privileges than their user (setcap): they run, but load no code and open no
files for the user that the user could not open; with setuid they do not run."""
import os
import re
import shutil
import stat
import struct
import subprocess

import netns

import fwd

USER = 65534
CAPABILITIES = 1 << 1 | 1 << 12 | 1 << 13 | 1 << 14  # DAC_OVERRIDE, NET_ADMIN, NET_RAW, IPC_LOCK
DAC_OVERRIDE = 1 << 1
IDLE = "--port", "null:no-rx=1", "--carriers", "1", "--poller", "sleep"

netns.enter()
if os.geteuid() != 0 or not netns.mount("tmpfs", "/mnt", "mode=755"):
    netns.skip_all("only root can give a program privileges, in a private folder")
tap = netns.Tap()
secret = "/mnt/secret"
os.mkdir("/mnt/root")
os.mkdir("/mnt/user")
os.chown("/mnt/user", USER, USER)
with open(secret, "w") as f:
    f.write("10.0.0.0/8 0\n")
os.chmod(secret, 0o600)


def copy(name):
    shutil.copy(fwd.FWD, f"/mnt/{name}")
    os.chmod(f"/mnt/{name}", 0o755)
    return f"/mnt/{name}"


def with_capabilities(path):
    try:
        os.setxattr(path, "security.capability",
                    struct.pack("<5I", 0x02000001, CAPABILITIES, 0, 0, 0))
    except OSError as e:
        netns.skip_all(f"no capabilities of files here ({e})")
    return path


def run(path, *args):
    done = subprocess.run([path, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, user=USER, group=USER,
                          extra_groups=[], env={"RUNTIME_DIRECTORY": "/mnt/root", "TERM": "dumb"})
    return done, [x for x in done.stderr.splitlines() if ": note: " not in x]


program = with_capabilities(copy("haul-fwd"))
done, lines = run(program, *IDLE, "--duration", "0.1")
tap.ok(done.returncode == 0 and lines == [] and os.listdir("/mnt/root") == [],
       "it runs, and does not use directories of the environment", done)
for args in (["-d", "/mnt/evil.so"], ["-d/mnt/evil.so"], ["-vd", "/mnt/evil.so"], ["--trace=.*"],
             ["--driver-path=/mnt/evil.so"], ["--file-prefix=x"], ["--huge-dir=/mnt/user"],
             ["--vdev=net_pcap0,tx_pcap=/mnt/root/x"], ["--trace-d=/mnt/root"], ["--no-hug"]):
    done, lines = run(program, *IDLE, "--duration", "0.1", "--eal", "--no-huge", "-m", "256", *args)
    tap.ok(done.returncode == 1 and len(lines) == 1 and
           f"'{args[0]}': not for a program that has more privileges" in lines[0],
           f"refused: {' '.join(args)}", done)
done, lines = run(program, *IDLE, "--duration", "0.1", "--eal", "--no-huge", "-m256",
                  "--log-level=lib.eal:error")
tap.ok(done.returncode == 0 and lines == [], "harmless arguments of EAL", done)

for args in (["--capture", "/mnt/root/x"], ["--record-load", "/mnt/root/x"],
             ["--mode", "l3fwd", "--routes", secret], ["--cmdline-file", secret],
             ["--mode", "generate", "--replay", secret]):
    done, lines = run(program, *IDLE, "--duration", "0.1", *args)
    tap.ok(done.returncode in (1, 2) and len(lines) == 1 and "Permission denied" in lines[0] and
           os.listdir("/mnt/root") == [], f"its user may not: {' '.join(args[-2:])}", done)
done, lines = run(program, *IDLE, "--duration", "0.1", "--capture", "/mnt/user/x")
tap.ok(done.returncode == 0 and os.stat("/mnt/user/x").st_uid == USER, "its user may", done)

with subprocess.Popen([program, *IDLE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                      user=USER, group=USER, extra_groups=[]) as running:
    running.stdout.readline()
    with open(f"/proc/{running.pid}/status") as f:
        held = {k: int(v, 16) for k, v in re.findall(r"^(Cap\w+):\s+(\w+)$", f.read(), re.M)}
    running.terminate()
    running.stdout.read()
tap.ok(held["CapEff"] == held["CapPrm"] == CAPABILITIES & ~DAC_OVERRIDE,
       "it has given up the capabilities over files", held)

program = copy("setuid")
os.chmod(program, 0o755 | stat.S_ISUID)
done, lines = run(program, *IDLE, "--duration", "0.1")
tap.ok(done.returncode == 1 and len(lines) == 1 and "not for setuid or setgid" in lines[0],
       "with setuid it does not run", done)
netns.unmount("/mnt")
tap.done()
