/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A permit that is taken away from home, by the real wait.c of lib/sched: a stolen coroutine goes
 * on after its park, and its home gives it another permit meanwhile. It sees what came before that,
 * or has the permit for its next park.
 */
#include "sched/wait.c"

#include "explorer.h"

static struct {
	struct haul_carrier home;
	struct haul_coro co;
	_Atomic uint64_t reason; /* of the second permit */
	_Atomic uint64_t seen;
} m;

static void init(void)
{
	hauli_coro_set_state(&m.co, HAULI_READY);
	hauli_mark_set(&m.co.marks, HAULI_MARK_STOLEN);
	unpark_here(&m.home, &m.co); /* this has woken it */
}

static void home(void)
{
	atomic_store_explicit(&m.reason, 1, memory_order_relaxed);
	unpark_here(&m.home, &m.co);
}

static void stolen(void)
{
	take_permit(&m.co);
	atomic_store_explicit(&m.seen, atomic_load_explicit(&m.reason, memory_order_relaxed),
		memory_order_relaxed);
}

static void check(void)
{
	MODEL_ASSERT(m.seen || hauli_permit_is_given(&m.co.permit));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "permit, away",
			.nb_threads = 2,
			.threads = {home, stolen},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}

/* The rest of lib/sched that wait.c refers to, and that this model never comes to. */
MODEL_NEVER(struct haul_carrier *, hauli_here, void)
MODEL_NEVER(struct haul_coro *, haul_self, void)
MODEL_NEVER(bool, hauli_mail_send, struct haul_carrier *c, struct hauli_msg *msg)
MODEL_NEVER(void, hauli_backlog_push, struct hauli_runq *q, struct haul_coro *co)
MODEL_NEVER(void, hauli_coro_free, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(void, hauli_coro_left_apart, struct haul_carrier *c, struct haul_coro *co)
MODEL_NEVER(void, hauli_join_answer, struct haul_carrier *c, struct hauli_join *j)
MODEL_NEVER(void, hauli_policy_offer, struct hauli_policy *p, unsigned seat)
MODEL_NEVER(void, hauli_stack_check, const struct hauli_co *co)
MODEL_NEVER(void, hauli_stolen_go_home, struct haul_carrier *c, struct haul_coro *me,
	enum hauli_back how)
MODEL_NEVER(void, hauli_timer_arm, struct hauli_timers *ts, struct hauli_timer *t)
MODEL_NEVER(void, hauli_timer_disarm, struct hauli_timers *ts, struct hauli_timer *t)
MODEL_NEVER(uint64_t, hauli_ticks_from_ns, uint64_t ns)
MODEL_NEVER(void, hauli_coro_ready_apart, struct haul_carrier *c, struct haul_coro *co,
	void (*push)(struct hauli_runq *q, struct haul_coro *co))
