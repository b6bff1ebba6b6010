#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the explorer's weak memory with C11's axioms, on small random programs.

weak.c defines step by step the values that a load may read. The axioms here define whole
executions: O. Lahav, V. Vafeiadis, J. Kang, C.-K. Hur, D. Dreyer, "Repairing sequential consistency
in C/C++11", PLDI 2017 (RC11), without seq_cst accesses, and with C++20's release sequences. RC11
excludes load buffering where it makes a circle by itself; the search excludes it altogether, so
here it may not make a circle with the order of seq_cst fences either. All executions of a program
are listed, and executions that break an axiom are dropped. Both must show the same outcomes.
Speaks TAP.
usage: weak_axioms.py PROGRAM [PROGRAMS [SEED]]
"""
import itertools
import random
import subprocess
import sys

WORDS = 'xyz'
ACQUIRE, RELEASE = 'abs', 'rbs'


class Event:
    def __init__(self, thread, kind, word, value, order):
        self.thread, self.kind, self.word, self.value, self.order = (
            thread, kind, word, value, order)
        self.reads = kind in 'RUC'
        self.writes = kind in 'WUC'


def parse(text):
    """The events, with an initial store to each word first; program order is list order."""
    events = [Event(None, 'W', w, 0, 'x') for w in WORDS]
    for thread, steps in enumerate(text.split('|')):
        for s in steps.split():
            events.append(Event(thread, s[0], None if s[0] == 'F' else s[1],
                                int(s[2]) if s[0] == 'W' else None, s[-1]))
    return events


class Relation:
    """A relation between the events of one execution; a bit for each successor."""

    def __init__(self, n, pairs=()):
        self.rows = [0] * n
        for a, b in pairs:
            self.rows[a] |= 1 << b

    def __or__(self, other):
        r = Relation(len(self.rows))
        r.rows = [a | b for a, b in zip(self.rows, other.rows)]
        return r

    def then(self, other):
        r = Relation(len(self.rows))
        for a, row in enumerate(self.rows):
            while row:
                low = row & -row
                r.rows[a] |= other.rows[low.bit_length() - 1]
                row ^= low
        return r

    def closed(self):
        r = Relation(len(self.rows))
        r.rows = list(self.rows)
        for k, _ in enumerate(r.rows):
            for a, row in enumerate(r.rows):
                if row >> k & 1:
                    r.rows[a] |= r.rows[k]
        return r

    def has(self, a, b):
        return self.rows[a] >> b & 1

    def is_irreflexive(self):
        return not any(row >> a & 1 for a, row in enumerate(self.rows))


def evaluate(events, source, sb_rf):
    """The values read and written by each event; None if an event reads a store that does not
    happen."""
    read, written = {}, {}
    order = sorted(range(len(events)), key=lambda e: sum(sb_rf.has(a, e)
                                                         for a in range(len(events))))
    for e in order:
        ev = events[e]
        if ev.reads:
            if source[e] not in written:
                return None
            read[e] = written[source[e]]
        if ev.kind == 'W':
            written[e] = ev.value
        elif ev.kind == 'U':
            written[e] = read[e] + 1
        elif ev.kind == 'C' and read[e] == 1:
            written[e] = 2
    return read, written


def is_acquire(ev, succeeded):
    return ev.order in ACQUIRE and (ev.kind in 'RUF' or ev.kind == 'C' and succeeded)


def is_release(ev, succeeded):
    return ev.order in RELEASE and (ev.kind in 'WUF' or ev.kind == 'C' and succeeded)


def synchronizes(events, sb, source, written):
    """Pairs: a release store or fence, an acquire load or fence that reads from its sequence."""
    pairs = []
    for r, w in source.items():
        head = w
        while True:
            ends = [r] if is_acquire(events[r], r in written) else []
            ends += [f for f, ev in enumerate(events)
                     if ev.kind == 'F' and is_acquire(ev, True) and sb.has(r, f)]
            begins = [head] if is_release(events[head], head in written) else []
            begins += [f for f, ev in enumerate(events)
                       if ev.kind == 'F' and is_release(ev, True) and sb.has(f, head)]
            pairs += itertools.product(begins, ends)
            if head not in source:
                break
            head = source[head]  # a read-modify-write read it: the release sequence continues
    return pairs


def is_consistent(events, sb, source, written, mo):
    n = len(events)
    rf = Relation(n, ((w, r) for r, w in source.items()))
    hb = (sb | Relation(n, synchronizes(events, sb, source, written))).closed()
    rb = Relation(n, ((r, w) for r, s in source.items() for w in written
                      if mo.has(s, w) and w != r))
    eco = (rf | mo | rb).closed()
    if not hb.is_irreflexive() or not eco.is_irreflexive():
        return False
    if not hb.then(eco).is_irreflexive():  # coherence
        return False
    for u, w in source.items():  # atomicity
        if u in written and any(mo.has(w, k) and mo.has(k, u) for k in written):
            return False
    full = [e for e, ev in enumerate(events) if ev.kind == 'F' and ev.order == 's']
    ordered = hb | hb.then(eco).then(hb)
    psc = Relation(n, ((a, b) for a in full for b in full if ordered.has(a, b)))
    return (psc | sb | rf).closed().is_irreflexive()


def orders_of(events, written):
    """All modification orders, as relations."""
    per_word = []
    for i, word in enumerate(WORDS):
        stores = [w for w in written if events[w].word == word and w != i]
        per_word.append([(i,) + p for p in itertools.permutations(stores)])
    for lists in itertools.product(*per_word):
        yield lists, Relation(len(events), (p for one in lists
                                            for p in itertools.combinations(one, 2)))


def outcomes_by_axioms(text):
    events = parse(text)
    n = len(events)
    sb = Relation(n, ((a, b) for a in range(n) for b in range(n) if a < b and (
        events[a].thread is None and events[b].thread is not None or
        events[a].thread is not None and events[a].thread == events[b].thread)))
    readers = [e for e in range(n) if events[e].reads]
    sources = [[w for w in range(n) if w != r and events[w].writes
                and events[w].word == events[r].word] for r in readers]
    found = set()
    for chosen in itertools.product(*sources):
        source = dict(zip(readers, chosen))
        sb_rf = (sb | Relation(n, ((w, r) for r, w in source.items()))).closed()
        if not sb_rf.is_irreflexive():  # no load buffering
            continue
        values = evaluate(events, source, sb_rf)
        if values is None:
            continue
        read, written = values
        for lists, mo in orders_of(events, written):
            outcome = (tuple(read[r] for r in readers), tuple(written[one[-1]] for one in lists))
            if outcome not in found and is_consistent(events, sb, source, written, mo):
                found.add(outcome)
    return found


def outcomes_by_search(process, text):
    process.stdin.write(text + '\n')
    process.stdin.flush()
    found = set()
    while (line := process.stdout.readline().strip()) != '.':
        if not line:
            raise RuntimeError(f'the search did not end: {text}')
        reads, words = line.split('/')
        found.add((tuple(map(int, reads.split())), tuple(map(int, words.split()))))
    return found


# Programs whose outcome depends on orders: the accesses and their words, without orders and fences.
SHAPES = (
    'Wx Ry | Wy Rx', 'Wx Wy | Ry Rx', 'Wx Wy | Wy Wx', 'Wx Wy | Wy Rx', 'Wx Wy | Ry Wx',
    'Wx | Wy | Rx Ry | Ry Rx', 'Wx | Rx Wy | Ry Rx', 'Wx Wy | Uy | Ry Rx', 'Wx Wy | Cy Rx',
    'Wx Wy Wy | Ry Rx', 'Wx Wy | Ry Wz | Rz Rx', 'Ux Ry | Uy Rx', 'Wx Uy | Wx Uy', 'Wx Wx | Rx Rx',
    'Wx Wy | Uy Rx | Uy Rx', 'Wx Uz Ry | Wy Uz Rx', 'Wx Uz | Uz Wx | Rz Rx', 'Wx Wy | Cy Wx')


def access(rng, kind, word):
    order = rng.choice({'W': 'xr', 'R': 'xa', 'U': 'xarb', 'C': 'xarb'}[kind])
    return kind + word + (rng.choice('12') if kind == 'W' else '') + order


def with_orders(rng, shape):
    often, fences = rng.choice(((0.4, 'arbs'), (0.4, 'arbs'), (0.9, 's')))
    steps = []
    for step in shape.split():
        if step == '|':
            steps.append(step)
            continue
        if steps and steps[-1] != '|' and rng.random() < often:
            steps.append('F' + rng.choice(fences))
        steps.append(access(rng, *step))
    return ' '.join(steps)


def random_step(rng, words):
    kind = rng.choices('WRUCF', (7, 7, 2, 1, 3))[0]
    return 'F' + rng.choice('arbs') if kind == 'F' else access(rng, kind, rng.choice(words))


def random_program(rng):
    if rng.random() < 0.7:
        return with_orders(rng, rng.choice(SHAPES))
    words = WORDS[:rng.choices((1, 2, 3), (1, 6, 2))[0]]
    lengths = rng.choice(((2, 2), (3, 2), (3, 3), (4, 3), (1, 2, 2), (2, 2, 2), (3, 2, 2),
                          (1, 1, 2, 2), (1, 3, 3)))
    return ' | '.join(' '.join(random_step(rng, words) for _ in range(n)) for n in lengths)


def main():
    how_many = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    process = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    differ = outcomes = 0
    for _ in range(how_many):
        text = random_program(rng)
        axioms, search = outcomes_by_axioms(text), outcomes_by_search(process, text)
        outcomes += len(axioms)
        if axioms != search:
            differ += 1
            print(f'# {text}: axioms only {sorted(axioms - search)},'
                  f' search only {sorted(search - axioms)}')
    process.stdin.close()
    process.wait()
    print('1..1')
    print(f'{"not ok" if differ else "ok"} 1 - {how_many} programs with {outcomes} outcomes:'
          f' {differ} differ')
    sys.exit(1 if differ else 0)


if __name__ == '__main__':
    main()
