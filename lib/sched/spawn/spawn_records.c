/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of coroutines that were spawned as records. Such a coroutine ends by becoming the next
 * one: if the next entry of the run queue is a record of the same stack class, its coroutine begins
 * on the same stack and in the same struct haul_coro, by a call. The result is the same as if that
 * memory were freed and allocated again, as the caches are last in, first out.
 *
 * This must not happen while another thread still refers to the coroutine that ends: a request
 * message is under way to it, or it is stolen and its home waits for it. Nor may a cancelled or
 * pinned coroutine pass that state on.
 *
 * At the end of a batch the carrier keeps one such coroutine as its spare, ended and without a
 * home, for the first record of the next batch.
 */
#include "sched/spawn/spawn_records.h"

#include <errno.h>

#include "sched/spawn/life.h"
#include "sched/spawn/spawn.h"
#include "sched/state/self.h"
#include "sched/wait/suspend.h"

/* Ends me, at the end of a batch, and makes it the spare coroutine, of which there is none yet.
 * Returns on the carrier's thread when me has become the coroutine of another record. */
static inline void become_spare(
	struct haul_carrier *c, struct haul_coro *me, const struct hauli_prototype *prototype)
{
	hauli_counter_add(&c->counts.ended, 1);
	hauli_coro_set_state(me, HAULI_CORO_ENDED);
	hauli_record_set_entry(me, prototype);
	hauli_ptr_published_set(&me->home, NULL);
	c->spawn.spare = me;
	c->current = NULL;
	hauli_arrive(hauli_co_switch(&me->co, &c->run.loop, c));
}

__attribute__((noinline)) void hauli_record_leave(struct haul_coro *me)
{
	struct haul_carrier *c = hauli_here();

	hauli_coro_leave(c, me, hauli_runq_pop(&c->runq));
}

/* True if me may become the coroutine of the entry, which has another prototype. */
static bool may_become(const struct haul_carrier *c, const struct haul_coro *me,
	const struct hauli_prototype *prototype, const struct hauli_entry *entry)
{
	const struct hauli_prototype *other;

	if (!hauli_entry_is_record(entry) || c->spawn.records_cancelled || me->co.stack->checks)
		return false;
	other = hauli_entry_record(entry)->prototype;
	return other->entry == prototype->entry && other->stack_class == me->co.stack->cls;
}

__attribute__((noinline)) struct hauli_record *hauli_record_next(struct haul_carrier *c,
	struct haul_coro *me, const struct hauli_prototype *prototype, struct hauli_entry *next)
{
	if (may_become(c, me, prototype, next)) {
		hauli_counter_add(&c->counts.ended, 1);
		hauli_record_reuse(me, hauli_entry_record(next));
	} else if (!next && !c->spawn.spare && !me->co.stack->checks) {
		become_spare(c, me, prototype);
	} else {
		hauli_coro_leave(c, me, next);
	}
	return me->arg;
}

static inline void run(const struct hauli_prototype *prototype, struct hauli_record *r)
{
	prototype->fn(r);
}

static void body(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){.run = run, .steals = false});
}

static void body_stealing(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){.run = run, .steals = true});
}

int hauli_prototype_init(struct hauli_prototype *prototype, struct haul_carrier *c, haul_fn *fn,
	void (*drop)(struct hauli_record *record), const struct haul_coro_opts *opts)
{
	int cls = hauli_spawn_stack_class(c->rt, opts);

	if (cls < 0 || (opts->pinned && hauli_steals(c)))
		return -EINVAL;
	*prototype = (struct hauli_prototype){.fn = fn,
		.entry = hauli_steals(c) ? body_stealing : body,
		.drop = drop,
		.opts = *opts,
		.stack_class = (uint8_t)cls,
		.fresh = hauli_record_fresh(opts)};
	return 0;
}
