/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a poller that blocks, by the real carrier.c, join.c, mail.c and poller.c of lib/sched:
 * a thread sends its carrier a message, and the poller ends by that, parked once more. The thread
 * may still be about to call the wakeup then, and sends another message; only after that the slot
 * is free, and another poller's wakeup comes there.
 */
#include <stdatomic.h>

#include <haul/driver.h>

#include "explorer.h"
#include "sched/carrier.c"
#include "sched/spawn.h"
#include "sched/stolen.h"
#include "sched/wait.h"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* nothing waits there */
	struct haul_coro poller;
	struct hauli_call last, more;
	_Atomic(uint64_t) woken; /* the wait's condition */
	bool is_last;
} m;

struct haul_carrier *hauli_here(void)
{
	return &m.c;
}

static void wakeup(void *arg)
{
	atomic_store_explicit(&m.woken, 1, memory_order_seq_cst /* a system call */);
}

static void another_wakeup(void *arg)
{
	model_fail("a poller is woken that has not parked");
}

static void finish(struct hauli_call *call)
{
	m.is_last = true;
}

static void do_nothing(struct hauli_call *call)
{
}

static void init(void)
{
	struct haul_carrier *c = &m.c;

	c->cluster = &m.cluster;
	hauli_timers_init(&c->timers);
	hauli_inbox_init(&c->inbox);
	hauli_slot_claim(&c->poller_slot);
	c->poller = c->current = &m.poller;
	c->poller_wakeup.fn = wakeup;
	m.poller.poller = true;
	hauli_mark_set(&m.poller.marks, HAULI_MARK_POLLER);
	m.last.msg.kind = HAULI_MSG_CALL;
	m.last.fn = finish;
	m.more.msg.kind = HAULI_MSG_CALL;
	m.more.fn = do_nothing;
}

static void block(void)
{
	if (!haul_try_park_poller()) {
		hauli_mail_receive(&m.c);
		return;
	}
	if (haul_can_park_poller())
		model_await(&m.woken, 8, 1);
	haul_unpark_poller();
}

static void poller(void)
{
	while (!m.is_last)
		block();
	haul_try_park_poller();
	hauli_coro_ends(&m.c, &m.poller);
	if (hauli_slot_claim(&m.c.poller_slot))
		m.c.poller_wakeup.fn = another_wakeup;
}

static void sender(void)
{
	hauli_mail_send(&m.c, &m.last.msg);
	hauli_mail_send(&m.c, &m.more.msg);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a poller's end",
			.nb_threads = 2,
			.threads = {poller, sender},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}

/* The rest of lib/sched that is referred to, and that this model never comes to. */
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
MODEL_NEVER(void, hauli_policy_end, struct hauli_thief *t)
MODEL_NEVER(bool, hauli_steal_pull, struct haul_carrier *c)
MODEL_NEVER(int, hauli_spawn_by_mail, const struct hauli_spawn *how)
MODEL_NEVER(uint64_t, hauli_ns_from_ticks, uint64_t ticks)
struct haul_carrier hauli_nowhere;
MODEL_NEVER(void, hauli_self_set, struct haul_carrier *c)
MODEL_NEVER(void, hauli_co_init_thread, struct hauli_co *co)
MODEL_NEVER(void, hauli_co_fini_thread, struct hauli_co *co)
MODEL_NEVER(void, hauli_overflow_thread_init, void)
MODEL_NEVER(void, hauli_overflow_thread_fini, void)
MODEL_NEVER(void, hauli_request, struct haul_coro *co, uint32_t bits)
MODEL_NEVER(void, hauli_stack_spill, struct hauli_stack_cache *cache, unsigned cls)
MODEL_NEVER(void, hauli_stack_check, const struct hauli_co *co)
MODEL_NEVER(void, hauli_stolen_send_home, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(void, hauli_stolen_go_home, struct haul_carrier *c, struct haul_coro *me,
	enum hauli_back how)
MODEL_NEVER(
	void, hauli_suspend_with_care, struct haul_carrier *c, struct haul_coro *me, bool publish)
MODEL_NEVER(bool, hauli_overflow_watches, const struct hauli_co *co)
MODEL_NEVER(void, hauli_handle_is_used_up, const struct haul_coro *co, const char *call)
MODEL_NEVER(void, hauli_may_suspend, const struct haul_coro *me, const char *call)
MODEL_NEVER(bool, hauli_runtimes_are_copies, void)
MODEL_NEVER(void, hauli_coro_ready_apart, struct haul_carrier *c, struct haul_coro *co,
	void (*push)(struct hauli_runq *q, struct haul_coro *co))
