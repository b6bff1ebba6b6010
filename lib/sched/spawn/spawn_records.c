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
#include "sched/state/traced.h"
#include "sched/wait/suspend.h"

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
		hauli_traced_run(c, HAUL_TRACE_ENDED);
	} else {
		hauli_coro_leave(c, me, next);
	}
	return me->arg;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Runs n objects from a->next on, or fewer. False: a coroutine has suspended, or left, those before
 * it were counted, and the objects behind it were queued. */
static inline bool run_chunk(struct haul_carrier *c, uint32_t n, uint64_t now)
{
	struct hauli_at_once *a = &c->spawn.at_once;
	struct hauli_record *first = (struct hauli_record *)((char *)*a->next + a->at);
	struct haul_coro *poller = c->current, *co = c->spawn.spare;

	first->prototype = a->prototype;
	a->stop = a->chunk = a->next + n;
	a->coro = co;
	c->spawn.spare = NULL;
	co->fn = a->prototype->fn;
	co->co.name = a->prototype->opts.name ? a->prototype->opts.name : "-";
	co->arg = first;
	hauli_record_set_fresh(co, a->prototype);
	hauli_ptr_published_set(&co->home, c);
	hauli_u64_owned_set(&c->steal.batch_began, now);
	c->current = co;
	hauli_traced_run(c, HAUL_TRACE_YIELDED);
	hauli_co_switch(&poller->co, &co->co, c);
	if (hauli_unlikely(!a->coro))
		return false;
	hauli_traced_ran(c, HAUL_TRACE_ENDED, (uint64_t)(a->next - a->first));
	a->coro = NULL;
	a->stop = NULL; /* or one that had waited before would go on with these */
	return true;
}

static void queue_rest(struct haul_carrier *c)
{
	const struct hauli_at_once *a = &c->spawn.at_once;

	hauli_runq_push_records(
		&c->runq, a->prototype, a->next, a->at, (uint32_t)(a->end - a->next));
}

/* n objects were run, and, if `waits`, the coroutine of the last one has not ended, or counts
 * itself. */
static inline uint32_t count(struct haul_carrier *c, uint32_t n, bool waits)
{
	hauli_counter_add(&c->counts.slices, n);
	hauli_counter_add(&c->counts.ended, n - waits);
	return n - waits;
}

void hauli_records_stop(struct haul_carrier *c)
{
	struct hauli_at_once *a = &c->spawn.at_once;
	bool first = hauli_runq_is_empty(&c->runq);

	(void)count(c, (uint32_t)(a->next - a->first), true);
	a->stop = NULL;
	a->coro = NULL;
	if (first)
		queue_rest(c);
	hauli_arrive(c); /* a coroutine that yields */
	if (!first)
		queue_rest(c);
}

static inline void learn(struct haul_carrier *c, uint32_t n, uint64_t start)
{
	uint64_t ticks = hauli_ticks() - start;

	if (hauli_unlikely(!hauli_slices_are_known(&c->run.lately, n, ticks)))
		hauli_slices_learn(&c->run.lately, ticks / n, c->run.poll_ticks);
}

/* Runs chunks, as long as the budget lasts and no coroutine is ready. Queues the rest. */
static __attribute__((noinline)) uint32_t run_chunks(struct haul_carrier *c, void *const *objs)
{
	struct hauli_at_once *a = &c->spawn.at_once;
	uint32_t budget = c->run.lately.budget, n = 0, ran;

	do {
		uint32_t most = least((uint32_t)(a->end - a->next), budget - n);
		uint64_t start = hauli_ticks();
		bool all = run_chunk(c, least(most, HAULI_SLICES_PER_BATCH), start);

		ran = (uint32_t)(a->next - objs) - n;
		n += ran;
		if (!all)
			return n - 1;
		learn(c, ran, start);
		budget = least(
			budget, c->run.lately.budget); /* a larger one is for the next round */
	} while (a->next != a->end && n < budget && hauli_runq_is_empty(&c->runq));
	queue_rest(c);
	return count(c, n, false);
}

/* A coroutine has woken another: it runs next. */
static __attribute__((noinline)) uint32_t end_early(struct haul_carrier *c, uint32_t n)
{
	queue_rest(c);
	return count(c, n, false);
}

uint32_t hauli_records_run(struct haul_carrier *c, const struct hauli_prototype *prototype,
	void *const objs[], ptrdiff_t at, uint32_t n)
{
	struct hauli_at_once *a = &c->spawn.at_once;
	uint64_t start;

	hauli_counter_add(&c->counts.spawned, n);
	a->prototype = prototype;
	a->first = a->next = objs;
	a->end = objs + n;
	a->at = at;
	if (hauli_unlikely(n > HAULI_SLICES_PER_BATCH) || hauli_unlikely(n > c->run.lately.budget))
		return run_chunks(c, objs);
	start = hauli_ticks();
	if (hauli_unlikely(!run_chunk(c, n, start)))
		return (uint32_t)(a->next - objs) - 1;
	if (hauli_unlikely(a->next != a->end))
		return end_early(c, (uint32_t)(a->next - objs));
	learn(c, n, start);
	return count(c, n, false);
}

static inline void run(const struct hauli_prototype *prototype, struct hauli_record *r)
{
	prototype->fn(r);
}

static inline void run_object(const struct hauli_prototype *prototype, void *obj)
{
	struct hauli_record *r =
		(struct hauli_record *)((char *)obj + hauli_here()->spawn.at_once.at);

	r->prototype = prototype;
	prototype->fn(r);
}

static HAULI_AT_ONCE struct hauli_record *at_once(struct haul_carrier *c, struct haul_coro *me)
{
	return hauli_record_at_once(c, me, run_object, NULL);
}

static void body(void *pass)
{
	hauli_record_body(
		pass, (struct hauli_body){.run = run, .at_once = at_once, .steals = false});
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
