# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of rescues: a carrier that leaves a long slice behind. For
mutations_of_records.py."""

# test: (file, error, text, its replacement)
MUTATIONS = [
    ('unit/rescue', 'lib/sched/run/stray.c', 'a pinned coroutine is left behind',
     'HAULI_FLAG_CANCELLED | HAULI_FLAG_BOUNDED)',
     'HAULI_FLAG_CANCELLED | HAULI_FLAG_BOUNDED | HAULI_FLAG_KEPT)'),
    ('unit/rescue', 'lib/sched/run/rescue.c', 'a carrier is not given back',
     'hauli_completion_set(&r->own->given);', ';'),
    ('unit/rescue', 'lib/sched/run/rescue.c', 'a carrier stays with its rescuer',
     '|| hauli_u32_published_get(&c->rescue->wanted)', ''),
    ('unit/rescue', 'lib/sched/wait/local.c', 'a local of one that was left behind is lost',
     'struct haul_carrier *c = hauli_real_carrier(hauli_here());',
     'struct haul_carrier *c = hauli_here();'),
    ('unit/rescue', 'lib/sched/steal/stolen.c', 'the carrier of one left behind is a stand-in',
     'return c ? hauli_real_carrier(c) : NULL;', 'return c;'),
    ('unit/rescue', 'lib/sched/steal/groups.c', 'a single carrier leaves nothing behind',
     'if (p->members == 1 && opts->rescue_after_ns == 0)', 'if (p->members == 1)'),
]
