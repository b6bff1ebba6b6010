/* SPDX-License-Identifier: BSD-3-Clause */
/* A carrier's state: init and fini, the coroutines at home there, statistics. */
#include "sched/state/carrier.h"

#define DEFAULT_ROUND_NS (50 * HAUL_US)
#define DEFAULT_POLL_INTERVAL_NS (20 * HAUL_US)
#define DEFAULT_SPIN_NS (20 * HAUL_US)
#define WAIT_SPIN_NS (2 * HAUL_US) /* a tenth of the time between two polls */

static uint64_t spin_ticks(const struct haul_runtime_opts *opts, uint64_t most)
{
	return hauli_ticks_from_ns(opts->spin_ns && opts->spin_ns < most ? opts->spin_ns : most);
}

int hauli_carrier_init(struct haul_carrier *c, struct haul_runtime *rt, struct hauli_slab *coros,
	struct hauli_stacks *stacks, unsigned id, const struct haul_place *place,
	const struct haul_runtime_opts *opts)
{
	int err;

	*c = (struct haul_carrier){
		.rt = rt,
		.id = id,
		.place = *place,
		.run.lately.budget = 1,
		.run.slices_per_batch = HAULI_SLICES_PER_BATCH,
		.run.spin.ticks =
			hauli_ticks_from_ns(opts->spin_ns ? opts->spin_ns : DEFAULT_SPIN_NS),
		.wait.spin.ticks = spin_ticks(opts, WAIT_SPIN_NS),
		.spawn.path = HAULI_PATH_FAST,
		.run.round_ticks =
			hauli_ticks_from_ns(opts->round_ns ? opts->round_ns : DEFAULT_ROUND_NS),
		.run.poll_ticks = hauli_ticks_from_ns(
			opts->poll_interval_ns ? opts->poll_interval_ns : DEFAULT_POLL_INTERVAL_NS),
	};
	hauli_inbox_init(&c->mail.inbox);
	hauli_slab_cache_init(&c->coros, coros);
	hauli_stack_cache_init(&c->stacks, stacks);
	err = hauli_timers_init(&c->timers, HAULI_RUNQ_MAX);
	if (err)
		return err;
	err = hauli_runq_init(&c->runq);
	if (err)
		hauli_timers_fini(&c->timers);
	return err;
}

void hauli_carrier_fini(struct haul_carrier *c)
{
	if (c->spawn.spare) {
		hauli_coro_drop_stack(c, c->spawn.spare);
		hauli_coro_free(c, c->spawn.spare);
	}
	if (c->spawn.as_new)
		hauli_coro_free(c, c->spawn.as_new);
	if (c->spawn.warm_of)
		hauli_stack_put_checked(&c->stacks, c->spawn.warm.stack);
	hauli_stack_cache_fini(&c->stacks);
	hauli_timers_fini(&c->timers);
	hauli_slab_cache_fini(&c->coros);
	hauli_runq_fini(&c->runq);
}

void hauli_coro_free_later(struct haul_coro *co)
{
	hauli_coro_set_state(co, HAULI_CORO_ZOMBIE);
	co->detached = true; /* so that a join or detach of it is misuse */
}

void hauli_coro_ready_slow(struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push)
{
	if (hauli_coro_is_kept(co))
		hauli_runq_push_pinned(&c->runq, hauli_entry_of_begun(co), push);
}

void haul_carrier_get_stats(const struct haul_carrier *c, struct haul_carrier_stats *st)
{
	HAUL_MISUSE_IF(!c, HAULI_NO_CARRIER);
	*st = (struct haul_carrier_stats){
		.rounds = hauli_counter_read(&c->counts.rounds),
		.slices = hauli_counter_read(&c->counts.slices),
		.spawned = hauli_counter_read(&c->counts.spawned),
		.ended = hauli_counter_read(&c->counts.ended),
		.wakeups = hauli_inbox_calls(&c->mail.inbox),
		.messages = hauli_counter_read(&c->counts.messages),
		.parks = hauli_counter_read(&c->counts.parks),
		.stolen = hauli_counter_read(&c->counts.stolen),
		.steals_failed = hauli_counter_read(&c->counts.steals_failed),
		.searches = hauli_counter_read(&c->counts.searches),
		.long_slices = hauli_counter_read(&c->counts.long_slices),
		.foreign_waits = hauli_counter_read(&c->counts.foreign_waits),
		.no_suspends = hauli_counter_read(&c->counts.no_suspends),
		.hibernations = hauli_counter_read(&c->counts.hibernations),
		.thaws = hauli_counter_read(&c->counts.thaws),
		.placed_yields = hauli_counter_read(&c->counts.placed_yields),
		.rescues = hauli_counter_read(&c->counts.rescues),
		.rescues_refused = hauli_counter_read(&c->counts.rescues_refused),
	};
}

unsigned haul_carrier_id(const struct haul_carrier *c)
{
	HAUL_MISUSE_IF(!c, HAULI_NO_CARRIER);
	return c->id;
}

const struct haul_place *haul_carrier_place(const struct haul_carrier *c)
{
	HAUL_MISUSE_IF(!c, HAULI_NO_CARRIER);
	return &c->place;
}

struct haul_runtime *haul_carrier_runtime(const struct haul_carrier *c)
{
	HAUL_MISUSE_IF(!c, HAULI_NO_CARRIER);
	return c->rt;
}
