#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks steps of the library, the glue and haul-fwd, one at a time; a test must find each.

A mutation is caught when the test compiled with it fails, or does not end: a lost wakeup is to
hang. The same test compiled in the same way with nothing broken must pass before, and end after a
mutation did not. The rest comes from the library that is there. Speaks TAP.
usage: mutations.py SOURCE_ROOT COMPILER BUILD_ROOT [PREFIX_OF_TESTS]
"""
import collections
import os
import subprocess
import sys
import tempfile
import threading
import time

import mutations_of_descriptors
import mutations_of_flows
import mutations_of_hibernation
import mutations_of_hosts
import mutations_of_moves
import mutations_of_offload
import mutations_of_parts
import mutations_of_records
import mutations_of_simulations
from support import mutate
from support.objects import Objects
from support.simulated import Simulated

# test: (file, error, text, its replacement)
MUTATIONS = [
    ('unit/sync', 'lib/sched/wait/request.c', 'a cancel does not end a wait that others end',
     'if (hauli_coro_state(co) & HAULI_CORO_CANCELLABLE)', 'if (false)'),
    ('unit/sync', 'lib/sync/waitq.c', 'the rest of a crowd is not served',
     'w->serves_rest = n == SERVED_AT_ONCE;', ';'),
    ('unit/sync', 'lib/sync/waitq.c', 'a crowd is left as if it were the list of waiters',
     'hauli_wait_list_leave(goes ? &crowd->going : &q->list, &w->waiter);',
     'hauli_wait_list_leave(&q->list, &w->waiter);'),
    ('unit/sync', 'lib/sync/mutex.c', 'an unlock lets everybody try',
     'next ? value_of(next->waiter.coro) : 0', '0'),
    ('unit/sync_misuse', 'lib/include/haul/sync_inline.h', 'who must not wait locks at once',
     'haul_inline_swap_(m, me->flags, (uintptr_t)me)', 'haul_inline_swap_(m, 0, (uintptr_t)me)'),
    ('unit/holder', 'lib/include/haul/sync_inline.h', 'an unlock asks for no holder',
     'haul_inline_swap_(m, (uintptr_t)haul_inline_self_(), 0)',
     'haul_inline_swap_(m, *(uint64_t *)m, 0)'),
    ('unit/spin', 'lib/sched/state/spin.h', 'failures do not keep a carrier from spinning',
     's->skip = (uint16_t)(1 << s->failures);', ''),
    ('unit/spin', 'lib/sched/state/spin.h', 'a success does not count',
     's->failures = 0;', 's->failures++;\n\t\ts->skip = 1;'),
    ('unit/select', 'lib/sync/select.c', 'an object of two cases is locked twice',
     'if (i > 0 && o->at[i - 1] == q) return;', ''),
    ('unit/select', 'lib/sync/select.c', 'the first case that can be done always is',
     'n == 0 ? 0 : draw(hauli_here(), n)', '0'),
    ('unit/select', 'lib/sync/select.c', 'the rest of a crowd is not served',
     'if (hauli_unlikely(cs->waiter.serves_rest)) cs->kind->serve_rest(cs->q);', ''),
    ('unit/select', 'lib/sync/select.c', 'cases stay in use',
     'cases[i].waiter.waiter.coro = NULL;', ''),
    ('unit/select', 'lib/sync/select.c', 'the claim of an earlier select stays taken',
     's->first.claim = (struct hauli_claim){false};', ''),
    ('unit/select', 'lib/sync/waitq.c', 'a server gives to one that another has served',
     'while (!w && list->first);', 'while (0);'),
    ('unit/select', 'lib/sync/waitq.c', 'a server that comes second leaves no mark',
     'w->taken = true;', 'w->taken = !w->first;'),
    ('unit/wait', 'lib/sched/wait/join.c', 'a coroutine is freed with a request under way',
     'hauli_coro_free(c, j->target);',
     'hauli_ptr_published_set(&j->target->home, NULL);\n'
     '\thauli_slab_put(&c->coros, j->target);'),
    ('unit/scope', 'lib/sync/scope.c', 'a block is left before its children have ended',
     'while (s->running > 0) {', 'while (s->running > 1) {'),
    ('unit/scope', 'lib/sync/scope.c', 'the last child does not wake the owner',
     'if (--s->running == 0 && s->waits)', 'if (--s->running == 1 && s->waits)'),
    ('unit/scope', 'lib/sync/scope.c', 'the last error comes back instead of the first',
     'if (s->error == 0)', 'if (error)'),
    ('unit/scope', 'lib/sync/scope.c', 'a cancel stops after its first step',
     'unsigned n = 1; s->children; n++',
     'unsigned n = 1; s->children && n <= CANCELLED_AT_ONCE; n++'),
    ('unit/scope', 'lib/sync/scope.c', 'the deadline passes and no child is cancelled',
     'fail(s, err); cancel(me, s);', 'fail(s, err);'),
    ('unit/scope', 'lib/sync/scope.c', 'an owner that was cancelled, or is late, spins',
     'patient = false;', ';'),
    ('unit/steal_steps', 'lib/sync/scope.c', 'a cancel goes on where its owner was taken',
     'haul_yield(); hauli_go_on_at_home(hauli_here(), me);', 'haul_yield();'),
    ('unit/steal_steps', 'lib/sync/scope.c', 'an owner goes on where a thief has taken it',
     'err = hauli_block_wait(&b); hauli_go_on_at_home(hauli_here(), me);',
     'err = hauli_block_wait(&b);'),
    ('unit/scope', 'lib/sched/wait/extent.c', 'a scope inside another has its own deadline only',
     'outer && outer->deadline < f->deadline', 'false'),
    ('unit/scope', 'lib/sched/wait/extent.c', 'children have no deadline',
     'bool matters = f && f->deadline != HAUL_FOREVER;',
     'bool matters = f && f->owner == me && f->deadline != HAUL_FOREVER;'),
    ('unit/shield', 'lib/sched/wait/extent.c', 'a cancel is lost in a shield',
     'if (shields) {\n\t\tf->shield = f;', 'if (shields) {\n\t\tf->shield = NULL;'),
    ('unit/shield', 'lib/sched/wait/extent.c', 'a cancel is forgotten after a shield',
     'if (f->shield == f)', 'if (false)'),
    ('unit/shield', 'lib/sched/wait/extent.c', 'a cancel does not reach the shield around',
     'hauli_u8_shared_set_bits(&outer->cancelled, CANCELLED);', ';'),
    ('unit/shield', 'lib/sched/wait/extent.c', 'a shield has no end',
     'haul_now() >= f->shield->deadline', 'false'),
    ('unit/shield', 'lib/sched/wait/extent.c', 'a child\'s block is in its parent\'s shield',
     'outer && outer->owner == me ? outer->shield', 'outer ? outer->shield'),
    ('unit/shield', 'lib/sched/wait/extent.c',
     'a child\'s shield gives its cancel to its parent\'s',
     'f->outer && f->outer->owner == me ?', 'f->outer ?'),
    ('unit/shield', 'lib/sched/wait/extent.c', 'a parent\'s shield keeps the cancel of a child',
     'shield = f->owner == co ? f->shield : NULL;', 'shield = f->shield;'),
    ('unit/marks', 'lib/sched/state/marks.c', 'a stack keeps the marks of the coroutine before',
     'hauli_stack_wipe(stack);', ';'),
    ('unit/marks', 'lib/sched/state/marks.c', 'coroutines that run on have no marks',
     'hauli_slab_for_each(coros, note_live, m);', ';'),
    ('unit/marks', 'lib/sched/spawn/life.c',
     'a coroutine that gives its stack to the next has no mark',
     'hauli_marks_check(c->marks, me);', ';'),
    ('unit/offer', 'lib/sched/run/poller.c', 'an offer to yield is never accepted',
     'hauli_end_long_batch(c, me);', ';'),
    ('unit/offer', 'lib/sched/run/poller.c', 'an offer to yield is always accepted',
     '>= c->run.poll_ticks', '>= 0'),
    ('net/io_misuse', 'lib/sched/run/poller.c',
     'an offer to yield in a burst handler is not reported',
     'HAULI_FLAG_PULLS | HAULI_FLAG_HANDLES', 'HAULI_FLAG_PULLS'),
    ('unit/watchdog', 'lib/sched/look/watchdog.c',
     'a poller that spins passes for one that is stuck',
     'a->cycles == b->cycles &&', 'true &&'),
    ('unit/foreign', 'lib/sched/look/watchdog.c', 'a wait in the kernel is not seen',
     'judge_wait(w, c, seen);', ';'),
    ('unit/foreign', 'lib/sched/look/watchdog.c', 'a wait in the kernel is found twice',
     'seen->told = true;\n\thauli_counter_add(&c->counts.foreign_waits, 1);',
     'hauli_counter_add(&c->counts.foreign_waits, 1);'),
    ('unit/foreign', 'lib/sched/look/foreign.c', 'a thread that is ready passes for one that waits',
     'state && count', 'count'),
    ('unit/foreign', 'lib/sched/look/foreign.c', 'a call stack ends in no code',
     'is_in(words, sizeof(words), pcs[n - 1])', 'false'),
    ('unit/watchdog', 'lib/sched/look/watchdog.c', 'a long slice counts at each look',
     'seen->told = true; hauli_counter_add(&c->counts.long_slices, 1);',
     'hauli_counter_add(&c->counts.long_slices, 1);'),
    ('unit/dump', 'lib/sched/look/snapshot.c', 'a stack that a thief may use is followed',
     'else if (!hauli_steals(c) || s->state != HAULI_CORO_READY)', 'else'),
    ('unit/poller', 'lib/sched/run/poller.c', 'a registration that fails keeps the slot',
     'if (err) hauli_trylock_release(&carrier->poller.lock);', 'if (err) (void)0;'),
    ('unit/poller', 'lib/sched/run/poller.c', 'a cancelled poller parks',
     '!c->poller.wakeup.fn || hauli_coro_is_cancelled(c->current) ||', '!c->poller.wakeup.fn ||'),
    ('unit/quiet', 'lib/sched/look/watchdog.c', 'nothing is told in real time',
     'hauli_quiet_watch(w->rt);', ';'),
    ('unit/deadlock', 'lib/sched/look/watchdog.c', 'nobody looks for deadlocks',
     'hauli_deadlocks_look(w->deadlocks);', ';'),
    ('unit/deadlock', 'lib/sched/look/deadlock.c', 'a wait with a deadline passes for one without',
     'hauli_coro_state(co) & ~HAULI_CORO_CANCELLABLE', 'hauli_coro_kind(co)'),
    ('unit/deadlock', 'lib/sched/look/deadlock.c', 'a cycle is told by each of its members',
     'if (told)', 'if (false)'),
    ('unit/deadlock', 'lib/sched/look/deadlock.c',
     'each scope passes for that of the first coroutine',
     'n > 0 && is_child(co, waits[n].object)', 'n > 0'),
    ('unit/deadlock', 'lib/sched/look/deadlock.c', 'a child is in no scope',
     'n > 0 && is_child(co, waits[n].object)', 'false'),
    ('unit/deadlock', 'lib/sched/look/deadlock.c', 'only the first coroutines are looked at',
     'd->at = (struct hauli_slab_walk){0};\n\t\t\treturn true;', 'return true;'),
    ('unit/crash', 'lib/coro/overflow.c', 'a signal from elsewhere passes for a crash',
     'return info->si_code > 0 || (info->si_code', 'return true || (info->si_code'),
    ('unit/crash', 'lib/coro/overflow.c', 'a handler of the program is replaced',
     't->shared || is_default(&t->before)', 'true'),
    ('unit/crash', 'lib/coro/overflow.c', 'the second runtime does not watch the signals',
     't->ours = false;', ';'),
    ('unit/timeline', 'lib/sched/state/ready.c', 'a wake-up is not told',
     'hauli_traced_end(c, co, end);', ';'),
    ('unit/timeline', 'lib/sched/run/round.c', 'a parked poller that suspends sleeps on',
     'hauli_sleep_end_parked(c);', 'hauli_sleep_end(c);'),
    ('unit/timeline', 'lib/sched/run/poller.c', 'a parked poller that is busy sleeps on',
     'hauli_sleep_end_parked(c); hauli_steal_is_busy(c);',
     'hauli_sleep_end(c);\n\thauli_steal_is_busy(c);'),
    ('unit/timeline', 'lib/sched/run/round.c', 'a timer ends a wait as a waker does',
     'hauli_ready_expired(c, co);', 'hauli_ready(c, co);'),
    ('unit/trace_files', 'lib/sched/state/traced.h', 'no tid', '->tid, tid);', '->tid, 0);'),
    ('unit/timeline', 'lib/sched/wait/suspend.c', 'a stop is told as that of another',
     'hauli_traced_suspend(c, me);', ';'),
    ('unit/trace_files', 'lib/coro/overflow.c', 'a crash of a PMD writes no file',
     'if (is_own(info) && tell)', 'if (is_own(info) && tell && !told)'),
    ('unit/trace_files', 'lib/sched/look/crash.c', 'the second of two crashes ends the program',
     'pause();', 'break;'),
    ('unit/trace_files', 'lib/sched/look/crash.c', 'a broken stack ends the program at once',
     'block(sig, SIG_UNBLOCK);', ';'),
    ('unit/trace_files', 'lib/sched/look/trace_files.c', 'a second signal is not heard',
     'sigaddset(&taken, sig);', ';'),
    ('unit/trace_files', 'lib/trace/timelines.c', 'a reader of timelines that were freed',
     '|| !hauli_gate_is_quiet(&s->gate)', ''),
    ('unit/crash', 'lib/sched/look/crash.c', 'a stolen coroutine passes for one at home',
     'if (hauli_coro_is_stolen(co))', 'if (false)'),
    ('unit/holder', 'lib/sync/mutex.c', 'the holder is not told',
     'hauli_crash_about((const struct haul_coro *)(uintptr_t)holder, "the holder")',
     'HAULI_ABOUT_LIVES'),
    ('unit/holder', 'lib/sync/mutex.c', 'memory that was overwritten passes for a holder',
     'about == HAULI_ABOUT_NONE', 'false'),
    ('unit/misuse', 'lib/base/assert.c', 'a plain thread has no call stack',
     'said_why = true;\n\tif', 'if'),
    ('net/io_lost', 'drivers-glue/io/lost.c', 'more buffers than the pool has pass for all',
     'avail == pool->size', 'avail >= pool->size'),
    ('net/io_lost', 'drivers-glue/io/lost.c', 'buffers that came back twice are not counted',
     'l->twice += l->free[i] == l->free[i - 1];', ';'),
    ('net/io_lost', 'drivers-glue/io/lost.c', 'free buffers in caches pass for lost ones',
     'to[n + j] = cache->objs[j];', 'to[n + j] = NULL;'),
    ('net/io_misuse', 'drivers-glue/io/poll.c', 'the watchdog does not know the poller',
     '&p->cycles, hauli_handler_order', 'NULL, hauli_handler_order'),
    ('unit/each', 'lib/sched/run/round.c',
     'values are not released', 'hauli_locals_release(c);', ';'),
    ('unit/each', 'lib/sched/wait/local.c', 'a release that suspends is not reported',
     'run_nobody(c);', ';'),
    ('unit/each', 'lib/sync/each.c', 'the last error comes back instead of the first',
     'if (!error)\n', 'if (each[i].result)\n'),
    ('unit/join_stop', 'lib/sched/run/stop.c', 'a stop does not wait for the joins of threads',
     'hauli_gate_close(&rt->joins); while (!hauli_gate_is_quiet(&rt->joins)) sched_yield();', ''),
    ('stress/join', 'lib/sched/run/stop.c', 'threads may join what a stop has ended',
     'hauli_gate_close(&rt->joins);', ';'),
    ('unit/each', 'lib/sched/run/stop.c',
     'a stop leaves a call of another thread without its answer',
     'while (!hauli_gate_is_quiet(&rt->callers))', 'while (false)'),
    ('unit/each', 'lib/sync/each.c', 'a deadline ends the wait for the carriers',
     'hauli_join_to_the_end(each[i].co);', 'haul_join(each[i].co, NULL, HAUL_FOREVER);'),
    ('unit/each', 'lib/sched/wait/no_suspend.c', 'a yield in a block is not seen',
     'c->careful = true;', ';'),
    ('unit/each', 'lib/sched/wait/no_suspend.c', 'the coroutine may not suspend after the block',
     'if (!s->handles)', 'if (false)'),
    ('unit/quiet', 'lib/sched/look/quiet.c', 'the clock jumps to a later timer',
     'if (at < look->next_at) {', 'if (at < look->next_at || !look->next ||\n\t\t'
     '\t(at != HAULI_NEVER && at > look->next_at)) {'),
    ('unit/quiet', 'lib/sched/look/quiet.c', 'the carrier of the timer sleeps on',
     'if (look->next != c)', 'if (false)'),
    ('unit/quiet', 'lib/sched/look/quiet.c', 'a stop says nothing',
     'if (is_quiet(rt, &look) && !look.next && is_stuck(rt))', 'if (false)'),
    ('unit/quiet', 'lib/sched/look/quiet.c', 'a wake-up from outside does not count',
     '!hauli_u8_shared_get(&rt->woken_from_outside)', 'true'),
    ('unit/quiet', 'lib/sched/run/round.c', 'a carrier does not look before it sleeps',
     'if (hauli_quiet_look(c))', 'if (false)'),
    ('unit/until', 'lib/sched/wait/request.c', 'the timer of a park that was unparked stays armed',
     '{ hauli_timer_disarm(&c->timers, &co->timer); hauli_wake_here(c, co); }',
     '{\n\thauli_wake_here(c, co);\n}'),
    ('unit/until', 'lib/sched/wait/request.c', 'an unpark does not end a park with a deadline',
     'else if (hauli_unlikely(hauli_coro_state(co) == (HAULI_CORO_IN_PARK | HAULI_CORO_ARMED)))',
     'else if (0)'),
    ('unit/until', 'lib/sched/wait/join.c', 'a coroutine that joins after another is a thread',
     'j->done = NULL; /* with a tag, it is read */', ''),
    ('unit/until', 'lib/sched/wait/join.c', 'a try waits',
     'if (deadline == 0 && !ended) return -EAGAIN;', ''),
    ('unit/until', 'lib/sched/wait/join.c', 'a deadline does not hold if the target has ended',
     'if (hauli_unlikely(deadline != HAUL_FOREVER) && !has_ended_here(c, me, co))',
     'if (hauli_unlikely(deadline != HAUL_FOREVER) && !hauli_coro_is_unjoined(co))'),
    ('unit/wait', 'lib/sched/wait/park.c', 'the deadline of a long sleep wraps',
     'ticks < HAULI_NEVER - now ? now + ticks : HAULI_NEVER', 'now + ticks'),
    ('unit/timer', 'lib/sched/state/timer.c', 'what one call left over is forgotten',
     'hauli_timers_recompute(ts); return n;', 'ts->next_at = HAULI_NEVER;\n\treturn n;'),
    ('unit/timer', 'lib/sched/state/timer.c', 'a call expires more than it may',
     'if (v->n + c->n > HAULI_TIMERS_DUE) return false;', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'a call moves a whole crowd',
     'v->moves--;', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'a timer that was set later expires at its old time',
     'if (hauli_unlikely(t->at > now))', 'if (0)'),
    ('unit/timer', 'lib/sched/state/timer.c', 'the timers of a call are not in order',
     'sort(v.due, n);', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'a timer does not learn that its entry moved',
     'e->timer->entry = e;', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'a kept entry moves and its timer does not learn it',
     'c->of[kept].timer->entry = &c->of[kept];', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'a chunk is lost', 'w->free = c; }', '}'),
    ('unit/timer', 'lib/sched/state/timer.c', 'an empty slot stays marked',
     'used[slot % SLOTS / 64] &= ~(UINT64_C(1) << slot % 64);', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'an empty wheel has a next time',
     'if (w->levels == 0) ts->next_at = HAULI_NEVER;', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'arming does not bring the next time forward',
     'if (t->at < ts->next_at) ts->next_at = t->at;', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'a crowd asks for no call before it is due',
     'if (c->below && moves_at(idx, level) < ts->next_at)', 'if (0)'),
    ('unit/timer', 'lib/sched/state/timer.c', 'a crowd waits for its time',
     'idx <= (w->base >> shift_of(level)) + 1 && disperse',
     'idx <= w->base >> shift_of(level) && disperse'),
    ('unit/timer', 'lib/sched/state/timer.c', 'the next call for a crowd comes when it begins',
     'return (idx > 0 ? idx - 1 : 0) << shift_of(level);', 'return idx << shift_of(level);'),
    ('unit/timer', 'lib/sched/state/timer.c', 'base passes slots in use',
     'if (last < now) now = last;', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'base stands still',
     'if (now > w->base) w->base = now;', ''),
    ('unit/timer', 'lib/sched/state/timer.c', 'a timer before base gets a slot of its own time',
     'uint64_t from = at > w->base ? at : w->base;', 'uint64_t from = at;'),
    ('unit/timer', 'lib/sched/state/timer.c', 'a level reaches one slot too far',
     '(w->base >> below) < SLOTS ?', '(w->base >> below) <= SLOTS ?'),
    ('unit/timer', 'lib/sched/state/timer.c', 'the lower levels come first',
     'levels = ts->wheel->levels & ((1u << level) - 1));) {'
     ' level = 31 - (unsigned)__builtin_clz(levels);',
     'levels = ts->wheel->levels >> (level + 1) % 12 << (level + 1) % 12);) {\n'
     '\t\tlevel = (unsigned)__builtin_ctz(levels);'),
    ('unit/timer', 'lib/sched/state/timer.c', 'only the first level with timers is looked at',
     'next = c->of[i].at < next ? c->of[i].at : next; }',
     'next = c->of[i].at < next ? c->of[i].at : next;\n\t\tbreak;\n\t}'),
    ('unit/timer', 'lib/sched/state/timer.h', 'a time-out that was cancelled ends a sleep',
     'return ts->next_at == HAULI_NEVER ? HAULI_NEVER : hauli_timers_recompute(ts);',
     'return ts->next_at;'),
    ('unit/runq', 'lib/sched/state/runq.h', 'a push overtakes the backlog',
     'if (hauli_unlikely(!hauli_ring_push(&q->ring, entry)))',
     'hauli_ring_shut(&q->ring, false);\n\tif (hauli_unlikely(!hauli_ring_push(&q->ring, entry)))'),
    ('unit/crowd', 'lib/sched/mail/mail.c', 'a call handles all mail',
     'for (; *at && n < HAULI_MAIL_MOST; n++) at', 'for (; *at; n++)\n\t\tat'),
    ('unit/crowd', 'lib/sched/mail/mail.c', 'a rest of the mail is slept over',
     'hauli_inbox_keep(&c->mail.inbox, &d->mark);', ';'),
    ('unit/crowd', 'lib/sched/mail/mail.c', 'a thief gives up at mail that it cannot use',
     'hauli_u8_owned_set(&d->stealable, !is_searched(d)); return found;',
     'hauli_u8_owned_set(&d->stealable, false);\n\treturn found;'),
    ('unit/crowd', 'lib/sched/wait/join.c', 'a joiner of many does not suspend',
     'if (hauli_unlikely(c->wait.joins == 0))', 'if (0)'),
    ('unit/crowd', 'lib/sched/run/stop.c', 'a stop cancels all in one step', '#define STEP 64',
     '#define STEP 100000'),
    ('unit/crowd', 'lib/sched/run/stop.c', 'a stop cancels the first step only',
     'hauli_mail_send(c, msg); else c->phase',
     'c->phase = HAULI_PHASE_DRAINS;\n\telse\n\t\tc->phase'),
    ('unit/delay', 'lib/sched/run/stop.c', 'a stop counts the time without a CPU',
     'hauli_limit_spend(&limit, slice, delay_of_carriers(rt));',
     'hauli_limit_spend(&limit, slice, 0);'),
    ('net/io_starved', 'drivers-glue/io/start.c', 'a stop counts the time without a CPU',
     'hauli_limit_spend(limit, slice, delay_of_pollers(io));',
     'hauli_limit_spend(limit, slice, 0);'),
    ('unit/delay', 'lib/base/delay.h', 'a limit counts the time without a CPU',
     'uint64_t own = elapsed > delay ? elapsed - delay : 0;', 'uint64_t own = elapsed;'),
    ('unit/delay', 'lib/base/delay.h', 'a limit gives back no time that was told late',
     'l->left += late < l->most - l->left ? late : l->most - l->left;', '(void)late;'),
    ('unit/delay', 'lib/base/delay.h', 'a limit grows without end',
     'l->left += late < l->most - l->left ? late : l->most - l->left;', 'l->left += late;'),
    ('unit/delay', 'lib/base/delay.h', 'a limit counts the time in which the process was stopped',
     'own = own < slice ? own : slice;', ''),
    ('unit/delay', 'lib/base/delay.h', 'a late look at a thread that loops gives it time',
     'uint64_t own = elapsed > delay ? elapsed - delay : 0;',
     'uint64_t own = slice > delay ? slice - delay : 0;'),
    ('unit/delay', 'lib/base/delay.h', 'a wait for a CPU that lasts is not seen',
     'bool waits = now->ready && now->ran == d->last.ran;', 'bool waits = false;'),
    ('unit/delay', 'lib/base/delay.h', 'a wait for a CPU counts again when it is over',
     'told > d->ahead ? told - d->ahead : 0;', 'told;'),
    ('unit/delay', 'lib/base/delay.h', 'a thread that loops waits for a CPU',
     'bool waits = now->ready && now->ran == d->last.ran;', 'bool waits = now->ready;'),
    ('unit/delay', 'lib/base/delay.h', 'a thread that sleeps waits for a CPU',
     'bool waits = now->ready && now->ran == d->last.ran;',
     'bool waits = now->ran == d->last.ran;'),
    ('unit/stop', 'lib/sched/run/stop.c', 'what the stop has ended counts as forgotten',
     'hauli_coro_is_unjoined(co) && !co->fn', 'hauli_coro_is_unjoined(co)'),
    ('unit/stop', 'lib/sched/run/stop.c', 'a stop does not wait for a spawner under way',
     'while (!hauli_gate_is_quiet(&rt->gate)) sched_yield();', ''),
    ('unit/order', 'lib/sched/wait/suspend.c', 'one that needs its home yields instead',
     'hauli_stolen_go_home(c, me, HAULI_BACK_SAME);',
     'hauli_stolen_go_home(c, me, HAULI_BACK_YIELD);'),
    ('unit/steal', 'lib/sched/steal/stolen.c', 'an unpin undoes what the spawn said',
     'me->pinned &= (uint8_t)~HAULI_PINNED_BY_CALL;', 'me->pinned = hauli_coro_is_poller(me);'),
    ('unit/order', 'lib/sched/wait/order.c',
     'one that sends in a later slice goes before all others',
     ' && c->steal.orders.left_pops == hauli_ring_popped(&c->runq.ring)', ''),
    ('unit/order', 'lib/sched/wait/order.c',
     'a place may be none', 'rank += 2 * (rank == 0);', ''),
    ('unit/order', 'lib/sched/wait/order.c',
     'a coroutine that has begun is asked for its order key',
     'hauli_ctx_is_unstarted(&co->co.ctx) ? ask(v, co) : 0;', 'ask(v, co);'),
    ('unit/handover', 'lib/sched/mail/handover.c',
     'an owner that ends does not wait for its wake-up',
     'while (!hauli_inbox_is_quiesced(&h->inbox)) sched_yield();', ''),
    ('unit/handover', 'lib/sched/mail/handover.c',
     'an owner that ends misses the waker of its last wait',
     '(void)hauli_inbox_drain(&h->inbox);', ''),
    ('unit/policy', 'lib/sched/state/policy.c', 'a thief that clears a request does not recheck',
     'hauli_help_clear_request(&p->help, w); if (has_surplus(p, w)) return wanted;',
     'hauli_help_clear_request(&p->help, w);'),
    ('unit/policy', 'lib/sched/state/policy.c',
     'a searcher does not recheck after giving its token back',
     'hauli_help_give_token(&p->help, token);',
     'hauli_help_give_token(&p->help, token);\n\t\tif (p)\n\t\t\treturn;'),
    ('unit/policy', 'lib/sched/state/policy.c',
     'a carrier that goes idle does not recheck the others',
     'if (!has_surplus(p, v) || !hauli_help_request(&p->help, v)) continue;', 'continue;'),
    ('unit/fences', 'lib/conc/fence.h', 'a light fence is nothing',
     'atomic_signal_fence(memory_order_seq_cst /* fence.E1:F of the compiler only */);', ''),
    ('unit/fences', 'lib/conc/fence.h', 'a full fence is one of the compiler only',
     'atomic_thread_fence(memory_order_seq_cst /* fence.E1:F */);',
     'atomic_signal_fence(memory_order_seq_cst);'),
    ('unit/fences', 'drivers-glue/io/wait.c', 'no barrier between arming and looking',
     'rte_smp_mb();', ''),
    ('unit/steal_steps', 'lib/sched/wait/request.c', 'a canceller requests no help',
     'hauli_ready(c, co); hauli_steal_offer_here(c);', 'hauli_ready(c, co);'),
    ('unit/steal_steps', 'lib/sched/wait/suspend.c', 'a returning coroutine requests no help',
     'if (hauli_mail_send(home, &co->back_msg) && yields) hauli_steal_offer(home);',
     'hauli_mail_send(home, &co->back_msg);'),
    ('unit/steal_steps', 'lib/sched/steal/steal.c', 'a carrier that begins to run keeps its search',
     'c->run.lately.typical); hauli_steal_is_busy(c);', 'c->run.lately.typical);'),
    ('unit/steal_steps', 'lib/sched/steal/steal.c', 'a theft takes one too many',
     'while (n < most &&', 'while (n <= most &&'),
    ('unit/steal_steps', 'lib/sched/steal/groups.c', 'a theft may take one too many',
     'r.most = opts->steal_most;', 'r.most = opts->steal_most + 1;'),
    ('unit/steal_steps', 'lib/sched/wait/park.c',
     'a returned sleeper sleeps though it is cancelled',
     'if (hauli_coro_is_cancelled(co)) return false;', ''),
    ('unit/steal_steps', 'lib/sched/wait/park.c', 'a returned one parks though it is cancelled',
     'hauli_permit_is_given(&co->permit) || hauli_coro_is_cancelled(co)',
     'hauli_permit_is_given(&co->permit)'),
    ('unit/steal_steps', 'lib/sched/steal/stolen.c',
     'a detached one that has ended elsewhere stays',
     'if (co->detached) hauli_coro_free(c, co);', ''),
    ('unit/steal_steps', 'lib/sched/steal/stolen.c', 'a pin leaves a stolen one where it is',
     'hauli_go_on_at_home(c, me);', ''),
    ('unit/steal_steps', 'lib/sched/wait/park.c', 'a try to park leaves the permit that it finds',
     'return hauli_permit_take_remote(&me->permit) ? 0 : -EAGAIN;',
     'return hauli_permit_is_given(&me->permit) ? 0 : -EAGAIN;'),
    ('unit/steal_steps', 'lib/sched/wait/park.c',
     'a remote coroutine leaves the permit that it takes',
     'if (hauli_permit_take_remote(&me->permit)) return 0; return cancelled(me)',
     'if (hauli_permit_is_given(&me->permit))\n\t\treturn 0;\n\treturn cancelled(me)'),
    ('unit/steal_steps', 'lib/sched/run/poller.c', 'a poller does not give way to a search',
     'else if (has_napped(c) || (', 'else if (('),
    ('unit/steal_steps', 'lib/sched/run/poller.c', 'a poller with input keeps its search',
     'if (had_io) hauli_steal_is_busy(c);', 'if (had_io)\n\t\t;'),
    ('net/io_steal', 'drivers-glue/io/poll.c', 'a queue does not see the ends of stolen handlers',
     'form.steals = r->home != NULL;', 'form.steals = false;'),
    ('net/io_burst', 'drivers-glue/io/poll.c', 'a source beside a handler is not called',
     'sent = send_too(p);', ';'),
    ('net/io_times', 'drivers-glue/io/poll.c', 'stages are not recorded',
     'if (form.timed || form.traced || form.sheds) return poll_observed(p);', ';'),
    ('net/io_traced', 'drivers-glue/io/poll.c', 'a round begins with the one before',
     'uint64_t began = form.traced ? hauli_glue_trace_now() : 0;',
     'static uint64_t last; uint64_t began = last; last = hauli_timer_ticks();'),
    ('net/io_packet', 'drivers-glue/io/poll.c', 'a poller begins before all carriers have theirs',
     'while (hauli_u32_published_get(&p->may_begin) == 0)', 'while (0)'),
    ('net/io_steal', 'lib/sched/run/poller.c', 'a poller with a burst keeps its search',
     'hauli_sleep_end_parked(c); hauli_steal_is_busy(c); }', 'hauli_sleep_end_parked(c);\n}'),
    ('net/io_steal', 'lib/sched/run/poller.c', 'a poller with a burst is marked asleep',
     'if (hauli_unlikely(c->mail.inbox.sleeps)) /* its mail may hold a search */', 'if (0)'),
    ('net/io_wait', 'drivers-glue/io/spread.c', 'an RPS target does not listen',
     'if (r->target) hauli_handover_listen(&r->target->in);', ''),
    ('net/io_wait', 'drivers-glue/io/wait.c', 'a poller waits though its set has no room',
     'if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) return false;',
     '(void)epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev);'),
    ('net/io_wait', 'drivers-glue/io/wait.c', 'a call on a descriptor does not end the wait',
     'if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) return false;', '(void)ev;'),
    ('net/io_wait', 'drivers-glue/io/wait.c', 'a wake-up ends each wait from then on',
     'wake = {.events = EPOLLIN | EPOLLET}', 'wake = {.events = EPOLLIN}'),
    ('net/io_wait', 'drivers-glue/io/wait.c', 'a wake-up before the wait is lost',
     '(void)eventfd_write(w->wake, 1);', ';'),
    ('net/io_wait', 'drivers-glue/io/spread.c', 'a tx proxy does not listen',
     'if (r->proxy) hauli_handover_listen(&r->proxy->in);', ''),
    ('net/io_wait', 'drivers-glue/io/idle.c', 'a poller that waits does not listen',
     'hauli_spread_listen(p);', ''),
    ('net/io_wait', 'drivers-glue/io/idle.c', 'a poller does not ask whether it may wait',
     'if (!io && hauli_spread_wakes(p) && haul_poller_can_park())', 'if (!io)'),
    ('net/io_wait', 'drivers-glue/io/spread.c', 'a tx proxy does not wait for its targets',
     '->drained) == 0) return false;', '->drained) == 0)\n\t\t\t\treturn true;'),
    ('net/io_wait', 'drivers-glue/io/drain.c', 'an RPS target says too early that it is drained',
     'hauli_spread_drop_received(p);',
     'hauli_spread_drop_received(p);\n\thauli_u32_published_set(&p->drained, 1);'),
    ('net/io_stuck', 'drivers-glue/io/drain.c', 'a stop spins while handlers wait',
     'if (handlers && !cancels && !hauli_has_to_send(p))', 'if (false)'),
    ('net/test_port', 'lib/sched/run/round.c', 'a poller without input keeps its carrier awake',
     'if (hauli_unlikely(c->poller.rests)) {', 'if (false) {'),
    ('net/test_port', 'lib/sched/run/poller.c', 'a poller with input lets its carrier sleep',
     'c->poller.rests = !had_io;', 'c->poller.rests = true;'),
    ('net/test_port', 'drivers-glue/io/test.c', 'a wire does not listen',
     'hauli_handover_listen(&w->in);', ';'),
    ('net/test_port', 'drivers-glue/io/test.c', 'frames are taken before their instant is over',
     'if (w && *at < now) *frame = w->frames[w->first++];',
     'if (w) *frame = w->frames[w->first++];\n\tnow = HAUL_FOREVER;'),
    ('unit/scope_on', 'lib/sync/scope.c', 'a cancel stops at the stand-in',
     'haul_cancel(r->worker); break; }', 'break;\n\t\t}'),
    ('unit/scope_on', 'lib/sync/scope.c', 'a worker is outside the scope',
     'hauli_extent_inherit(me, &r->scope->extent);', ';'),
    ('unit/scope_on', 'lib/sync/scope.c', 'a cancel from another carrier is not heard',
     'if (said & SAYS_CANCEL)', 'if (false)'),
    ('unit/scope_on', 'lib/sync/scope.c', 'a worker that fails is no failure',
     'return (int)(intptr_t)result;', 'return 0;'),
    ('unit/scope_on', 'lib/sync/scope.c', 'a worker ends without a word',
     'say(r, SAYS_ENDED);', ';'),
    ('unit/sync_misuse', 'lib/sync/chan.c', 'a closed channel was never destroyed',
     'if (ch->destroyed) hauli_misuse(call', 'if (false) hauli_misuse(call'),
]
MUTATIONS += mutations_of_descriptors.MUTATIONS + mutations_of_flows.MUTATIONS
MUTATIONS += mutations_of_hibernation.MUTATIONS + mutations_of_offload.MUTATIONS
MUTATIONS += mutations_of_hosts.MUTATIONS + mutations_of_moves.MUTATIONS
MUTATIONS += mutations_of_parts.MUTATIONS + mutations_of_records.MUTATIONS
MUTATIONS += mutations_of_simulations.MUTATIONS


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


# Tests that need more than the library's own code, and tests' shared code; or arguments to link.
SOURCES = (mutations_of_descriptors.SOURCES | mutations_of_flows.SOURCES |
           mutations_of_hosts.SOURCES | mutations_of_moves.SOURCES | mutations_of_parts.SOURCES)
BED = ['tests/net/io_bed.c', 'tests/net/io_flows.c']


class Tests:
    LONGEST = 600  # seconds

    def __init__(self, root, compiler, build, work):
        """work: a folder for the objects that mutations share."""
        self.root, self.compiler = root, compiler
        flags = ['-std=gnu17', '-D_GNU_SOURCE', '-O2', '-w'] + output_of(
            'pkg-config', '--cflags', 'check', 'hwloc', 'liburing', 'libdpdk')
        self.objects = Objects(root, compiler + flags, (
            'lib', 'lib/include', 'drivers-glue', 'drivers-glue/include', 'tests'), work)
        self.simulated = Simulated(root, build)
        self.wholes = {}  # for each test, its command with nothing broken
        self.seconds = {}  # for each test, its seconds with nothing broken, or why it fails
        self.locks = collections.defaultdict(threading.Lock)
        libs = output_of('pkg-config', '--libs', 'check', 'hwloc', 'liburing') + ['-pthread', '-lm']
        core = [os.path.join(build, 'lib/libhaul_core.a')] + libs
        self.libs = {
            'unit': core,
            'stress': core,
            'net': [os.path.join(build, 'lib/libhaul_whole.a')] + libs + output_of(
                'pkg-config', '--libs', 'libdpdk'),
        }

    def script(self, root, test):
        """The command of a test that is a script and reads the sources in root; or None."""
        path = os.path.join(root, 'tests', test + '.py')
        command = [sys.executable, path, root, ' '.join(self.compiler)]
        return command if os.path.exists(path) else None

    def build(self, work, test, broken):
        suite = os.path.dirname(test)
        if suite == 'sim':
            return self.simulated.build(work, test, broken)
        program = os.path.join(work, 'test')
        sources = [os.path.join('tests', test + '.c')] + (BED if suite == 'net' else [])
        sources += SOURCES.get(test, [])
        # Linked before the library, it replaces the library's object.
        if broken.endswith('.c') and broken not in sources:
            sources.append(broken)
        if self.script(work, test):
            return self.script(work, test)
        objects = [s if s[0] == '-' else self.objects.of(work, s, broken) for s in sources]
        subprocess.run(self.compiler + objects + self.libs[suite] + ['-o', program],
                       check=True, capture_output=True, text=True)
        return [program]

    def whole(self, test):
        """The command of a test with nothing broken."""
        with self.locks[test]:
            if test not in self.wholes:
                folder = os.path.join(self.objects.work, test)
                os.makedirs(folder)
                self.wholes[test] = (self.script(self.root, test) or
                                     self.build(folder, test, UNBROKEN))
            return self.wholes[test]

    def whole_seconds(self, test):
        command = self.whole(test)
        with self.locks[test]:
            if test not in self.seconds:
                begin = time.monotonic()
                failed = why_failed(command, self.LONGEST)
                self.seconds[test] = failed or time.monotonic() - begin
            return self.seconds[test]

    def is_caught(self, test, command):
        seconds = self.whole_seconds(test)
        if isinstance(seconds, str):
            return False, 'the test fails with nothing broken: ' + seconds
        limit = 1 + 4 * seconds
        while limit < self.LONGEST:
            failed = why_failed(command, limit)
            if failed != ENDLESS:
                return failed is not None, failed or 'the test passes'
            # The machine may have become busier: does it end with nothing broken?
            if why_failed(self.whole(test), limit) is None:
                return True, f'{failed}: {limit:.1f} s'
            limit *= 4
        return False, f'the test {ENDLESS} with nothing broken: {limit:.1f} s'


UNBROKEN = ''  # the name of no file
ENDLESS = 'does not end'


def why_failed(command, limit):
    """None if the test passes within so many seconds."""
    env = os.environ | {
        'CK_TAP_LOG_FILE_NAME': '-', 'CK_VERBOSITY': 'silent', 'CK_FORK': 'no',
        'HAUL_TEST_MACHINES': os.path.join(os.path.dirname(__file__), 'unit/machines')}
    try:
        run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=limit)
    except subprocess.TimeoutExpired:
        return ENDLESS
    if run.returncode == 0:
        return None
    failed = next((line for line in run.stdout.splitlines() if line.startswith('not ok')), None)
    return failed or f'ends with {run.returncode}'


def main():
    root, compiler, build = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    chosen = [m for m in MUTATIONS if len(sys.argv) < 5 or m[0].startswith(sys.argv[4])]
    with tempfile.TemporaryDirectory() as work:
        tests = Tests(root, compiler.split(), build, work)
        sys.exit(mutate.run_all(chosen, lambda m: mutate.verdict(
            root, ('lib', 'drivers-glue', 'apps', 'tests'), m, tests.build, tests.is_caught)))


if __name__ == '__main__':
    main()
