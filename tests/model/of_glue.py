# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of what threads share in drivers-glue: rings of captures, shares of time, the ledger.
For mutations.py."""

MUTATIONS = [
    ('capture_ring', 'lib/conc/word.h', 'head and tail publish nothing',
     'memory_order_release /* word.E4:R */', 'memory_order_relaxed'),
    ('capture_ring', 'lib/conc/word.h', 'readers of head and tail acquire nothing',
     'memory_order_acquire /* word.E4:A */', 'memory_order_relaxed'),
    ('capture_ring', 'drivers-glue/capture/ring.h', 'the carrier does not look at the tail again',
     'ring->seen = hauli_u32_published_get(&ring->tail);', ';'),
    ('capture_ring', 'drivers-glue/capture/ring.h', 'a new tail is room enough',
     'if (ring->size - (at - ring->seen) < len) return NULL;', ';'),
    ('capture_ring', 'drivers-glue/capture/ring.h', 'room is counted from the head that was seen',
     'if (hauli_unlikely(ring->size - (at - ring->seen) < len)) {',
     'if (hauli_unlikely(ring->size - (ring->written - ring->seen) < len)) {'),
    ('capture_ring', 'drivers-glue/capture/ring.h', 'the last block never fits',
     'if (ring->size - (at - ring->seen) < len) return NULL;',
     'if (ring->size - (at - ring->seen) <= len) return NULL;'),
    ('capture_ring', 'drivers-glue/capture/ring.h', 'the carrier forgets what it has published',
     'ring->written = head; hauli_u32_published_set(&ring->head, head);',
     'hauli_u32_published_set(&ring->head, head);'),
    ('dropped', 'drivers-glue/io/ledger.c', 'a thief adds to a count as if it were alone',
     'hauli_u64_shared_add(&r->remote_dropped[reason], n);',
     'hauli_u64_shared_set(&r->remote_dropped[reason],\n'
     '\t\t\thauli_u64_shared_get(&r->remote_dropped[reason]) + n);'),
    ('dropped', 'drivers-glue/io/ledger.c', 'a thief counts what it drops as its home does',
     'if (hauli_rxq_is_remote(r))', 'if (false)'),
    ('share', 'drivers-glue/io/share.c', 'the word is read twice',
     'hauli_stopwatch_sum(word, word & 1', 'hauli_stopwatch_read(&p->share.worked, word & 1'),
    ('share', 'drivers-glue/io/share.c', 'a run that has ended runs on',
     'hauli_stopwatch_stop(&p->share.elapsed, now);', ';'),
    ('share', 'drivers-glue/io/share.c', 'work before the run counts',
     'hauli_stopwatch_start(&p->share.worked, work(p, now));',
     'hauli_stopwatch_start(&p->share.worked, 0);'),
    ('share', 'lib/base/stopwatch.h', 'a stop is two changes',
     'hauli_counter_add(&w->word, 2 * now - 1);',
     'hauli_counter_add(&w->word, 2 * now);\n\thauli_counter_add(&w->word, (uint64_t)-1);'),
]

SOURCES = {'capture_ring': [], 'dropped': [], 'share': []}
