# SPDX-License-Identifier: BSD-3-Clause
"""What is measured, one part after the other: the link with its ends, the highest rate, idle
pollers, runs under load, steps, neighbours."""
import os
import time

from . import cost, links, load, machine, maximum, neighbour, plan, program, run, steps, subject
from .generator import Generator
from .options import ADAPTIVE_US, KINDS, SLEEP_US
from .program import Failed

TRIAL_SECONDS = 0.25
FIRST_PACKETS_SECONDS = 10  # until packets come back
DEAF_SECONDS, DEAF_PPS = 2, 100  # without a packet; slowly, so that each finds the poller asleep
NEIGHBOUR_LOADS = 0.0, 0.1, 0.5
NEIGHBOUR_RUNS, STEP_RUNS, IDLE_RUNS = 5, 3, 5
NEIGHBOUR_SECONDS, IDLE_SECONDS = 0.2, 0.3
NEIGHBOUR_OVERHEAD, STEP_OVERHEAD = 0.25, 0.35
SILENT_MOST = 5  # runs one after the other without any packet
DISTURBED_OFTEN = 8  # runs one after the other: then it is said
DISTURBED_ALL = 20  # first runs: then there is nothing to wait for


class Disturbed(Failed):
    """No run was undisturbed, so no figure is worth a report."""


def default_pollers():
    found = ["spin"]
    if "waitpkg" in (machine.field("/proc/cpuinfo", "flags") or "").split():
        found.append("pause")
    found += [f"adaptive:{us}" for us in ADAPTIVE_US] + [f"sleep:{SLEEP_US}", "block"]
    return found + ["kernel-epoll", "dpdk-interrupt"]


def apart(rates):
    """Rates that differ by a fifth at least, the highest among them."""
    found = []
    for pps in sorted(rates, reverse=True):
        if not found or pps * 1.2 < found[-1]:
            found.append(pps)
    return found[::-1]


def own_kind(options, refused):
    """The kind of link to make. refused: why there is no private network, or None."""
    if refused and options.link not in (None, "memif"):
        raise Failed(f"--link {options.link}: this user may not make a network namespace "
                     f"({refused}): run it as root, or give --link memif")
    if options.link == "tap" and links.tun_opens():
        raise Failed(f"--link tap: {links.tun_opens()}; give --link veth")
    if options.link == "afxdp" and not links.is_root():
        raise Failed("--link afxdp: the kernel lets only root use AF_XDP: run it as root, or give "
                     "--link veth")
    if options.link or refused:
        return options.link or "memif"
    return "veth" if links.tun_opens() else "tap"


class Session:
    def __init__(self, options, folders, report, progress, scratch):
        self.options, self.folders = options, folders
        self.report, self.progress, self.scratch = report, progress, scratch
        self.sides = []
        self.by_poller = {}
        self.neighbours = []
        self.ends = []  # what to end, the last one first
        self.began = time.monotonic()
        self.disturbed_in_row = self.silent_in_row = 0
        self.made = self.undisturbed = 0  # runs
        self.cpus = self.shared = self.others = self.watch = None  # choose_cpus()
        self.proven = set()  # sides over which packets came back
        self.checkpoint = lambda: None

    # The link and its ends.

    def program(self, name):
        found = program.find(name, self.folders)
        if not found:
            raise Failed(f"{name}: not found: build haul (ninja -C build), or give --programs")
        return found

    def choose_cpus(self):
        allowed = program.CPUS
        self.cpus = tuple(self.options.cpus or machine.choose(allowed))
        for cpu in self.cpus:
            if cpu not in allowed:
                raise Failed(f"--cpus: this process may not use CPU {cpu}; it may use "
                             f"{', '.join(map(str, sorted(allowed)))}")
        self.shared = self.cpus[0] == self.cpus[1]
        self.watch = run.Watch(self.cpus, self.pids, self.ended_ns)
        self.others = set(allowed) - set(self.cpus)
        if self.others:
            os.sched_setaffinity(0, self.others)
        if self.shared:
            self.say(f"Generator and pollers share CPU {self.cpus[0]}, the only one: latencies "
                     "contain the time until the other gives it up. Two CPUs tell more.")
        elif self.cpus[0] in machine.siblings(self.cpus[1]):
            self.say("Generator and pollers are on two halves of one core, and slow each other "
                     "down: there is no second core.")

    def say(self, line):
        self.report.note(line)
        self.progress.say(f"haul-compare: {line}")

    def move_main_thread(self, pid):
        """Moves the main thread of a process to CPUs that are not measured, if there are any."""
        if self.others:
            os.sched_setaffinity(pid, self.others)

    def pids(self):
        return [p.pid for side in self.sides for p in (side.generator, side.subject) if p.pid]

    def ended_ns(self):
        return sum(part.spent_ns for part in
                   [side.subject for side in self.sides] + self.neighbours)

    def read_load(self):
        """Reads the recorded load, which replaces options."""
        options = self.options
        if not options.load:
            return
        try:
            found = load.read(options.load)
        except load.LoadError as e:
            raise Failed(str(e)) from None
        rates = [found.rate_at(share) for share in (0.1, 0.5, 0.9)]
        rates += [found.mean_pps, found.peak_pps]
        options.loads = apart(pps for pps in rates if pps > 1) or [10.0]
        options.arrivals = [found.arrivals()]
        options.sizes = ",".join(map(str, found.size_list()))
        options.flows = found.flows
        self.say(f"{options.load}: {found.describe()}")

    def open(self, refused):
        """refused: why there is no private network; None: there is one."""
        options = self.options
        self.choose_cpus()
        self.read_load()
        work = {"mode": "macswap", "handler": options.handler, "service": options.service,
                "sizes": options.sizes, "flows": options.flows}
        fwd = self.program("haul-fwd")
        self.progress.now("making the link")
        if options.port:
            link = links.given(options.port)
        else:
            link = links.make(own_kind(options, refused), "hc", self.scratch)
        # Before the measured programs start, which spin.
        self.look_for_others()
        asked = options.pollers or default_pollers()
        haul = subject.Haul(fwd, link.subject, self.cpus[1], work, link.kind,
                            bool(options.port) and any(map(subject.waits, asked)), self.scratch)
        self.ends.append(haul)
        self.move_main_thread(haul.pid)
        link.ready()
        side = self.add_side(fwd, "haul", link, haul, work)
        self.report.body.update({
            "link": {"kind": link.kind, "generator": link.generator, "subject": link.subject,
                     "cpus": {"generator": self.cpus[0], "subject": self.cpus[1]},
                     "user": "root" if links.is_root() else "ordinary"},
            "work": {**work, "service": work["service"] or "none",
                     "sizes": work["sizes"] or "shortest"}})
        for poller in plan.sort_pollers(asked):
            if poller.partition(":")[0] in KINDS:
                why = haul.lacks(poller)
                if not why:
                    self.by_poller[poller] = side
            else:
                why = self.add_peer(poller, link.kind, fwd, work, not refused)
            if why:
                self.say(f"without {poller}: {why}")
        if not self.by_poller:
            raise Failed("none of the pollers works on this link")
        haul.rest()

    def add_side(self, fwd, name, link, measured, work):
        generator = Generator(fwd, name, link.generator, self.cpus[0], work, self.options.seed,
                              self.scratch, link.generator_more)
        self.ends.append(generator)
        self.move_main_thread(generator.pid)
        side = run.Side(generator, measured, self.watch, self.shared)
        self.sides.append(side)
        return side

    def add_peer(self, name, kind, fwd, work, is_private):
        """Returns why there is none, or None."""
        if self.options.port or not is_private:
            return "it needs a link that haul-compare makes in a network of its own"
        if name == "dpdk-interrupt" and kind != "tap":
            return f"DPDK's driver has no receive interrupts on {kind}"
        path = program.find(name, self.folders)
        if not path:
            return f"the program {name} is not installed"
        try:
            if name == "kernel-epoll":
                link = links.make_for_sockets("hk")
                peer = subject.Epoll(path, link, self.cpus[1], work, self.scratch)
            else:
                link = links.make("tap", "hi", self.scratch)
                peer = subject.Interrupt(path, link, self.cpus[1], work, self.scratch)
            self.ends.append(peer)
            link.ready()
            self.by_poller[name] = self.add_side(fwd, name, link, peer, work)
        except Failed as e:
            return str(e)
        return None

    def close(self):
        while self.ends:
            self.ends.pop().end()

    # The machine.

    def look_for_others(self):
        """Says which other programs use our CPUs already."""
        for cpu in sorted(set(self.cpus)):
            found = cost.busiest(cpu, {os.getpid()})
            if found:
                name, pid, share = found
                line = f"{name} (process {pid}) takes {share:.0%} of CPU {cpu}"
                self.report.disturbed(line, "before the first run")
                self.say(f"{line}: runs that it disturbs are made again, and what they leave "
                         "open is marked as undecided. Better end it.")

    # The parts.

    def left(self):
        return self.began + self.options.minutes * 60 - time.monotonic()

    def select(self, poller):
        """Returns the side of a poller; the other sides leave the CPU."""
        side = self.by_poller[poller]
        for other in self.sides:
            if other is not side:
                other.subject.rest()
        return side

    def wait_for_packets(self):
        """A link may take a moment until packets pass it."""
        for poller, side in self.by_poller.items():
            if side in self.proven:
                continue
            self.select(poller)
            end = time.monotonic() + FIRST_PACKETS_SECONDS
            while not side.run(poller, 1000, "constant", 0.05)["received"]:
                if time.monotonic() > end:
                    raise Failed(
                        f"no packet comes back over {side.generator.fwd.what}'s link in "
                        f"{FIRST_PACKETS_SECONDS} s: is it up, and are the ends connected?")
            self.proven.add(side)
        if self.options.port:
            self.leave_out_deaf()

    def leave_out_deaf(self):
        """A NIC whose PMD gives no interrupts never wakes a poller that waits for one, which haul
        cannot detect."""
        for poller in [name for name in self.by_poller if subject.waits(name)]:
            side, end = self.select(poller), time.monotonic() + DEAF_SECONDS
            while not side.run(poller, DEAF_PPS, "constant", 0.1)["received"]:
                if time.monotonic() > end:
                    del self.by_poller[poller]
                    self.say(f"without {poller}: no packet wakes it: this NIC gives no receive "
                             "interrupts")
                    break
        if not self.by_poller:
            raise Failed("none of the pollers works on this link")

    def measure(self):
        total = self.options.minutes * 60
        self.progress.now("waiting for the first packets")
        self.wait_for_packets()
        first = "spin" if "spin" in self.by_poller else next(iter(self.by_poller))
        tell = self.progress.now
        found = maximum.find(self.select(first), first, self.options.arrivals[0],
                             min(TRIAL_SECONDS, max(total / 800, 0.1)),
                             lambda text: tell(text, again=True),
                             time.monotonic() + total * plan.SHARE_MAXIMUM)
        self.report.body["maximum"] = found
        if not found["pps"]:
            raise Failed(f"packets are lost at any rate with {first}: haul-doctor may tell why")
        tell(f"highest rate without loss: {found['pps']:,.0f} packets/s ({first})")
        self.measure_idle(total * plan.SHARE_IDLE)
        self.measure_loads(found["pps"], total)
        self.check_undisturbed()
        self.measure_steps(found["pps"], total * plan.SHARE_STEPS)
        self.measure_neighbours(found["pps"], total * plan.SHARE_NEIGHBOURS)

    def times(self, pieces, each, most, budget):
        """How many times so many pieces fit; 0: not even once."""
        return min(most, int(budget / (pieces * each)))

    def measure_idle(self, budget):
        times = max(self.times(len(self.by_poller), IDLE_SECONDS + 0.1, IDLE_RUNS, budget), 1)
        found = {poller: [] for poller in self.by_poller}
        for number in range(times):
            for poller in list(found)[::-1 if number % 2 else 1]:
                self.progress.now(f"idle: {poller}", again=number > 0)
                found[poller].append(self.select(poller).measure_idle(poller, IDLE_SECONDS))
        for poller, runs in found.items():
            clean = [r for r in runs if not r["disturbed"]] or runs
            entry = {"poller": poller, "disturbed": sum(bool(r["disturbed"]) for r in runs),
                     "runs": runs}
            for name in "cpu_share", "wakeups_ps", "switches_ps", "energy_w":
                values = sorted(r[name] for r in clean if r[name] is not None)
                entry[name] = values[len(values) // 2] if values else None
            entry["share"] = clean[0]["share"]
            self.report.parts["idle"].append(entry)

    def measure_loads(self, pps, total):
        end = time.monotonic() + self.left() - total * (
            plan.SHARE_STEPS + plan.SHARE_NEIGHBOURS + plan.SHARE_END)
        todo = plan.Plan(self.options, list(self.by_poller), pps, end - time.monotonic())
        self.report.body["plan"] = {
            "rounds": todo.rounds, "run_seconds": round(todo.run_seconds(), 3),
            "loads": sorted({c.load for c in todo.cells}), "left_out": todo.left_out}
        for text in todo.left_out:
            self.say(f"{self.options.minutes:g} minutes are too short for {text}; give more "
                     "--minutes")
        for number in range(todo.rounds):
            usual = max(todo.run_seconds(todo.rounds - number, end - time.monotonic()),
                        plan.RUN_SECONDS_LEAST)
            if not self.round(todo, number, usual, end):
                self.say(f"the time was over in round {number + 1} of {todo.rounds}: the machine "
                         "is busy, or slow; give more --minutes")
                return
            self.checkpoint()

    def round(self, todo, number, usual, end):
        """One run of each poller at each load. False: the time was over. The first round is made
        in any case."""
        again = []
        runs = todo.order(number, self.options.seed)
        for cell, poller in runs:
            if number > 0 and time.monotonic() > end:
                return False
            text = f"round {number + 1} of {todo.rounds}: {poller}, {cell.arrivals}, " \
                   f"{cell.load:.0%} of {todo.maximum:,.0f} packets/s"
            self.progress.now(text, again=(cell, poller) != runs[0])
            if not self.one(todo, cell, poller, usual):
                again.append((cell, poller))
        for cell, poller in again:
            if not self.has_time_for_more(todo, number, end):
                break
            self.progress.now(f"again, because it was disturbed: {poller}, {cell.load:.0%}",
                              again=True)
            self.one(todo, cell, poller, usual)
        return True

    @staticmethod
    def has_time_for_more(todo, number, end):
        """True if a disturbed run can be made again without making the next rounds too short."""
        left, rounds = end - time.monotonic(), todo.rounds - number - 1
        return left > 0 and (not rounds or todo.run_seconds(rounds, left) > plan.RUN_SECONDS_LEAST)

    def one(self, todo, cell, poller, usual):
        """Makes one run. True if nothing disturbed it."""
        began = time.monotonic()
        seconds = cell.seconds(usual)
        found = self.select(poller).run(poller, cell.pps, cell.arrivals, seconds)
        self.check_packets(poller, found)
        self.report.add(poller, cell, found)
        todo.overhead += 0.05 * (time.monotonic() - began - seconds - todo.overhead)
        self.disturbed_in_row = self.disturbed_in_row + 1 if found["disturbed"] else 0
        self.made += 1
        self.undisturbed += not found["disturbed"]
        if self.made == DISTURBED_ALL:
            self.check_undisturbed()
        if self.disturbed_in_row == DISTURBED_OFTEN and self.keeps_all():
            self.say(f"{DISTURBED_OFTEN} runs one after the other were disturbed, the last "
                     f"because {found['disturbed']}")
        return not found["disturbed"]

    def keeps_all(self):
        """False if there is no reason to continue with disturbed runs only."""
        return self.undisturbed > 0 or self.options.disturbed == "keep"

    def check_undisturbed(self):
        """Fails if all runs were disturbed."""
        if self.keeps_all():
            return
        known = {os.getpid(), *self.pids(), *self.watch.helpers}
        found = max(filter(None, (cost.busiest(cpu, known) for cpu in set(self.cpus))),
                    key=lambda one: one[2], default=None)
        who = f"{found[0]}, process {found[1]}" if found else "what takes their CPUs"
        why = self.report.body["disturbances"][-1]["what"]
        raise Disturbed(f"gave up: all {self.made} runs were disturbed, the last because {why}: "
                        f"end {who}, or give --disturbed keep")

    def check_packets(self, poller, found):
        """Fails if the link has gone, and the processes at its ends do not see that."""
        self.silent_in_row = 0 if found["received"] else self.silent_in_row + 1
        if self.silent_in_row == SILENT_MOST:
            raise Failed(f"no packet came back in {SILENT_MOST} runs, the last with {poller}: is "
                         "the link still up?")

    def measure_steps(self, pps, budget):
        times = self.times(len(self.by_poller), steps.seconds() + STEP_OVERHEAD, STEP_RUNS, budget)
        if not times:
            self.say("the time is too short for steps of the load")
            return
        found = {poller: [] for poller in self.by_poller}
        pps = min(pps / 2, steps.PPS_MOST)
        for number in range(times):
            for poller in list(found)[::-1 if number % 2 else 1]:
                self.progress.now(f"step of the load: {poller}", again=number > 0)
                side = self.select(poller)
                found[poller].append(steps.run(side, poller, pps, "constant"))
        self.report.parts["steps"] = [steps.course(poller, pps, runs)
                                      for poller, runs in found.items()]

    def measure_neighbours(self, pps, budget):
        path = program.find("compare-neighbour", self.folders)
        if not path:
            self.say("no neighbour: the program compare-neighbour is not installed")
            return
        cpus = [("core", self.cpus[1])]
        cpus += [("sibling", c) for c in machine.siblings(self.cpus[1])
                 if c in program.CPUS and c != self.cpus[0]][:1]
        pieces = len(cpus) * len(NEIGHBOUR_LOADS) * (len(self.by_poller) + 1)
        times = self.times(pieces, NEIGHBOUR_SECONDS + NEIGHBOUR_OVERHEAD, NEIGHBOUR_RUNS, budget)
        if not times:
            self.say("the time is too short for neighbours")
            return
        for where, cpu in cpus:
            self.measure_neighbour(neighbour.Neighbour(path, cpu, self.scratch), where, pps, times)

    def rest_all(self):
        for side in self.sides:
            side.subject.rest()

    def measure_neighbour(self, beside, where, pps, times):
        """Beside each poller and alone in turn, so that both see the same machine."""
        loss = neighbour.Loss(beside, self.watch, self.rest_all, NEIGHBOUR_SECONDS)
        self.neighbours.append(beside)
        lost = {}
        for number in range(times):
            for share in NEIGHBOUR_LOADS:
                self.progress.now(f"neighbour on the same {where}, {share:.0%}", again=number > 0)
                alone, noise = loss.alone()
                for poller in list(self.by_poller)[::-1 if number % 2 else 1]:
                    rate, disturbed = loss.beside(self.select(poller), poller, pps * share,
                                                  self.options.arrivals[0])
                    lost.setdefault((poller, share), []).append(
                        (1 - rate / alone, noise or disturbed))
        self.report.parts["neighbours"] += [
            neighbour.summary(poller, share, where, measured)
            for (poller, share), measured in lost.items()]
