/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a carrier, by the real carrier.c and mail.c: it sleeps, a thread sends it its last
 * message, and it ends by that. The thread may still be about to wake it then, and only when it has
 * done so the carrier may be taken away.
 */
#include "explorer.h"
#include "sched/carrier.c"
#include "sched/spawn.h"
#include "sched/stolen.h"
#include "sched/wait.h"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* nothing waits there */
	struct hauli_call last;
} m;

static void finish(struct hauli_call *call)
{
	m.c.phase = HAULI_FINISHED;
}

static void init(void)
{
	struct haul_carrier *c = &m.c;

	c->cluster = &m.cluster;
	hauli_timers_init(&c->timers);
	hauli_inbox_init(&c->inbox);
	m.last.msg.kind = HAULI_MSG_CALL;
	m.last.fn = finish;
}

static void carrier(void)
{
	hauli_carrier_main(&m.c);
	hauli_fence_full(); /* who joins the thread frees it */
	model_free(&m.c, sizeof(m.c));
}

static void sender(void)
{
	hauli_mail_send(&m.c, &m.last.msg);
}

/* What a thread needs that runs coroutines. */
void hauli_self_set(struct haul_carrier *c)
{
}

void hauli_co_init_thread(struct hauli_co *co)
{
}

void hauli_co_fini_thread(struct hauli_co *co)
{
}

struct hauli_exceptions *hauli_exceptions_here(void)
{
	return NULL;
}

void hauli_overflow_thread_init(void)
{
}

void hauli_overflow_thread_fini(void)
{
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a carrier's end",
			.nb_threads = 2,
			.threads = {carrier, sender},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}

/* The rest of lib/sched that is referred to, and that this model never comes to. */
MODEL_NEVER(struct haul_carrier *, hauli_here, void)
MODEL_NEVER(struct haul_coro *, haul_self, void)
MODEL_NEVER(void, hauli_order_ask, void)
MODEL_NEVER(void, hauli_policy_offer, struct hauli_policy *p, unsigned seat)
MODEL_NEVER(
	void, hauli_stack_cache_init, struct hauli_stack_cache *cache, struct hauli_stacks *arena)
MODEL_NEVER(void, hauli_stack_cache_fini, struct hauli_stack_cache *cache)
MODEL_NEVER(int, hauli_runq_init, struct hauli_runq *q)
MODEL_NEVER(void, hauli_runq_fini, struct hauli_runq *q)
MODEL_NEVER(void, hauli_runq_refill, struct hauli_runq *q)
MODEL_NEVER(void, hauli_backlog_push, struct hauli_runq *q, struct haul_coro *co)
MODEL_NEVER(void, hauli_runtime_drained, struct haul_runtime *rt)
MODEL_NEVER(void, hauli_cancel_here, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(bool, hauli_join_here, struct haul_carrier *c, struct hauli_join *j)
MODEL_NEVER(void, hauli_join_wake, struct haul_carrier *c, struct hauli_join *j)
MODEL_NEVER(void, hauli_coro_free, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(void, hauli_coro_left_apart, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(void, hauli_stolen_is_back, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(void, hauli_steal_search, struct haul_carrier *c, struct hauli_search *s)
MODEL_NEVER(void, hauli_steal_chain_begins, struct haul_carrier *c, uint64_t now)
MODEL_NEVER(void, hauli_steal_chain_ended, struct haul_carrier *c)
MODEL_NEVER(bool, hauli_steal_idle, struct haul_carrier *c)
MODEL_NEVER(void, hauli_steal_lie_down, struct haul_carrier *c)
MODEL_NEVER(bool, hauli_steal_may_stay, struct haul_carrier *c)
MODEL_NEVER(void, hauli_requests_here, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(void, hauli_steal_got_up, struct haul_carrier *c)
MODEL_NEVER(void, hauli_stacks_for_each, struct hauli_stacks *arena,
	void (*fn)(struct hauli_co *co, void *arg), void *arg)
MODEL_NEVER(void, hauli_timer_disarm, struct hauli_timers *ts, struct hauli_timer *t)
MODEL_NEVER(uint64_t, hauli_ticks_from_ns, uint64_t ns)
MODEL_NEVER(struct timespec, hauli_monotonic_at, uint64_t ticks)
MODEL_NEVER(
	void, hauli_suspend_with_care, struct haul_carrier *c, struct haul_coro *me, bool publish)
MODEL_NEVER(void, hauli_coro_ready_apart, struct haul_carrier *c, struct haul_coro *co,
	void (*push)(struct hauli_runq *q, struct haul_coro *co))
