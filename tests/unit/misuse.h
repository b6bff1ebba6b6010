/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of mistakes: each ends its process, a child, with a line that names the call, and a line
 * with the call stack. */
#ifndef HAUL_TESTS_MISUSE_H
#define HAUL_TESTS_MISUSE_H

#include <signal.h>

#include <haul/driver.h>

#include "coro/fiber.h"
#include "coro_child.h"
#include "sched/run/poller.h"
#include "sched/state/self.h"
#include "support/runtime.h"

struct misuse {
	void (*make)(void);
	const char *call, *mistake; /* in the line */
	bool bare; /* no runtime runs: no call stack */
	const char *other; /* a line about another coroutine begins so; or NULL */
};

static struct haul_runtime *rt;

static inline void *calls_it(void *fn)
{
	((void (*)(void))fn)();
	return NULL;
}

/* Calls fn in a coroutine of carrier i. */
static inline void on_carrier(unsigned i, void (*fn)(void))
{
	run_on(rt, i, calls_it, (void *)fn);
}

/* A poller that calls a handler, which must not suspend. */
static inline void *poll_with_handler(void *handler)
{
	struct haul_carrier *c = hauli_self();

	hauli_poller_handles(c);
	while (hauli_poller_go_on(c, false))
		((void (*)(void))handler)();
	return NULL;
}

/* Calls handler on the stack of carrier 0's poller. */
static inline void handle_by(void (*handler)(void))
{
	struct haul_coro *poller;

	haul_poller_register(
		haul_carrier(rt, 0), &poller, poll_with_handler, (void *)handler, NULL);
	haul_join(poller, NULL, HAUL_FOREVER);
}

static inline void make_mistake(void *arg)
{
	const struct misuse *m = arg;

	rt = runtime_start(2);
	m->make();
}

static inline void misuse_is_reported(const struct misuse *m)
{
	struct child c = child_run(make_mistake, (void *)m);
	const char *stack, *end, *other = m->other;
	char begins[64];

	snprintf(begins, sizeof(begins), "haul: %s(): ", m->call);
	CHILD_DIED_BY(c, SIGABRT);
	if (m->bare) {
		ck_assert_msg(c.lines == 1 && strstr(c.said, m->mistake), "%s", c.said);
		return;
	}
	/* With TSan a carrier that sleeps takes no signals; one that is about to does. */
	if (HAULI_TSAN && c.lines == 2)
		other = NULL;
	stack = strstr(c.said, "\nhaul: SIGABRT ");
	ck_assert_msg(c.lines == 2 + (other != NULL) &&
			strncmp(c.said, begins, strlen(begins)) == 0 && stack &&
			strstr(c.said, m->mistake) && strchr(c.said, '\n') == stack,
		"no line of %s, with \"%s\": %s", m->call, m->mistake, c.said);
	end = strchr(stack + 1, '\n') + 1;
	ck_assert_msg(strstr(stack, ", at ") < end, "%s", c.said);
	if (other)
		ck_assert_msg(strncmp(end, other, strlen(other)) == 0 && strstr(end, ", at "), "%s",
			c.said);
	else
		ck_assert_msg(*end == '\0', "%s", c.said);
	child_show(&c);
}

#endif
