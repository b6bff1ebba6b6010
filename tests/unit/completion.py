# SPDX-License-Identifier: BSD-3-Clause
"""Completion in bash: of options, values and port specs, by the function and by the TAB key.

Usage: completion.py COMPLETION-FILE PROGRAM...
"""
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

from tap import Tap

completion, *paths = map(os.path.abspath, sys.argv[1:])
BASH_COMPLETION = "/usr/share/bash-completion/bash_completion"
BREAKS = " \t\n\"'><=;|&(:"  # readline's own COMP_WORDBREAKS
DRIVER = """
. "$1"
COMP_WORDBREAKS=$2 COMP_LINE=$3 COMP_POINT=${#3}
read -ra COMP_WORDS <<<"$3"
_haul_app
[[ ${#COMPREPLY[@]} = 0 ]] || printf '%s\\n' "${COMPREPLY[@]}"
"""
tap = Tap()


def words(line, breaks=BREAKS):
    """What the function offers for a line that ends at the cursor."""
    r = subprocess.run(["bash", "--norc", "-c", DRIVER, "bash", completion, breaks, line],
                       capture_output=True, text=True, env=env)
    tap.ok(r.returncode in (0, 1) and not r.stderr, f"no error: {line}", r.stderr)
    return r.stdout.split("\n")[:-1]


def offers(line, expected, breaks=BREAKS):
    found = words(line, breaks)
    tap.ok(sorted(found) == sorted(expected), line, found)


def test_options():
    for name, text in helps.items():
        options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.M)
        tap.ok(len(options) > 5, f"{name}: has options", options)
        offers(f"{name} ", options)
        offers(f"{name} --json ", options)
        offers(f"{name} --ver", [o for o in options if o.startswith("--ver")])
        for option, choices in re.findall(r"^  (--[\w-]+) ([a-z]+\|[a-z|]+)$", text, re.M):
            offers(f"{name} {option} ", choices.split("|"))
            offers(f"{name} {option}=", choices.split("|"))
            offers(f"{name} --json {option} {choices[:2]}",
                   [c for c in choices.split("|") if c.startswith(choices[:2])])
    offers("haul-fwd --poller ", ["spin", "pause", "block", "adaptive", "sleep"])
    offers("haul-fwd --poller a", ["adaptive"])
    offers("haul-fwd --burst ", [])
    offers("haul-http --wait e", ["epoll"])
    offers("haul-fwd --bogus=", [])
    offers("haul-none ", [])
    offers("haul-doctor --near l", ["lo"])
    tap.ok("lo" in words("haul-doctor --iface "), "interfaces")


def test_ports():
    specs = re.search(r"^Port specs.*?\n\n", helps["haul-fwd"], re.S | re.M)[0]
    kinds = re.findall(r"^  ([\w-]+:)", specs, re.M)
    tap.ok(len(kinds) > 8, "there are kinds of ports", kinds)
    offers("haul-fwd --port ", kinds)
    offers("haul-echo --port=", kinds)
    offers("haul-fwd --port af", ["afxdp:", "afpacket:"])
    for kind in "afxdp", "afpacket":
        tap.ok("lo" in words(f"haul-fwd --port {kind}:"), f"interfaces after {kind}:")
        offers(f"haul-fwd --port {kind}:l", ["lo"])
    tap.ok("lo" not in words("haul-fwd --port tap:"), "only TAPs after tap:")
    offers("haul-fwd --port null:", ["size=", "copy=", "no-rx="])
    offers("haul-fwd --port null:size=64,", ["64,copy=", "64,no-rx="])
    offers("haul-fwd --port memif:role=", ["server", "client"])
    offers("haul-fwd --port memif:role=server,so", ["server,socket="])
    offers("haul-fwd --port ring:", [])
    offers("haul-fwd --port bogus:", [])
    # readline set up to end words at blanks only
    offers("haul-fwd --port afxdp:l", ["afxdp:lo"], " \t\n")
    offers("haul-fwd --port=afxdp:l", ["--port=afxdp:lo"], " \t\n")


def test_files(directory):
    for name in "one.pcap", "one two.pcap":
        with open(os.path.join(directory, name), "w"):
            pass
    os.mkdir(os.path.join(directory, "sub"))
    d = directory + "/"
    offers(f"haul-fwd --port pcap:rx={d}o", [d + "one.pcap", d + "one\\ two.pcap"])
    offers(f"haul-fwd --port pcap:rx={d}one.pcap,tx={d}s", [d + "sub/"])
    offers(f"haul-fwd --port vhost:{d}s", [d + "sub/"])
    offers(f"haul-doctor --machine {d}s", [d + "sub/"])


def typed(keys, before):
    """The line of an interactive bash after keys, by a comment that shows the line as typed."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"],
                   {**env, "PS1": "$ ", "TERM": "dumb", "HISTFILE": "", "INPUTRC": "/dev/null"})
    os.write(fd, f"{before}\nbind 'set bell-style none'; printf %s%s rea dy\n".encode())
    read_until(fd, "ready")
    os.write(fd, keys.encode() + b"\x01echo \x05 li''ne\n")
    shown = read_until(fd, "line\r\n")
    os.write(fd, b"exit\n")
    os.close(fd)
    os.waitpid(pid, 0)
    return shown.split("\r\n")[-2].removesuffix(" line")


def read_until(fd, end, seconds=60):
    shown, until = "", time.monotonic() + seconds
    while end not in shown and time.monotonic() < until:
        if select.select([fd], [], [], 0.1)[0]:  # a look
            shown += os.read(fd, 4096).decode(errors="replace")
    return shown


def test_tab(directory):
    plain = f". '{completion}'"
    for keys, line in (("haul-fwd --handler co\t", "haul-fwd --handler coroutine"),
                       ("haul-fwd --port=afx\tlo,sta\t7", "haul-fwd --port=afxdp:lo,start_queue=7"),
                       ("haul-doctor --near l\t", "haul-doctor --near lo")):
        found = typed(keys, plain)
        tap.ok(found == line, f"TAB: {line}", found)
    if not os.path.exists(BASH_COMPLETION):
        return tap.skip("bash-completion", "the package is not installed")
    # it finds the file by the program's name
    folder = os.path.join(directory, "bash-completion", "completions")
    os.makedirs(folder)
    os.symlink(completion, os.path.join(folder, "haul-fwd"))
    found = typed("haul-fwd --port afpacket:l\t--mode=macs\t",
                  f"export XDG_DATA_DIRS={directory}; . {BASH_COMPLETION}")
    tap.ok(found == "haul-fwd --port afpacket:lo --mode=macswap", "with bash-completion", found)
    found = typed("mine --handler b\t",
                  f"ln -s {paths[0]} {directory}/mine; PATH+=:{directory}; {plain}; "
                  "complete -F _haul_app mine")
    tap.ok(found == "mine --handler burst", "a program of one's own, by one line", found)


env = {**os.environ, "LC_ALL": "C.UTF-8",
       "PATH": ":".join([*dict.fromkeys(map(os.path.dirname, paths)), os.environ["PATH"]])}
helps = {os.path.basename(p): subprocess.run([p, "--help"], capture_output=True, text=True).stdout
         for p in paths}
with tempfile.TemporaryDirectory() as temporary:
    test_options()
    test_ports()
    test_files(temporary)
    test_tab(temporary)
tap.done()
