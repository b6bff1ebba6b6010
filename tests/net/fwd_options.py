# SPDX-License-Identifier: BSD-3-Clause
"""Each option has an effect in the mode that is given, or is refused with what it needs; in each
mode, with and without a prompt, which may change the mode. No port opens: its spec is wrong, which
is found after the options."""
import concurrent.futures
import itertools
import os
import random
import re

import netns

import fwd

MODES = ("io", "mac", "macswap", "5tswap", "csum", "icmpecho", "l3fwd", "rxonly", "noisy",
         "flowgen", "txonly", "generate")
ALL = set(MODES)
PORT = ["--port", "nul:"]
TX_FIRST = ["--tx-first", "1"]
PROMPTS = [["-i"], ["--control", "/nonexistent/c"], ["--cmdline-file", "/nonexistent/f"]]

# An option with a value; the modes in which it has an effect; the arguments without which it has
# none in any mode, and which may have none themselves; those with which it has one in each mode but
# generate.
HERE, NEVER = [], None
SENDS = {"txonly"}
OPTIONS = [
    ("--eth-peer=0,02:00:00:00:00:01", {"mac", "csum", "l3fwd", "flowgen", "generate"} | SENDS,
     HERE, TX_FIRST),
    ("--size=100", {"flowgen"} | SENDS, HERE, TX_FIRST),
    *((option, {"generate"} | SENDS, HERE, TX_FIRST)
      for option in ("--flows=2", "--tx-ip=10.0.0.1,10.0.0.2", "--tx-udp=1,2")),
    *((option, ALL - {"generate"}, HERE, NEVER) for option in (
        "--tx-first=1", "--portlist=0", "--portmask=1", "--nb-ports=1")),
    *((option, {"generate"}, HERE, NEVER) for option in (
        "--ip=6", "--l4=tcp", "--vlan=7", "--rate=1k", "--arrivals=poisson", "--sizes=64",
        "--seed=7", "--closed-loop=1", "--replay=x", "--drain=1s")),
    *((option, ALL, ["--replay", "x"], NEVER) for option in (
        "--replay-speed=2", "--loops=2")),
    *((option, ALL - SENDS, HERE, ["--handler", "coroutine"]) for option in (
        "--service=1us", "--service-memory=64")),
    ("--service-sleep", ALL, ["--service", "1us", "--handler", "coroutine"], NEVER),
    ("--service-table=1", ALL, ["--service-memory", "64"], NEVER),
    ("--csum-keep-macs", {"csum"}, HERE, NEVER),
    ("--routes=x", {"l3fwd"}, HERE, NEVER),
    *((option, {"noisy"}, HERE, NEVER) for option in (
        "--noisy-tx-sw-buffer-size=9", "--noisy-lkup-num-reads=1", "--noisy-lkup-num-writes=1",
        "--noisy-lkup-num-reads-writes=1")),
    ("--noisy-tx-sw-buffer-flushtime=1", {"noisy"}, ["--noisy-tx-sw-buffer-size=9"], NEVER),
    ("--noisy-lkup-memory=1", {"noisy"}, ["--noisy-lkup-num-reads=1"], NEVER),
    *((option, {"flowgen"}, HERE, NEVER) for option in ("--flowgen-flows=2", "--flowgen-clones=2")),
    *((option, {"txonly"}, HERE, NEVER) for option in ("--txpkts=64", "--txonly-multi-flow")),
    *((option, ALL, ["--capture", "x"], NEVER) for option in (
        "--capture-filter=ip", "--capture-ports=0", "--capture-direction=rx",
        "--capture-snaplen=64", "--capture-rotate=1M", "--capture-buffer=1")),
    ("--capture-files=2", ALL, ["--capture", "x", "--capture-rotate", "1M"], NEVER),
    *((option, ALL, ["--trace", "x"], NEVER) for option in (
        "--trace-events=2048", "--trace-slice=1ms", "--trace-gap=1ms", "--trace-drops")),
    ("--auto-start", ALL, ["--interactive"], NEVER),
    ("--disable-device-start", ALL, ["--interactive"], NEVER),
    *((option, ALL, ["--interactive"], NEVER) for option in (
        "--record-core-cycles", "--record-burst-stats", "--display-xstats=x",
        "--flow-isolate-all")),
    ("--order=any", ALL, ["--steal", "cluster"], NEVER),
    ("--rescue=200us", ALL, ["--steal", "cluster"], NEVER),
    ("--hang-after=2s", ALL, ["--on-health", "/bin/true"], NEVER),
    ("--packet-rate=1000", ALL, ["--poller", "sleep"], NEVER),
    *((option, ALL, HERE, NEVER) for option in (
        "--smt", "--period=2", "--screen=off", "--rss-key=00")),
    ("--spread=all", ALL - SENDS - {"flowgen", "generate"}, HERE, NEVER),
    ("--port-topology=loop", {"io", "mac", "macswap", "5tswap", "csum", "noisy"}, HERE, NEVER),
]
# Those with an effect where there is a prompt of any kind.
WITH_PROMPT = {"--record-core-cycles", "--record-burst-stats", "--display-xstats",
               "--flow-isolate-all"}
# Those of the start: a prompt that changes the mode does not bring them back.
ONCE = {"--spread"}
# Those that a prompt on the terminal leaves without effect.
ALONE = {"--period", "--screen", "--tx-first"}


def needs(shown):
    """What --help says that each option needs."""
    texts = re.split(r"^  (?:-\w, )?(--[\w-]+)", shown.partition("Port specs")[0], flags=re.M)
    texts = dict(zip(texts[1::2], (" ".join(t.split()) for t in texts[2::2])))
    found = {name: re.search(r"; needs (.*?)(?: \(default: .*)?$", t) for name, t in texts.items()}
    return {name: m[1] for name, m in found.items() if m}


def has_effect(option, modes, with_, or_with, mode, more, prompt):
    """By the table; more: the arguments beside; prompt: those of a prompt."""
    name = option.partition("=")[0]
    if prompt == ["-i"] and name in ALONE:
        return False
    if not set(with_) <= set(more):
        # what commands may bring
        return bool(prompt) and (
            with_[:2] == ["--capture", "x"] and option != "--capture-files=2" or
            option == "--service-sleep" and "--service" in more or name == "--packet-rate" or
            name in WITH_PROMPT)
    changes = prompt and mode != "generate" and name not in ONCE
    reached = ALL - {"generate"} if changes else {mode}
    return bool(modes & reached) or mode != "generate" and or_with is not NEVER and \
        set(or_with) <= set(more)


def check(case):
    """The arguments, and the result if it is wrong."""
    option, more, wanted = case
    name = option.partition("=")[0]
    # first, so that it is the one that is refused
    r = fwd.run(*PORT, option, *more, seconds=60)
    refused = r.err == f"haul-fwd: {name} has no effect here: it needs {NEEDS.get(name)} " \
        "(see haul-fwd --help)\n"
    other = "no such kind of port" in r.err or \
        " has no effect here: it needs " in r.err and f" {name} has" not in r.err
    right = r.rc == 2 and not r.out and r.err.count("\n") == 1 and \
        (other if wanted else refused)
    return " ".join([*more, option]), None if right else r


def cases():
    for (option, modes, with_, or_with), mode in itertools.product(OPTIONS, MODES):
        for more in [with_, *([[]] if with_ else []), *([with_ + or_with] if or_with else []),
                     *([with_[:2]] if len(with_) > 2 else [])]:
            first = option in ("--auto-start", "--disable-device-start")  # which is for one of them
            for prompt in [[], *random.sample(PROMPTS[first:], random.randrange(2))]:
                # A short run has each option in each mode, and some of the arguments beside it.
                if netns.fewer() and (more != with_ or prompt) and random.random() < 0.75:
                    continue
                yield (option, ["--mode", mode, *prompt, *more],
                       has_effect(option, modes, with_, or_with, mode, more, prompt))
    frames = ("--sizes=64", "--ip=6", "--l4=tcp", "--vlan=7", "--flows=2",
              "--tx-ip=10.0.0.1,10.0.0.2", "--tx-udp=1,2")
    yield from ((option, ["--mode", "generate", "--replay", "x"], False) for option in frames)
    for source, wanted in ((["--replay", "x"], False), (["--closed-loop", "1"], False),
                           (["--replay", "x", "--rate", "1k"], True),
                           (["--replay", "x", "-i"], True)):
        yield "--arrivals=poisson", ["--mode", "generate", *source], wanted
    segments = ["--mode", "txonly", "--txpkts", "64"]
    for more, wanted in (([], False), (TX_FIRST, True), (["-i"], True)):
        yield "--size=100", [*segments, *more], wanted
    flushes = ["--mode", "noisy", "--noisy-tx-sw-buffer-size", "9",
               "--noisy-tx-sw-buffer-flushtime", "1"]
    for more, wanted in ((flushes, False), (["--mode", "txonly", "--handler", "coroutine"], True),
                         (["--mode", "generate", "--rate", "0"], True),
                         (["--mode", "generate", "--rate", "1"], False)):
        yield "--spread=all", more, wanted
    yield "--smt", ["--carriers", "1"], False
    yield "--tx-first=1", ["-i", "-a"], True
    yield "--rss-key=00", ["--disable-rss"], False
    yield "--rss-key=00", ["--disable-rss", "-i"], True
    yield from (("--packet-rate=9", ["--poller", poller], wanted) for poller, wanted in (
        ("spin", False), ("pause", False), ("block", True), ("adaptive:5", True)))


netns.enter()
tap = netns.Tap()
seed = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
print(f"# seed {seed} (HAUL_SEED)")
random.seed(seed)
NEEDS = needs(fwd.run("--help").out)
tap.ok({o.partition("=")[0] for o, *_ in OPTIONS} == set(NEEDS), "--help says what options need",
       NEEDS)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(check, cases()))
for option in sorted(NEEDS):
    mine = [(args, r) for args, r in results if re.search(rf"{option}(=|$)", args)]
    wrong = [f"{args}\n{r}" for args, r in mine if r]
    tap.ok(len(mine) >= len(MODES) and not wrong, f"{option}: in each mode", "\n".join(wrong[:3]))
tap.done()
