/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of hibernation share: a runtime in which coroutines hibernate soon, and idle
 * coroutines that know what lies on their stacks. */
#ifndef HAUL_TESTS_HIBERNATE_H
#define HAUL_TESTS_HIBERNATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "support/runtime.h"
#include "support/suite.h"

#define AFTER (2 * HAUL_MS)

static const struct haul_coro_opts hibernates = {.name = "idle", .hibernates = true};

static inline struct haul_runtime *start(struct haul_runtime_opts opts, unsigned carriers)
{
	struct haul_plan_opts plan_opts = {.carriers = carriers};
	struct haul_runtime *rt = NULL;
	struct haul_plan *plan = NULL;
	char why[256] = "";

	ck_assert_msg(haul_plan_create(&plan, &plan_opts, why, sizeof(why)) == 0, "%s", why);
	opts.plan = plan;
	opts.watchdog_ns = HAUL_FOREVER;
	if (!opts.hibernate_after_ns)
		opts.hibernate_after_ns = AFTER;
	ck_assert_msg(haul_start(&rt, &opts, why, sizeof(why)) == 0, "%s", why);
	haul_plan_destroy(plan);
	return rt;
}

/* The sums of all carriers. */
static inline struct haul_carrier_stats sums(struct haul_runtime *rt)
{
	struct haul_carrier_stats st, sum = {0};

	for (unsigned i = 0; i < haul_carriers(rt); i++) {
		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		sum.hibernations += st.hibernations;
		sum.thaws += st.thaws;
	}
	return sum;
}

static inline uint64_t hibernations(struct haul_runtime *rt)
{
	return sums(rt).hibernations;
}

static inline uint64_t thaws(struct haul_runtime *rt)
{
	return sums(rt).thaws;
}

struct idle {
	size_t bytes; /* of a buffer on its stack */
	uint64_t sleep_ns; /* 0: it parks */
	uint64_t deadline;
	_Atomic(const char *) stack; /* an address on it */
	int err;
};

static __attribute__((noinline, unused)) bool wait_with_buffer(struct idle *i, unsigned depth)
{
	uint64_t buffer[16], *self = buffer;
	bool right;

	for (unsigned k = 0; k < 16; k++)
		buffer[k] = (uintptr_t)i * 31 + depth * 16 + k;
	atomic_store(&i->stack, (const char *)buffer);
	if (depth > 0)
		right = wait_with_buffer(i, depth - 1);
	else if (i->sleep_ns)
		right = (i->err = haul_sleep(i->sleep_ns)) == 0;
	else
		right = (i->err = haul_park(i->deadline)) == 0;
	for (unsigned k = 0; k < 16; k++)
		right &= self[k] == (uintptr_t)i * 31 + depth * 16 + k;
	return right;
}

static inline void *idle(void *arg)
{
	struct idle *i = arg;
	/* from a number that no compiler keeps in a register of its own */
	bool right = wait_with_buffer(i, (unsigned)(i->bytes / 128));

	return right ? NULL : "what lay on the stack has changed, or the wait failed";
}

static inline struct haul_coro *spawn(struct haul_runtime *rt, struct idle *i)
{
	struct haul_coro *co;

	if (!i->deadline)
		i->deadline = HAUL_FOREVER;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, idle, i, &hibernates), 0);
	return co;
}

static inline void *join(struct haul_coro *co)
{
	void *wrong;

	ck_assert_int_eq(haul_join(co, &wrong, HAUL_FOREVER), 0);
	return wrong;
}

#define IDLE 100

static inline void look(struct haul_runtime *rt, unsigned n)
{
	WAIT_UNTIL(hibernations(rt) >= n);
}

#endif
