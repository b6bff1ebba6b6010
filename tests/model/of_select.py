# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of waits for the first of several, by the models select_*. For mutations.py."""
import of_sync

MUTATIONS = [
    ('select_servers', 'lib/sync/waitq.c', 'two servers serve one select',
     'if (!hauli_claim_take(&w->first->claim)) return false;', ''),
    ('select_servers', 'lib/sync/select.c', 'a select that was served stays in the other lists',
     '(void)hauli_waitq_leave_if_there(cases[i].q, &cases[i].waiter, cases[i].kind->leave);', ';'),
    ('select_chan', 'lib/sync/waitq.c', 'the server does not say which case it has served',
     'w->first->served = w;', ''),
    ('select_chan', 'lib/sync/select.c', 'the result of a case is not handed on',
     'cs->err = cs->waiter.result;', ''),
    ('select_sem', 'lib/sync/select.c', 'a select that expired does not ask for its claim',
     'if (hauli_claim_take(&s->first.claim)) {', 'if (1) {'),
    ('select_sem', 'lib/sync/select.c', 'one that expired does not wait for its server',
     'hauli_block_wait_served(&s->block);', ''),
    ('select_sem_cancel', 'lib/sync/select.c', 'a select that was cancelled leaves no list',
     'leave_all(cases, n, NULL);', ''),
    ('select_servers', 'lib/sync/select.c', 'an object changes between the look and the entry',
     'enter_all(cases, n, &s->first);',
     'unlock_all(o);\n\t\tlock_all(o);\n\t\tenter_all(cases, n, &s->first);'),
    ('select_sem', 'lib/sync/select.c', 'what a case has taken is still there',
     'hauli_lockword_put(&cs->q->word, value);', ''),
    ('select_select', 'lib/sync/select.c', 'each select has an order of its own for the locks',
     'while (i > 0 && o->at[i - 1] > q)', 'while (0)'),
    ('select_select', 'lib/sync/select.c', 'a select does not end the wait of the other one',
     'if (other) hauli_waitq_serve(other);', ';'),
]

SELECT = of_sync.SYNC + ['lib/sync/select.c']
SOURCES = {
    'select_chan': SELECT + ['lib/sync/chan.c'], 'select_select': SELECT + ['lib/sync/chan.c'],
    'select_sem': SELECT + ['lib/sync/sem.c'], 'select_sem_cancel': SELECT + ['lib/sync/sem.c'],
    'select_servers': SELECT + ['lib/sync/sem.c'],
}
