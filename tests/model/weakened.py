#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Weakens each order that matters only on memory weaker than x86's; the explorer must find it.

As mutations.py, but the searches under SC and TSO must find nothing, and the search under the weak
memory must find a violation. A mutation that SC or TSO shows belongs in mutations.py. Speaks TAP.
usage: weakened.py SOURCE_ROOT COMPILER EXPLORER_LIBRARY
"""
import subprocess
import sys

import mutations

# model, file, what is weakened, text, its replacement
WEAKENED = [
    ('look', 'lib/conc/ring.h', 'a look sees the claim of a pop and not what is left before it',
     'return atomic_load_explicit(&r->claim, memory_order_acquire',
     'return atomic_load_explicit(&r->claim, memory_order_relaxed'),
    ('rescue_stale', 'lib/conc/requests.h', 'a wish publishes nothing',
     'memory_order_acq_rel /* requests.E1:R requests.E2:A */', 'memory_order_acquire'),
    ('rescue_stale', 'lib/conc/requests.h', 'a server takes in nothing of the wish',
     'memory_order_acq_rel /* requests.E1:A requests.E2:R */', 'memory_order_release'),
    ('help', 'lib/conc/help.c', 'a requester publishes nothing with its bit',
     'memory_order_release /* help.E2:R */', 'memory_order_relaxed'),
    ('help', 'lib/conc/help.c', 'a thief that clears a request acquires nothing from the requester',
     'memory_order_acquire /* help.E2:A */', 'memory_order_relaxed'),
    ('help', 'lib/conc/help.c', 'a token is given back with nothing',
     'memory_order_release /* help.E3:R */', 'memory_order_relaxed'),
    ('help', 'lib/conc/help.c', 'a token is taken with nothing',
     'memory_order_acquire /* help.E3:A */', 'memory_order_relaxed'),
    ('help', 'lib/conc/help.c', 'no barrier between the request and the asking for a token',
     'memory_order_release /* help.E2:R */); hauli_fence_full();',
     'memory_order_release);'),
    ('help', 'lib/conc/help.c', 'no barrier between a token given back and the look',
     'memory_order_release /* help.E3:R */); hauli_fence_full();',
     'memory_order_release);'),
    ('help', 'lib/conc/help.h', 'the caller\'s light fence is empty', 'hauli_fence_light();', ';'),
    ('injector', 'lib/conc/injector.c', 'no barrier between a put and the look for a sleeper',
     'hauli_inbox_push(&in->incoming, &first->bulk); hauli_fence_full();',
     'hauli_inbox_push(&in->incoming, &first->bulk);'),
    ('injector', 'lib/conc/injector.c', 'no barrier between falling asleep and the look',
     'hauli_fence_full(); /* injector.E1 */ return', 'return'),
    ('ring', 'lib/conc/ring.c', 'a thief sees the claim and not the head before it',
     'memory_order_acquire /* ring.E3:A */', 'memory_order_relaxed'),
    ('ring', 'lib/conc/ring.h', 'a push to the front claims with nothing',
     'atomic_store_explicit(&r->claim, head - 1, memory_order_release',
     'atomic_store_explicit(&r->claim, head - 1, memory_order_relaxed'),
    ('ring', 'lib/conc/ring.h', 'a pop gives its claim back with nothing',
     'atomic_store_explicit(&r->claim, head, memory_order_release',
     'atomic_store_explicit(&r->claim, head, memory_order_relaxed'),
    ('ring', 'lib/conc/ring.h', 'the light fence of open is empty',
     'memory_order_relaxed /* fence.E1 */); hauli_fence_light();', 'memory_order_relaxed);'),
    ('ring', 'lib/conc/ring.h', 'the light fence of pop is empty',
     'memory_order_release /* ring.E3:R, and fence.E1 */); hauli_fence_light();',
     'memory_order_release);'),
    ('ring_front', 'lib/conc/ring.h', 'a pop claims with nothing',
     'memory_order_release /* ring.E3:R, and fence.E1 */', 'memory_order_relaxed'),
    ('last', 'lib/conc/last.h', 'an entry publishes no end',
     'a, memory_order_release /* last.E2:R */', 'a, memory_order_relaxed'),
    ('last', 'lib/conc/last.h', 'a word that was read lets the second look go before it',
     'memory_order_acquire /* last.E2:A */', 'memory_order_relaxed'),
    ('last', 'lib/conc/last.h', 'the end publishes no entry',
     'memory_order_release /* last.E1:R */', 'memory_order_relaxed'),
    ('last', 'lib/conc/last.h', 'a reader begins with an end and older words',
     'memory_order_acquire /* last.E1:A */', 'memory_order_relaxed'),
    ('ring_stealable', 'lib/conc/ring.h', 'a push to the front counts before it is there',
     'atomic_store_explicit(&r->lifo_pushes, lifo_pushes + 1, memory_order_release',
     'atomic_store_explicit(&r->lifo_pushes, lifo_pushes + 1, memory_order_relaxed'),
    ('ring_stealable', 'lib/conc/ring.c', 'a thief counts a push to the front without acquiring it',
     'uint32_t lifo_pushes = atomic_load_explicit(&r->lifo_pushes, memory_order_acquire',
     'uint32_t lifo_pushes = atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed'),
    ('seq', 'lib/conc/seq.h', 'a word publishes no turn',
     'memory_order_release /* seq.E2:R */', 'memory_order_relaxed'),
    ('seq', 'lib/conc/seq.h', 'a word that was read lets the second look go before it',
     'memory_order_acquire /* seq.E2:A */', 'memory_order_relaxed'),
    ('seq', 'lib/conc/seq.h', 'the even turn publishes no words',
     'memory_order_release /* seq.E1:R */', 'memory_order_relaxed'),
    ('seq', 'lib/conc/seq.h', 'a reader begins with a turn and older words',
     'memory_order_acquire /* seq.E1:A */', 'memory_order_relaxed'),
]


def is_caught(models, model, command):
    """Only the weak memory may show it."""
    for memory in ('SC', 'TSO'):
        if subprocess.run(command + [memory], capture_output=True, text=True).returncode != 0:
            return False, f'{memory} shows it too'
    return models.verdict(model, command, ['weak'])


def main():
    sys.exit(mutations.run_all(WEAKENED, is_caught))


if __name__ == '__main__':
    main()
