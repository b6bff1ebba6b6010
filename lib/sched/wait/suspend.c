/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/wait/suspend.h"

#include "sched/mail/mail.h"
#include "sched/state/group.h"
#include "sched/state/no_suspend.h"
#include "sched/state/self.h"

void hauli_may_suspend(const struct haul_coro *me, const char *call)
{
	uint8_t flags = hauli_u8_shared_get(&me->flags);

	if (flags & HAULI_FLAG_NOBODY)
		hauli_misuse(
			call, "called outside a coroutine; call it in what haul_spawn() was given");
	if (hauli_here()->wait.no_suspend)
		hauli_misuse(call,
			"called in the block of HAUL_NO_SUSPEND() at %s; let the block end before",
			hauli_here()->wait.no_suspend->where);
	if (flags & HAULI_FLAG_HANDLES)
		hauli_misuse(call,
			"called in a burst handler or a source, which must not suspend; "
			"give haul_io_opts.on_packet instead");
}

void hauli_suspend_slow(struct haul_carrier *c, struct haul_coro *me, bool publish)
{
	struct hauli_exceptions mine =
		c->exceptions ? *c->exceptions : (struct hauli_exceptions){NULL, 0};
	struct hauli_co *next;
	bool nobody;

	hauli_unseen_begin(); /* carriers without a timeline do not look */
	nobody = hauli_u8_shared_get(&me->flags) & HAULI_FLAG_NOBODY;
	hauli_unseen_end();
	if (nobody || c->wait.no_suspend)
		hauli_may_suspend(me, "haul_yield"); /* all other calls have checked this before */
	if (c->exceptions)
		*c->exceptions = (struct hauli_exceptions){NULL, 0};
	if (publish)
		hauli_ptr_published_set(&c->left, me);
	next = hauli_next(c);
	hauli_traced_suspend(c, me);
	c = hauli_co_switch(&me->co, next, c);
	hauli_arrive(c);
	if (c->exceptions)
		*c->exceptions = mine;
}

void hauli_end_batch(struct haul_carrier *c, struct haul_coro *me)
{
	hauli_ring_close(&c->runq.ring);
	hauli_suspend(c, me, true);
}

/* When slices begin is not noted, but that of the first in a batch is known, and that of a
 * coroutine that has ended a long batch before. */
bool hauli_is_long_slice(const struct haul_carrier *c)
{
	uint32_t popped = hauli_ring_popped(&c->runq.ring);
	uint64_t began;

	if (popped == c->run.gone_on.popped)
		began = c->run.gone_on.at;
	else if (popped == c->run.popped + 1)
		began = hauli_u64_owned_get(&c->steal.batch_began);
	else
		return false;
	return hauli_ticks() - began >= c->run.poll_ticks / 2;
}

/* Out of line: the carrier may be another one than before, and its thread, too. */
__attribute__((noinline)) void hauli_slice_goes_on(void)
{
	struct haul_carrier *c = hauli_here();

	c->run.gone_on.popped = hauli_ring_popped(&c->runq.ring);
	c->run.gone_on.at = hauli_ticks();
}

void hauli_end_long_batch(struct haul_carrier *c, struct haul_coro *me)
{
	bool is_long = hauli_is_long_slice(c);

	hauli_ring_close(&c->runq.ring);
	if (hauli_coro_is_stolen(me)) {
		hauli_stolen_go_home(c, me, is_long ? HAULI_BACK_OVER : HAULI_BACK_YIELD);
	} else {
		if (is_long)
			hauli_runq_leave_long(&c->runq, hauli_entry_of_begun(me));
		hauli_suspend(c, me, !is_long);
	}
	hauli_slice_goes_on();
}

void hauli_stolen_go_home(struct haul_carrier *c, struct haul_coro *me, enum hauli_back how)
{
	me->back = (uint8_t)how;
	hauli_suspend(c, me, true);
}

struct haul_carrier *hauli_go_on_at_home(struct haul_carrier *c, struct haul_coro *me)
{
	struct haul_carrier *home;

	if (hauli_likely(!hauli_coro_is_stolen(me)))
		return c;
	home = hauli_coro_home(me);
	if (c != home) {
		me->pinned |= HAULI_PINNED_FOR_NOW;
		hauli_stolen_go_home(c, me, HAULI_BACK_SAME);
		me->pinned &= (uint8_t)~HAULI_PINNED_FOR_NOW;
	}
	return home;
}

void hauli_stolen_send_home(struct haul_carrier *c, struct haul_coro *co)
{
	struct haul_carrier *home = hauli_coro_home(co);
	bool yields = co->back == HAULI_BACK_YIELD || co->back == HAULI_BACK_OVER;

	/* The message's kind was set by the thief. */
	if (hauli_mail_send(home, &co->back_msg) && yields)
		hauli_steal_offer(home);
}

void hauli_coro_left_behind(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_backlog_push(&c->runq, hauli_entry_of_begun(co));
}

void hauli_coro_left_slow(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_coro_state(co) != HAULI_CORO_READY) {
		hauli_coro_drop_stack(c, co);
		hauli_coro_free(c, co);
		return;
	}
	if (hauli_coro_is_stolen(co)) {
		hauli_stolen_send_home(c, co);
		return;
	}
	/* Only haul_yield() publishes a poller. */
	hauli_may_suspend(co, "haul_yield");
	hauli_coro_ready_slow(c, co, hauli_runq_push);
}
