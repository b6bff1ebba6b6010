# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of how carriers and pollers fall asleep, wait and end; see mutations.py."""

MUTATIONS = [
    ('asleep', 'lib/sched/carrier.c', 'who falls asleep does not look at those it could help',
     '(!steals || hauli_steal_may_stay(c))', '(steals || !steals)'),
    ('asleep', 'lib/sched/carrier.c', 'who falls asleep cannot be found',
     'hauli_steal_lie_down(c); }', '}'),
    ('asleep', 'lib/sched/carrier.c', 'who has not settled sleeps for ever',
     'if (steals && hauli_steal_wake_at(c) < at) at = hauli_steal_wake_at(c);', ''),
    ('asleep', 'lib/sched/steal.c', 'who falls asleep does not settle',
     'hauli_help_settle();', ''),
    ('asleep', 'lib/sched/steal.c', 'who has settled does not look once more',
     'hauli_help_settle(); return hauli_policy_may_stay(&c->thief, now);',
     'hauli_help_settle();\n\treturn true;'),
    ('asleep', 'lib/sched/steal.c', 'who has lain there unsettled is taken to have settled',
     'c->unsettled = (int64_t)(now - c->settle_at) < 0;',
     'c->unsettled = (int64_t)(now - c->settle_at) < 0;\n\tif (!c->unsettled)\n\t\treturn true;'),
    ('asleep_poller', 'lib/sched/poller.c', 'who parks does not look at those it could help',
     '|| (hauli_steals(c) && !hauli_steal_may_stay(c))', ''),
    ('asleep_poller', 'lib/sched/poller.c', 'who parks cannot be found',
     'if (hauli_steals(c)) hauli_steal_lie_down(c);', ''),
    ('asleep_poller', 'lib/sched/steal.c', 'who parks does not settle', 'hauli_help_settle();', ''),
    ('poller_idle', 'drivers-glue/idle.c', 'no barrier between the arming and the look',
     'hauli_wait_armed();', ''),
    ('poller_idle', 'drivers-glue/idle.c', 'the poller looks before it arms',
     'arm(p); io = cycle(p, false);', 'io = cycle(p, false);\n\tarm(p);'),
    ('poller_idle', 'drivers-glue/idle.c', 'the poller does not ask whether it may wait',
     'if (!io && haul_can_park_poller())', 'if (!io)'),
    ('poller_end', 'lib/sched/join.c', 'a poller ends while it is being called',
     'hauli_carrier_settle(c); hauli_slot_free(&c->poller_slot);',
     'hauli_slot_free(&c->poller_slot);'),
    ('carrier_end', 'lib/sched/carrier.c', 'a carrier ends while it is being called',
     'run_plainly(c); hauli_carrier_settle(c);', 'run_plainly(c);'),
]

ASLEEP = ['lib/conc/fence.c', 'lib/conc/help.c', 'lib/conc/inbox.c', 'lib/conc/intake.c',
          'lib/conc/ring.c', 'lib/sched/cluster.c', 'lib/sched/mail.c', 'lib/sched/policy.c']
SOURCES = {
    'poller_idle': ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/intake.c', 'lib/conc/ring.c',
                    'lib/sched/mail.c'],
    'asleep': ASLEEP, 'asleep_poller': ASLEEP,
    'poller_end': ['lib/conc/event.c', 'lib/conc/fence.c', 'lib/conc/inbox.c',
                   'lib/conc/intake.c', 'lib/conc/ring.c',
                   'lib/sched/cluster.c', 'lib/sched/join.c', 'lib/sched/mail.c',
                   'lib/sched/poller.c'],
    'carrier_end': ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/intake.c',
                    'lib/conc/ring.c', 'lib/sched/cluster.c', 'lib/sched/mail.c'],
}
