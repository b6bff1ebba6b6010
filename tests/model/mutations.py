#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks each step of the protocols, one at a time; the explorer must find it.

A mutation replaces one text in a copy of one file. It counts as caught only if the broken source
compiles, the search itself reports a violation (exit code 3), and the search under the same memory
finds none with nothing broken. Speaks TAP.
usage: mutations.py SOURCE_ROOT COMPILER EXPLORER_LIBRARY [PREFIX_OF_MODELS]
"""
import os
import sys
import tempfile

import broken
import falling_asleep
import of_fd
import of_glue
import of_join
import of_offload
import of_records
import of_rescue
import of_ring
import of_select
import of_sync
from support import mutate

# model: (file, what is broken, text, its replacement)
MUTATIONS = [
    ('inbox', 'lib/conc/inbox.h', 'push publishes the node without release',
     'memory_order_acq_rel, /* inbox.E1:R the', 'memory_order_acquire, /* the'),
    ('inbox', 'lib/conc/inbox.h', 'push takes in nothing of the sleeper',
     'memory_order_acq_rel, /* inbox.E1:R the', 'memory_order_release, /* the'),
    ('inbox', 'lib/conc/inbox.h', 'push is a store instead of a CAS',
     '(struct hauli_node *)old; } while (!atomic_compare_exchange_weak_explicit(&in->head, &old,'
     ' (uintptr_t)newest,',
     '(struct hauli_node *)old;\n\t} while (!'
     '(atomic_store_explicit(&in->head, (uintptr_t)newest, memory_order_release), true) ||'
     ' (0 && (uintptr_t)newest,'),
    ('inbox', 'lib/conc/inbox.h', 'push does not report the sleeper',
     'return old <= HAULI_INBOX_STATES ? (enum hauli_inbox_state)old : HAULI_INBOX_EMPTY;',
     'return HAULI_INBOX_EMPTY;'),
    ('inbox', 'lib/conc/inbox.h', 'push reports a sleeper whenever it was empty',
     'return old <= HAULI_INBOX_STATES ? (enum hauli_inbox_state)old : HAULI_INBOX_EMPTY;',
     'return old <= HAULI_INBOX_STATES ? HAULI_INBOX_ASLEEP : HAULI_INBOX_EMPTY;'),
    ('inbox', 'lib/conc/inbox.h', 'push keeps the state as a node',
     'old <= HAULI_INBOX_STATES ? NULL : (struct hauli_node *)old',
     '(struct hauli_node *)old'),
    ('inbox', 'lib/conc/inbox.c', 'drain takes in nothing of the pushers',
     '&in->head, HAULI_INBOX_EMPTY, memory_order_acquire /* inbox.E1:A inbox.E4:A */',
     '&in->head, HAULI_INBOX_EMPTY, memory_order_relaxed'),
    ('inbox', 'lib/conc/inbox.c', 'drain is a load and a store instead of one exchange',
     'atomic_exchange_explicit(&in->head, HAULI_INBOX_EMPTY, memory_order_acquire'
     ' /* inbox.E1:A inbox.E4:A */);',
     'atomic_load_explicit(&in->head, memory_order_acquire);\n'
     '\tatomic_store_explicit(&in->head, HAULI_INBOX_EMPTY, memory_order_relaxed);'),
    ('inbox', 'lib/conc/inbox.c', 'drain hands out the newest first',
     '(void)hauli_reverse(&all, NULL, UINT_MAX); return all.oldest;', 'return all.left;'),
    ('inbox', 'lib/conc/inbox.c', 'try_sleep publishes nothing',
     'memory_order_release /* inbox.E2:R inbox.E6:R */', 'memory_order_relaxed'),
    ('inbox', 'lib/conc/inbox.c', 'try_sleep is a check and a store instead of a CAS',
     'in->sleeps = atomic_compare_exchange_strong_explicit(&in->head, &empty, how,',
     'in->sleeps = atomic_load_explicit(&in->head, memory_order_relaxed) == empty &&'
     ' (atomic_store_explicit(&in->head, how, memory_order_release), true) &&'
     ' !(HAULI_INBOX_EMPTY,'),
    ('quiet', 'lib/sched/look/quiet.c', 'the sleeps are not compared',
     ' && sleeps(rt) == before', ''),
    ('quiet', 'lib/sched/look/quiet.c', 'the sleeps are counted after the heads',
     'return all_sleep(rt, look) &&',
     'if (!all_sleep(rt, look))\n\t\treturn false;\n\tbefore = sleeps(rt);\n\treturn'),
    ('quiet', 'lib/sched/look/quiet.c', 'a carrier that is awake counts as asleep',
     'if (!hauli_inbox_has_slept(&c->mail.inbox) || hauli_cluster_waits(c))',
     'if (hauli_cluster_waits(c))'),
    ('quiet', 'lib/conc/inbox.c', 'has_slept takes in nothing',
     'memory_order_acquire /* inbox.E6:A */', 'memory_order_relaxed'),
    ('quiet', 'lib/conc/word.h', 'a nap publishes nothing',
     'memory_order_release /* word.E4:R */', 'memory_order_relaxed'),
    ('quiet', 'lib/conc/word.h', 'the sum of the sleeps takes in nothing',
     'memory_order_acquire /* word.E4:A */', 'memory_order_relaxed'),
    ('quiesce', 'lib/conc/inbox.h', 'called publishes nothing',
     'memory_order_release /* inbox.E3:R */', 'memory_order_relaxed'),
    ('quiesce', 'lib/conc/inbox.h', 'is_quiesced takes in nothing',
     'memory_order_acquire /* inbox.E3:A */', 'memory_order_relaxed'),
    ('quiesce', 'lib/conc/inbox.h', 'is_quiesced asks for nothing', '== in->owed;', '<= in->owed;'),
    ('quiesce', 'lib/conc/inbox.c', 'a sleep ended by another thread is not counted',
     'in->owed += in->sleeps && !hauli_inbox_state_sleeps(head);',
     ';'),
    ('quiesce', 'lib/conc/inbox.c', 'a sleep ended by a rouse is not counted',
     'in->owed += in->sleeps && !hauli_inbox_state_sleeps(head);',
     'in->owed += in->sleeps && head > HAULI_INBOX_STATES;'),
    ('quiesce', 'lib/conc/inbox.h', 'rouse does not report the sleeper',
     'return HAULI_INBOX_EMPTY; } while (!atomic_compare_exchange_weak_explicit(&in->head, &old,'
     ' HAULI_INBOX_EMPTY, memory_order_acq_rel, /* inbox.E4:R inbox.E2:A */'
     ' memory_order_relaxed /* a new guess */)); return (enum hauli_inbox_state)old;',
     'return HAULI_INBOX_EMPTY;\n\t} while (!atomic_compare_exchange_weak_explicit(&in->head, &old,'
     ' HAULI_INBOX_EMPTY, memory_order_acq_rel, memory_order_relaxed));\n'
     '\treturn HAULI_INBOX_EMPTY;'),
    ('quiesce', 'lib/conc/inbox.h', 'rouse takes in nothing of the sleeper',
     'memory_order_acq_rel, /* inbox.E4:R inbox.E2:A */', 'memory_order_release,'),
    ('quiesce', 'lib/conc/inbox.h', 'rouse publishes nothing',
     'memory_order_acq_rel, /* inbox.E4:R inbox.E2:A */', 'memory_order_acquire,'),
    ('quiesce', 'lib/conc/inbox.h', 'rouse is a store instead of a CAS',
     '} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, HAULI_INBOX_EMPTY,'
     ' memory_order_acq_rel, /* inbox.E4:R inbox.E2:A */ memory_order_relaxed'
     ' /* a new guess */));',
     '} while (atomic_store_explicit(&in->head, HAULI_INBOX_EMPTY, memory_order_release), 0);'),
    ('quiesce', 'lib/conc/inbox.h', 'push to a sleeper publishes nothing',
     'memory_order_acq_rel, /* inbox.E1:R inbox.E2:A */', 'memory_order_acquire,'),
    ('quiesce', 'lib/conc/inbox.h', 'push to a sleeper takes in nothing of it',
     'memory_order_acq_rel, /* inbox.E1:R inbox.E2:A */', 'memory_order_release,'),
    ('quiesce', 'lib/conc/inbox.h', 'push to a sleeper is a store instead of a CAS',
     '} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, (uintptr_t)node,'
     ' memory_order_acq_rel, /* inbox.E1:R inbox.E2:A */ memory_order_relaxed'
     ' /* a new guess */));',
     '} while (atomic_store_explicit(&in->head, (uintptr_t)node, memory_order_release), 0);'),
    ('inbox', 'lib/conc/inbox.c', 'the wait does not compare',
     'FUTEX_WAIT_BITSET_PRIVATE, HAULI_INBOX_ASLEEP,',
     'FUTEX_WAIT_BITSET_PRIVATE, (uint32_t)in->head,'),
    ('inbox', 'lib/conc/inbox.c', 'wake wakes no thread',
     'syscall(SYS_futex, &in->head, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);', ';'),
    ('order', 'lib/conc/ring.c', 'a thief begins behind what a pop is about to take back',
     'if (hauli_ring_head(r) == claim)', 'if (claim || true)'),
    ('order', 'lib/conc/word.h', 'the number of thefts publishes nothing',
     'memory_order_release /* word.E4:R */', 'memory_order_relaxed'),
    ('order', 'lib/conc/word.h', 'a reader of the theft count acquires nothing',
     'memory_order_acquire /* word.E4:A */', 'memory_order_relaxed'),
    ('order', 'lib/sched/run/round.c', 'the theft count is read before the batch is open',
     'hauli_runq_open(&c->runq, n);'
     ' c->steal.orders.seen = hauli_u32_published_get(&c->steal.orders.taken);',
     'c->steal.orders.seen = hauli_u32_published_get(&c->steal.orders.taken);\n'
     '\t\thauli_runq_open(&c->runq, n);'),
    ('order', 'lib/sched/wait/order.h',
     'a coroutine that begins at home amid thefts is not asked for its key',
     'if (hauli_unlikely(hauli_order_any_remote(home) || home->steal.orders.asks_always))'
     ' hauli_order_ask_key();', ''),
    ('order', 'lib/sched/wait/order.c', 'a thief does not ask for the key',
     'hauli_ctx_is_unstarted(&co->co.ctx) ? ask(v, co) : 0;', '0;'),
    ('order', 'lib/sched/wait/order.c', 'a theft is not numbered',
     'hauli_u32_published_set(&v->steal.orders.taken, co->rank);', ';'),
    ('order', 'lib/sched/wait/order.c', 'a theft is not counted among the members',
     'count_members(v, 1);', ';'),
    ('order', 'lib/sched/wait/order.c', 'an entering coroutine does not wait for remote ones',
     'return o->line.first->coro != co || (o->remote && is_before(o->remote->rank, co->rank));',
     'return o->line.first->coro != co;'),
    ('order_three', 'lib/sched/wait/order.c', 'an entering coroutine does not wait for the line',
     'return o->line.first->coro != co || (o->remote', 'return (o->remote'),
    ('order_three', 'lib/sched/wait/order.c', 'an entering coroutine waits for all remote ones',
     'return o->line.first->coro != co || (o->remote && is_before(o->remote->rank, co->rank));',
     'return o->line.first->coro != co || o->remote;'),
    ('order', 'lib/sched/wait/order.c', 'a returned coroutine stays in the list of remote ones',
     'take_out(&o->remote, co); insert(&o->line, w);', 'insert(&o->line, w);'),
    ('order', 'lib/sched/wait/order.c',
     'a coroutine at home comes before the thefts that were seen',
     'co->rank = c->steal.orders.seen + 1;', 'co->rank = c->steal.orders.seen;'),
    ('order', 'lib/sched/wait/order.c', 'one that comes late enters at the end',
     'if (line->last && !is_before(w->coro->rank, line->last->coro->rank))', 'if (line->last)'),
    ('order', 'lib/sched/wait/order.c', 'the line is not sorted',
     'while (at && !is_before(w->coro->rank, at->coro->rank))', 'while (at)'),
    ('order', 'lib/sched/wait/order.c', 'a leaving coroutine does not pass the turn on',
     'hauli_wait_list_leave(&o->line, w); co->rank = 0; count_members(c, -1); release(c, o);',
     'hauli_wait_list_leave(&o->line, w);\n\tco->rank = 0;\n\tcount_members(c, -1);\n'
     '\thauli_ring_release(&c->runq.ring);'),
    ('order', 'lib/sched/wait/order.c', 'a coroutine that sends nothing does not pass the turn on',
     'take_out(&o->remote, co); co->rank = 0; count_members(c, -1); release(c, o);',
     'take_out(&o->remote, co);\n\tco->rank = 0;\n\tcount_members(c, -1);\n'
     '\thauli_ring_release(&c->runq.ring);'),
    ('order', 'lib/sched/wait/order.c',
     'the next one may enter while an earlier coroutine is remote',
     'return o->remote && is_before(o->remote->rank, first->rank) ? NULL : first;',
     'return first;'),
    ('order', 'lib/sched/wait/order.c', 'the lists are looked at without the guard',
     'hauli_ring_hold(&c->runq.ring); join_line(c, o, w); wait = must_wait(o, co);',
     'join_line(c, o, w);\n\twait = must_wait(o, co);\n\thauli_ring_hold(&c->runq.ring);'),
    ('order', 'lib/sched/steal/stolen.c', 'a coroutine that continues in order loses its place',
     'if (co->back != HAULI_BACK_SEND)', 'if (co)'),
    ('order_again', 'lib/sched/wait/order.c', 'one that sends again goes behind those that wait',
     'if (enters_again(c, co)) {', 'if (false) {'),
    ('order_home', 'lib/sched/steal/stolen.c',
     'a slice that goes on at home is no longer a stolen one',
     'slice_has_ended(c, co); switch',
     'slice_has_ended(c, co);\n\telse\n\t\thauli_u8_shared_clear_bits(&co->flags,'
     ' HAULI_FLAG_STOLEN);\n\tswitch'),
    ('order_home', 'lib/sched/steal/stolen.c', 'a slice that goes on at home loses its place',
     'if (!slice_goes_on(co))', 'if (co)'),
    ('order_home', 'lib/sched/steal/stolen.c', 'a slice that has gone on at home keeps its place',
     'if (co->back != HAULI_BACK_SEND)', 'if (co->back == HAULI_BACK_YIELD)'),
    ('order_placed', 'lib/sched/steal/stolen.c', 'a slice that yields loses its place',
     'return co->back == HAULI_BACK_SAME || co->back == HAULI_BACK_LATER ||'
     ' co->back == HAULI_BACK_LONG;', 'return co->back == HAULI_BACK_SAME;'),
    ('order_placed', 'tests/model/order.c', 'a slice that yields has no place',
     'MODEL_ASSERT(hauli_order_leave_behind(c, co));', ''),
    ('order_back', 'lib/sched/state/coroutine.h', 'one with an order key is not taken back',
     'return !co->pinned;', 'return !co->pinned && co->rank == 0;'),
    ('order_back', 'lib/sched/steal/stolen.c', 'a coroutine that is taken back gets another place',
     'if (!hauli_coro_is_stolen(co)) hauli_order_take(',
     'if (co->rank != 0)\n\t\tco->rank = 0;\n\thauli_order_take('),
    ('order_back', 'tests/model/order.c', 'a coroutine that is taken back is no longer stolen',
     'hauli_stolen_take(co); hauli_runq_push',
     'hauli_u8_shared_clear_bits(&co->flags, HAULI_FLAG_STOLEN);\n\thauli_runq_push'),
    ('order', 'tests/model/order.c', 'the number is published when the thief has let go',
     'm.closed[i] = 1; hauli_stolen_take(stolen[i]); } hauli_ring_end_steal(r);',
     'm.closed[i] = 1;\n\t}\n\thauli_ring_end_steal(r);\n'
     '\tfor (unsigned i = 0; i < n; i++)\n\t\thauli_stolen_take(stolen[i]);'),
    ('requests', 'lib/conc/requests.h', 'add publishes nothing',
     'memory_order_acq_rel /* requests.E1:R requests.E2:A */', 'memory_order_acquire'),
    ('requests', 'lib/conc/requests.h', 'add takes in nothing of the owner',
     'memory_order_acq_rel /* requests.E1:R requests.E2:A */', 'memory_order_release'),
    ('requests', 'lib/conc/requests.h', 'add sends a message each time',
     'requests.E2:A */) == 0;', '*/) < UINT32_MAX;'),
    ('requests', 'lib/conc/requests.h', 'add is a load and a store',
     'atomic_fetch_or_explicit(&r->bits, bits, memory_order_acq_rel'
     ' /* requests.E1:R requests.E2:A */) == 0;',
     'atomic_load_explicit(&r->bits, memory_order_acquire) == 0 &&'
     ' (atomic_store_explicit(&r->bits, bits, memory_order_release), true);'),
    ('requests', 'lib/conc/requests.h', 'take takes in nothing of the requesters',
     'memory_order_acq_rel /* requests.E1:A requests.E2:R */', 'memory_order_release'),
    ('requests', 'lib/conc/requests.h', 'take publishes nothing',
     'memory_order_acq_rel /* requests.E1:A requests.E2:R */', 'memory_order_acquire'),
    ('requests', 'lib/conc/requests.h', 'take is a load and a store instead of one exchange',
     'return atomic_exchange_explicit(&r->bits, 0, memory_order_acq_rel'
     ' /* requests.E1:A requests.E2:R */);',
     'uint32_t bits = atomic_load_explicit(&r->bits, memory_order_acquire);\n'
     '\tatomic_store_explicit(&r->bits, 0, memory_order_release);\n\treturn bits;'),
    ('gate_again', 'lib/conc/gate.h', 'open publishes nothing',
     'memory_order_release /* gate.E2:R */', 'memory_order_relaxed'),
    ('gate_again', 'lib/conc/gate.h', 'enter takes in nothing',
     'memory_order_acquire /* gate.E2:A */', 'memory_order_relaxed'),
    ('gate_again', 'lib/conc/gate.h', 'open forgets those that are about to back out',
     'atomic_fetch_and_explicit(&g->word, ~UINT64_C(1), memory_order_release',
     'atomic_store_explicit(&g->word, 0, memory_order_release'),
    ('gate', 'lib/conc/gate.h', 'leave publishes nothing',
     'memory_order_release /* gate.E1:R */', 'memory_order_relaxed'),
    ('gate', 'lib/conc/gate.h', 'is_quiet takes in nothing',
     'memory_order_acquire /* gate.E1:A */) == 1;', 'memory_order_relaxed) == 1;'),
    ('gate', 'lib/conc/gate.h', 'enter looks, then adds',
     'uint64_t old = atomic_fetch_add_explicit(',
     'uint64_t old = atomic_load_explicit(&g->word, memory_order_relaxed);\n'
     '\tatomic_fetch_add_explicit('),
    ('gate', 'lib/conc/gate.h', 'enter does not look', 'if (!(old & 1))', 'if (old < UINT64_MAX)'),
    ('gate', 'lib/conc/gate.h', 'close is a load and a store',
     'atomic_fetch_or_explicit(&g->word, 1, memory_order_relaxed',
     'atomic_store_explicit(&g->word, g->word | 1, memory_order_relaxed'),
    ('gate', 'lib/conc/gate.h', 'a refused entrant does not back out',
     'hauli_gate_leave(g); return false;', 'return false;'),
    ('word', 'lib/conc/word.h', 'taking the try-lock takes in nothing',
     'memory_order_acquire /* word.E1:A */', 'memory_order_relaxed'),
    ('word', 'lib/conc/word.h', 'taking the try-lock is a load and a store',
     'return !atomic_exchange_explicit(&l->taken, true, memory_order_acquire /* word.E1:A */);',
     'if (atomic_load_explicit(&l->taken, memory_order_acquire))\n\t\treturn false;\n'
     '\tatomic_store_explicit(&l->taken, true, memory_order_relaxed);\n\treturn true;'),
    ('word', 'lib/conc/word.h', 'releasing the try-lock publishes nothing',
     'memory_order_release /* word.E1:R */', 'memory_order_relaxed'),
    ('word', 'lib/conc/word.h', 'setting the pointer publishes nothing',
     'memory_order_release /* word.E2:R */', 'memory_order_relaxed'),
    ('word', 'lib/conc/word.h', 'getting the pointer takes in nothing',
     'memory_order_acquire /* word.E2:A */', 'memory_order_relaxed'),
    ('word', 'lib/conc/completion.c', 'set publishes nothing',
     'memory_order_release /* completion.E1:R */', 'memory_order_relaxed'),
    ('word', 'lib/conc/completion.c', 'wait takes in nothing',
     'memory_order_acquire /* completion.E1:A */', 'memory_order_relaxed'),
    ('word', 'lib/conc/completion.c', 'set wakes no thread',
     'syscall(SYS_futex, &c->set, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);', ';'),
    ('word', 'lib/conc/completion.c', 'the wait does not compare',
     'FUTEX_WAIT_BITSET_PRIVATE, 0,', 'FUTEX_WAIT_BITSET_PRIVATE, c->set,'),
    ('poller', 'lib/sched/run/poller.c', 'try_park does not mark the carrier asleep',
     'if (!hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_POLLING_WAIT))', 'if (0)'),
    ('poller', 'lib/sched/run/poller.c', 'try_park marks it as if it waited on the futex',
     'hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_POLLING_WAIT)',
     'hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_ASLEEP)'),
    ('poller', 'lib/sched/steal/sleep.c', 'an awakened carrier leaves its mail in the inbox',
     'hauli_steal_clear_idle(c); hauli_mail_receive(c);',
     'hauli_steal_clear_idle(c);\n\thauli_inbox_drain(&c->mail.inbox);'),
    ('poller', 'lib/sched/run/poller.c', 'unpark does nothing',
     'if (c->mail.inbox.sleeps) hauli_sleep_end_parked(c);', ';'),
    ('roused', 'lib/sched/place/cluster.c', 'a roused carrier with other work rouses no other',
     'else /* its mail made coroutines ready, which may run for long */'
     ' rouse(c->cluster, c->cluster_idx + 1);', ''),
    ('roused', 'lib/sched/steal/sleep.c', 'an awakened carrier does not look for the batch',
     'if (hauli_cluster_waits(c)) hauli_cluster_after_sleep(c);', ''),
    ('roused', 'lib/sched/run/round.c',
     'a carrier that goes to sleep does not recheck the injector',
     'if (hauli_cluster_may_sleep(c) && (!steals', 'if ((!steals'),
    ('poller', 'lib/sched/mail/mail.c', 'the sender does not call the wakeup',
     'c->poller.wakeup.fn(c->poller.wakeup.arg);', ''),
    ('poller', 'lib/sched/mail/mail.c', 'the sender does not say that it has called',
     'hauli_inbox_called(&c->mail.inbox);', ''),
    ('poller', 'tests/model/poller.c', 'the poller does not look once more after arming',
     'io = look(); if (!io && haul_poller_can_park())', 'if (haul_poller_can_park())'),
    ('poller', 'tests/model/poller.c', 'the poller looks before it arms',
     'atomic_store_explicit(&m.armed, 1, memory_order_seq_cst);\n\t\tio = look();',
     'io = look();\n\t\tatomic_store_explicit(&m.armed, 1, memory_order_seq_cst);'),
    ('poller', 'tests/model/poller.c', 'the arming is not ordered before the look',
     'atomic_store_explicit(&m.armed, 1, memory_order_seq_cst);\n\t\tio = look();',
     'atomic_store_explicit(&m.armed, 1, memory_order_release);\n'
     '\t\tio = atomic_load_explicit(&m.packets, memory_order_acquire) > 0 && look();'),
    ('poller', 'tests/model/poller.c', 'the poller arms before it parks, and does not ask again',
     '!haul_poller_try_park())', '(atomic_store_explicit(&m.armed, 1, memory_order_seq_cst),'
     ' look(), !haul_poller_try_park()))'),
    ('poller', 'tests/model/poller.c', 'the wakeup is not remembered',
     'model_await(&m.woken, 8, 1);',
     'atomic_store_explicit(&m.woken, 0, memory_order_seq_cst);\n'
     '\t\t\tmodel_await(&m.woken, 8, 1);'),
    ('homeless', 'lib/sched/place/cluster.c', 'the home does not serve earlier requests',
     'hauli_requests_here(c, co);', ''),
    ('homeless', 'lib/sched/place/cluster.c',
     'the home takes it before it says that it is the home',
     'hauli_ptr_published_set(&co->home, c); hauli_requests_here(c, co);',
     'hauli_requests_here(c, co);\n\thauli_ptr_published_set(&co->home, c);'),
    ('homeless', 'lib/sched/wait/request.c',
     'a requester reads the home before it adds its request',
     'if (!hauli_requests_add(&co->requests, bits)) return;'
     ' /* The first requester finds a home: a homeless co has a bit set from the start. */'
     ' home = hauli_coro_home(co);',
     'home = hauli_coro_home(co);\n\tif (!hauli_requests_add(&co->requests, bits))\n\t\treturn;'),
    ('homeless', 'lib/sched/wait/request.c', 'the home does not look for a join',
     'join_ends(c, co); if (bits & HAULI_REQ_JOIN)', 'join_ends(c, co);\n\tif (0)'),
    ('homeless', 'lib/sched/wait/join.c', 'a joiner sends its request before it leaves its address',
     'hauli_tagged_set(&target->joiner, (uintptr_t)j | tag | HAULI_JOIN_ASKED);'
     ' hauli_request(target, HAULI_REQ_JOIN);',
     'hauli_request(target, HAULI_REQ_JOIN);\n'
     '\thauli_tagged_set(&target->joiner, (uintptr_t)j | tag | HAULI_JOIN_ASKED);'),
    ('homeless', 'lib/conc/requests.h', 'beginning does nothing',
     'atomic_store_explicit(&r->bits, bits, memory_order_relaxed /* not known yet */);', ''),
    ('homeless', 'lib/conc/requests.h', 'add publishes nothing to the home',
     'memory_order_acq_rel /* requests.E1:R requests.E2:A */', 'memory_order_acquire'),
    ('handover', 'lib/sched/mail/handover.c', 'it listens although a wake-up is under way',
     'if (!h->inbox.sleeps && hauli_inbox_is_quiesced(&h->inbox))', 'if (!h->inbox.sleeps)'),
    ('handover', 'lib/sched/mail/handover.c', 'it listens once more while it listens',
     'if (!h->inbox.sleeps && hauli_inbox_is_quiesced(&h->inbox))',
     'if (hauli_inbox_is_quiesced(&h->inbox))'),
    ('handover', 'lib/sched/mail/handover.c', 'it does not listen',
     'hauli_inbox_try_sleep(&h->inbox, HAULI_INBOX_ASLEEP);', ';'),
    ('handover', 'lib/sched/mail/handover.c', 'the call is not counted',
     'hauli_inbox_called(&HAULI_CONTAINER(msg, struct hauli_handover, call)->inbox);', ';'),
    ('handover', 'lib/sched/mail/handover.c', 'a put does not send the call',
     'hauli_mail_send(h->owner, &h->call);', ';'),
    ('handover', 'lib/sched/mail/handover.c', 'a put sends the call each time',
     '== HAULI_INBOX_EMPTY) return;', '> HAULI_INBOX_POLLING_WAIT)\n\t\treturn;'),
    ('handover', 'lib/sched/mail/handover.c', 'a put gives one of its bulk only',
     'all.newest, all.oldest)', 'all.newest, all.newest)'),
    ('handover', 'lib/sched/mail/handover.c', 'taking drops the rest',
     'h->oldest = node->next;', 'h->oldest = NULL;'),
    ('handover', 'lib/sched/mail/handover.c', 'taking ends the listening when there is nothing',
     'if (!node && !hauli_inbox_is_empty(&h->inbox))', 'if (!node)'),
    ('handover', 'lib/sched/mail/handover.c',
     'taking looks for new ones before the rest is handed out',
     'if (!node && !hauli_inbox_is_empty', 'if (!hauli_inbox_is_empty'),
    ('handover', 'lib/sched/mail/handover.h', 'a bulk is the wrong way round',
     'node->next = b->newest; b->newest = node; if (!b->oldest) b->oldest = node;',
     'node->next = NULL;\n\tif (b->oldest)\n\t\tb->oldest->next = node;\n'
     '\tb->oldest = node;\n\tif (!b->newest)\n\t\tb->newest = node;'),
    ('handover', 'tests/model/handover.c', 'the owner does not look after it has listened',
     'hauli_handover_listen(&m.h); io = take();', 'hauli_handover_listen(&m.h);'),
    ('handover', 'tests/model/handover.c', 'the owner looks before it listens',
     'hauli_handover_listen(&m.h); io = take();',
     'io = take();\n\t\t\thauli_handover_listen(&m.h);'),
    ('injector', 'lib/conc/inbox.c', 'drain acquires nothing from putters',
     '&in->head, HAULI_INBOX_EMPTY, memory_order_acquire /* inbox.E1:A inbox.E4:A */',
     '&in->head, HAULI_INBOX_EMPTY, memory_order_relaxed'),
    ('injector', 'lib/conc/inbox.c', 'drain is a load and a store for the holder',
     'atomic_exchange_explicit(&in->head, HAULI_INBOX_EMPTY, memory_order_acquire'
     ' /* inbox.E1:A inbox.E4:A */);',
     'atomic_load_explicit(&in->head, memory_order_acquire);\n'
     '\tatomic_store_explicit(&in->head, HAULI_INBOX_EMPTY, memory_order_relaxed);'),
    ('injector', 'lib/conc/injector.c', 'a putter does not wake',
     'if (hauli_injector_is_empty(in))',
     'if (in)'),
    ('injector', 'lib/conc/injector.c', 'a waker looks only at incoming bulks',
     'if (hauli_injector_is_empty(in))', 'if (hauli_inbox_is_empty(&in->incoming))'),
    ('injector', 'lib/conc/injector.c', 'a waker looks only at the count left',
     'if (hauli_injector_is_empty(in))', 'if (in->left == 0)'),
    ('injector', 'lib/conc/injector.c', 'a waker does not end the sleep',
     '*slept = hauli_inbox_rouse(in->members[member]);', '*slept = HAULI_INBOX_EMPTY;'),
    ('injector', 'lib/conc/injector.c', 'the sleeper does not look',
     'return hauli_injector_is_empty(in); }', 'return true; }'),
    ('injector', 'tests/model/injector.c', 'the sleeper looks before it is asleep',
     'hauli_inbox_try_sleep(&m.inboxes[SLEEPER], HAULI_INBOX_ASLEEP) &&'
     ' !hauli_injector_may_sleep(&m.in))',
     '!(hauli_injector_may_sleep(&m.in) &&'
     ' hauli_inbox_try_sleep(&m.inboxes[SLEEPER], HAULI_INBOX_ASLEEP)))'),
    ('injector', 'tests/model/injector.c', 'a taker does not wake after it has closed',
     'hauli_injector_close(&m.in); call();', 'hauli_injector_close(&m.in);'),
    ('injector', 'tests/model/injector.c', 'a taker wakes before it closes',
     'hauli_injector_close(&m.in); call();', 'call();\n\thauli_injector_close(&m.in);'),
    ('injector', 'lib/conc/injector.c', 'the guard is not looked at',
     'if (!hauli_trylock_take(&in->guard)) return false;', 'hauli_trylock_take(&in->guard);'),
    ('injector', 'lib/conc/injector.c', 'closing leaves the guard taken',
     'hauli_trylock_release(&in->guard);', ';'),
    ('injector', 'lib/conc/injector.c', 'closing passes no barrier before the taker wakes',
     'hauli_trylock_release(&in->guard); hauli_fence_full();',
     'hauli_trylock_release(&in->guard);'),
    ('injector', 'lib/conc/injector.c', 'closing does not say how many are left',
     'atomic_store_explicit(&in->left, in->count, memory_order_relaxed /* the barrier */);', ''),
    ('injector', 'lib/conc/injector.c', 'closing says so after the barrier',
     'atomic_store_explicit(&in->left, in->count, memory_order_relaxed /* the barrier */);'
     ' hauli_trylock_release(&in->guard); hauli_fence_full();',
     'hauli_trylock_release(&in->guard);\n\thauli_fence_full();\n'
     '\tatomic_store_explicit(&in->left, in->count, memory_order_relaxed);'),
    ('injector', 'lib/conc/injector.c', 'incoming bulks replace earlier ones',
     'in->newest->bulk.next = bulk;', 'in->oldest = first_of(bulk);'),
    ('injector', 'lib/conc/injector.c', 'the rest of a bulk loses its place',
     'next->bulk = item->bulk;', ''),
    ('injector', 'lib/conc/injector.c', 'the rest of the newest bulk is not the newest',
     'if (in->newest == item) in->newest = next;', ''),
    ('injector', 'lib/conc/injector.c', 'a taken item is still there',
     'in->oldest = next;', ';'),
    ('help', 'lib/conc/help.c',
     'a carrier that goes idle makes no thread pass a barrier before it rechecks',
     'hauli_fence_heavy();', ''),
    ('help', 'lib/conc/help.c', 'the barrier of a carrier that goes idle is its own only',
     'hauli_fence_heavy();', 'hauli_fence_full();'),
    ('help', 'tests/model/help.c',
     'a carrier that goes idle passes its barrier before its idle bit',
     'hauli_help_set_idle(&m.help, SLEEPER); hauli_help_barrier();',
     'hauli_help_barrier();\n\thauli_help_set_idle(&m.help, SLEEPER);'),
    ('help', 'lib/conc/help.c', 'an idle carrier is not found',
     'atomic_fetch_or_explicit(&h->idle[i / 64], bit(i), memory_order_relaxed', ';(0, 0'),
    ('help', 'tests/model/help.c', 'a requester looks for a sleeper before it publishes its work',
     'note(&m.work, true); if (!hauli_help_request(&m.help, CALLER)) return;',
     'bool sleepers = hauli_help_any_idle(&m.help);\n\tnote(&m.work, true);\n'
     '\tif (!sleepers || !hauli_help_request(&m.help, CALLER))\n\t\treturn;'),
    ('help', 'lib/conc/help.c', 'a requester does not set its bit',
     'atomic_fetch_or_explicit(&h->wanted[i / 64], bit(i), memory_order_release /* help.E2:R */);',
     ''),
    ('help', 'lib/conc/help.c', 'a token is stored, without a barrier before the look',
     'atomic_fetch_or_explicit(&h->tokens, UINT32_C(1) << token, memory_order_release'
     ' /* help.E3:R */);\n\thauli_fence_full();',
     'atomic_store_explicit(&h->tokens, UINT32_C(1) << token, memory_order_release);'),
    ('help', 'lib/conc/help.c', 'a token is not given back',
     'atomic_fetch_or_explicit(&h->tokens, UINT32_C(1) << token, memory_order_release'
     ' /* help.E3:R */);', ''),
    ('runq_stealable', 'lib/sched/state/runq.c', 'an item being pushed counts as pinned',
     'push(q, entry); /* to the ring or the backlog */'
     ' hauli_ring_has_kept(&q->ring, hauli_ring_pushed(&q->ring) != pushed);',
     'hauli_ring_has_kept(&q->ring, true);\n\tpush(q, entry);'),
    ('runq_stealable', 'lib/conc/ring.c', 'a thief does not count an item being pushed as pinned',
     'atomic_load_explicit(&r->keeping,', 'atomic_load_explicit(&r->kept,'),
    ('runq_stealable', 'lib/sched/state/runq.c', 'the owner does not count pinned items',
     'hauli_ring_has_kept(&q->ring, hauli_ring_pushed(&q->ring) != pushed);', ''),
    ('runq_stealable', 'lib/conc/ring.h', 'a searcher reads the push count before the pinned count',
     'uint32_t kept = atomic_load_explicit(&r->kept, memory_order_acquire /* ring.E4:A */);'
     ' uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* ring.E4 */);'
     ' uint32_t lifo_pushes = atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed /*'
     ' ring.E4 */);',
     'uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);\n'
     '\tuint32_t lifo_pushes = atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed);\n'
     '\tuint32_t kept = atomic_load_explicit(&r->kept, memory_order_acquire);'),
    ('runq_stealable', 'lib/conc/ring.c', 'a thief reads those that are kept before the pushes',
     'uint32_t lifo_pushes = atomic_load_explicit(&r->lifo_pushes, memory_order_acquire /*'
     ' ring.E1:A */);'
     ' uint32_t tail', 'uint32_t first = atomic_load_explicit(&r->keeping, memory_order_relaxed);'
     '\n\tuint32_t lifo_pushes = atomic_load_explicit(&r->lifo_pushes, memory_order_acquire) +'
     ' atomic_load_explicit(&r->keeping, memory_order_relaxed) - first;\n\tuint32_t tail'),
    ('permit', 'lib/conc/word.h', 'giving a permit publishes nothing',
     'memory_order_release /* word.E3:R */', 'memory_order_relaxed'),
    ('permit', 'lib/conc/word.h', 'taking a permit takes in nothing',
     'memory_order_acquire /* word.E3:A */', 'memory_order_relaxed'),
    ('permit', 'lib/conc/word.h', 'taking is a load and a store instead of one exchange',
     'return atomic_exchange_explicit(&p->given, false, memory_order_acquire /* word.E3:A */);',
     'bool given = atomic_load_explicit(&p->given, memory_order_acquire);\n'
     '\tatomic_store_explicit(&p->given, false, memory_order_relaxed);\n\treturn given;'),
    ('permit_remote', 'lib/sched/wait/park.c',
     'a remote coroutine takes its permit by a plain store',
     'if (hauli_permit_take_remote(&me->permit)) return 0; return cancelled(me)',
     'hauli_permit_take(&me->permit);\n\treturn cancelled(me)'),
    ('detached', 'lib/conc/inbox.c', 'the thief\'s node takes the place of the sleeper\'s state',
     'while (head > HAULI_INBOX_STATES && head != (uintptr_t)mark)',
     'while (head && head != (uintptr_t)mark)'),
    ('detached', 'lib/conc/inbox.c', 'replace acquires nothing from pushers',
     'memory_order_acq_rel, /* inbox.E1 inbox.E5:R */', 'memory_order_release,'),
    ('detached_hogged', 'lib/conc/inbox.c', 'replace publishes nothing',
     'memory_order_acq_rel, /* inbox.E1 inbox.E5:R */', 'memory_order_acquire,'),
    ('detached', 'lib/conc/inbox.c', 'replace is a load and a store',
     'if (atomic_compare_exchange_weak_explicit(&in->head, &head, (uintptr_t)mark,'
     ' memory_order_acq_rel, /* inbox.E1 inbox.E5:R */ memory_order_relaxed /* a new guess */))',
     'if (atomic_store_explicit(&in->head, (uintptr_t)mark, memory_order_release),'
     ' atomic_thread_fence(memory_order_acquire), true)'),
    ('detached', 'lib/conc/inbox.c', 'earlier mail is handed out again',
     'node && node != end && most > 0', 'node && (node != end || end) && most > 0'),
    ('detached_hogged', 'lib/conc/inbox.h', 'a reader of the thief\'s node acquires nothing',
     'memory_order_acquire /* inbox.E5:A */', 'memory_order_relaxed'),
    ('detached_hogged', 'lib/sched/mail/mail.h', 'a pusher rechecks stealable first',
     'return hauli_inbox_has_other(&c->mail.inbox, &c->mail.detached.mark) ||'
     ' hauli_u8_owned_get(&c->mail.detached.stealable);',
     'return hauli_u8_owned_get(&c->mail.detached.stealable) ||'
     '\n\t\thauli_inbox_has_other(&c->mail.inbox, &c->mail.detached.mark);'),
    ('detached_hogged', 'lib/sched/mail/mail.c', 'stealable is set after the mail is taken',
     'hauli_u8_owned_set(&d->stealable, true); if (!d->reversal.left)'
     ' d->reversal.left = hauli_inbox_replace(&v->mail.inbox, &d->mark);',
     'if (!d->reversal.left)\n'
     '\t\td->reversal.left = hauli_inbox_replace(&v->mail.inbox, &d->mark);\n'
     '\thauli_u8_owned_set(&d->stealable, true);'),
    ('detached', 'lib/sched/mail/mail.c', 'the last removal leaves the end pointer behind',
     'if (d->end == &node->next) d->end = at;', ''),
    ('detached', 'lib/sched/mail/mail.c', 'new mail goes before mail that thieves have read',
     '*d->end = d->reversal.oldest; d->end = &d->reversal.newest->next;',
     'd->reversal.newest->next = d->oldest;\n\tif (!d->oldest)\n'
     '\t\td->end = &d->reversal.newest->next;\n\td->oldest = d->reversal.oldest;'),
    ('detached', 'lib/sched/mail/mail.c', 'the owner takes before it keeps thieves out',
     'hauli_ring_hold(&c->runq.ring); some = take_some(c);',
     'some = take_some(c);\n\thauli_ring_hold(&c->runq.ring);'),
    ('detached', 'lib/sched/mail/mail.c', 'the owner leaves the detached mail as it is',
     'd->oldest = *at; *at = NULL;', ''),
    ('detached', 'lib/sched/mail/mail.c', 'a returned coroutine that is stolen stays in the mail',
     'take_out(d, at); continue;', ''),
    ('detached', 'lib/sched/mail/mail.c', 'a start that is taken is taken out, and not counted',
     'if (hauli_coro_is_stolen(co)) {', 'if (co) {'),
    ('detached_rest', 'lib/sched/mail/mail.c', 'the owner leaves mail, and nothing in the inbox',
     'hauli_inbox_keep(&c->mail.inbox, &d->mark);', ';'),
    ('detached_kept', 'lib/conc/inbox.c', 'keep is a store instead of a CAS',
     'atomic_compare_exchange_strong_explicit(&in->head, &empty, (uintptr_t)mark,'
     ' memory_order_relaxed /* publishes nothing */, memory_order_relaxed /* nodes are there */);',
     'atomic_store_explicit(&in->head, empty + (uintptr_t)mark, memory_order_relaxed);'),
    ('detached_rest', 'lib/sched/mail/mail.c', 'the owner takes anew amid a reversal',
     'if (!d->reversal.left) d->reversal.left = hauli_inbox_take(',
     'if (d->reversal.left || true)\n'
     '\t\t\td->reversal.left = hauli_inbox_take('),
    ('detached_rest', 'lib/sched/mail/mail.c', 'a thief takes anew amid a reversal',
     'if (!d->reversal.left) d->reversal.left = hauli_inbox_replace',
     'd->reversal.left = hauli_inbox_replace'),
    ('detached_rest', 'lib/sched/mail/mail.c',
     'a sleep that a thief has read the end of is not counted',
     'hauli_inbox_was_woken(&c->mail.inbox); /* a thief', '; /* a thief'),
    ('detached_search', 'lib/sched/mail/mail.c', 'thieves go on behind mail that is handed out',
     'd->unsearched = &d->oldest; /* the', '/* the'),
    ('detached_search', 'lib/sched/mail/mail.c', 'each thief begins with the oldest mail',
     'd->unsearched = at;', ''),
    ('detached_search', 'lib/sched/mail/mail.c', 'a search that stops says that it has seen all',
     'hauli_u8_owned_set(&d->stealable, !is_searched(d)); return found;',
     'hauli_u8_owned_set(&d->stealable, false);\n\treturn found;'),
    ('detached', 'lib/sched/mail/spawn_remote.c', 'a start that is taken runs at home too',
     'hauli_queue_new(c, co); /* does',
     'hauli_runq_push(&c->runq, hauli_entry_of(&co->record)); /* does'),
    ('detached_search', 'lib/sched/mail/spawn_remote.c', 'a start that is taken is taken again',
     'return hauli_coro_is_stolen(co) ? NULL : co;', 'return co;'),
    ('detached', 'lib/sched/mail/mail.c', 'a thief makes ready a coroutine that only its home may',
     'msg->kind->stealable(msg) : NULL;',
     'msg->kind->stealable(msg) : HAULI_CONTAINER(msg, struct haul_coro, request_msg);'),
] + falling_asleep.MUTATIONS + of_fd.MUTATIONS + of_glue.MUTATIONS + of_join.MUTATIONS + \
    of_records.MUTATIONS + of_rescue.MUTATIONS + of_ring.MUTATIONS + \
    of_offload.MUTATIONS + of_select.MUTATIONS + of_sync.MUTATIONS


ORDER = ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/injector.c', 'lib/conc/ring.c',
         'lib/sched/steal/stolen.c', 'lib/sched/wait/suspend.c']
DETACHED = ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/ring.c', 'lib/sched/state/carrier.c',
         'lib/sched/mail/mail.c', 'lib/sched/mail/spawn_remote.c', 'lib/sched/steal/stolen.c',
         'lib/sched/wait/suspend.c']
SOURCES = {
    'gate': [], 'gate_again': [], 'inbox': ['lib/conc/inbox.c'], 'requests': ['lib/conc/inbox.c'],
    'quiesce': ['lib/conc/inbox.c'], 'word': ['lib/conc/completion.c'],
    'quiet': ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/injector.c'],
    'handover': ['lib/conc/inbox.c', 'lib/sched/mail/handover.c'],
    'runq_stealable': ['lib/conc/fence.c', 'lib/conc/ring.c', 'lib/sched/state/runq.c'],
    'help': ['lib/conc/fence.c', 'lib/conc/help.c'],
    'homeless': ['lib/conc/completion.c', 'lib/conc/fence.c', 'lib/conc/inbox.c',
                 'lib/conc/injector.c', 'lib/conc/ring.c', 'lib/sched/place/cluster.c',
                 'lib/sched/wait/join.c', 'lib/sched/wait/request.c', 'lib/sched/wait/wake.c'],
    'injector': ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/injector.c'],
    'order': ORDER, 'order_again': ORDER, 'order_back': ORDER, 'order_home': ORDER,
    'order_placed': ORDER, 'order_three': ORDER,
    'permit': [], 'permit_remote': ['lib/conc/completion.c', 'lib/sched/wait/wake.c'],
    'roused': ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/injector.c', 'lib/conc/ring.c',
               'lib/sched/place/cluster.c', 'lib/sched/mail/mail.c', 'lib/sched/steal/sleep.c',
               'lib/sched/mail/spawn_remote.c'],
    'detached': DETACHED, 'detached_hogged': DETACHED,
    'detached_search': ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/ring.c',
                        'lib/sched/state/carrier.c', 'lib/sched/mail/spawn_remote.c'],
    'detached_kept': [s for s in DETACHED if s != 'lib/sched/mail/mail.c'],
    'detached_rest': [s for s in DETACHED if s != 'lib/sched/mail/mail.c'],
    'poller': ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/injector.c', 'lib/conc/ring.c',
               'lib/sched/mail/mail.c', 'lib/sched/run/poller.c', 'lib/sched/steal/sleep.c'],
} | falling_asleep.SOURCES | of_fd.SOURCES | of_glue.SOURCES | of_join.SOURCES | \
    of_records.SOURCES | of_rescue.SOURCES | of_ring.SOURCES | \
    of_offload.SOURCES | of_select.SOURCES | of_sync.SOURCES


def is_caught(models, model, command):
    return models.verdict(model, command, [])


def run_all(mutations, is_caught):
    root, compiler, explorer = os.path.abspath(sys.argv[1]), sys.argv[2].split(), sys.argv[3]
    with tempfile.TemporaryDirectory() as work:
        models = broken.Models(root, compiler, explorer, SOURCES, work)
        return mutate.run_all(mutations, lambda m: mutate.verdict(
            root, broken.FOLDERS, m, models.build,
            lambda model, command: is_caught(models, model, command)))


def main():
    sys.exit(run_all([m for m in MUTATIONS if len(sys.argv) < 5 or m[0].startswith(sys.argv[4])],
                     is_caught))


if __name__ == '__main__':
    main()
