/* SPDX-License-Identifier: BSD-3-Clause */
/* A function on each carrier. */
#include <errno.h>
#include <stdlib.h>

#include <haul/carrier.h>
#include <haul/coro.h>

#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/wait/join.h"
#include "sched/wait/suspend.h"

struct each {
	int (*fn)(void *arg);
	void *arg;
	struct haul_coro *co;
	int result;
};

static void *run(void *arg)
{
	struct each *e = arg;

	e->result = e->fn(e->arg);
	return NULL;
}

/* The number of carriers on which it runs; *err: why not on the next one, or 0. */
static unsigned spawn_each(struct haul_runtime *rt, struct each *each, unsigned n, int *err)
{
	static const struct haul_coro_opts opts = {.name = "haul_on_each", .pinned = true};
	unsigned i;

	*err = 0;
	for (i = 0; i < n; i++) {
		*err = haul_spawn_on(haul_carrier(rt, i), &each[i].co, run, &each[i], &opts);
		if (*err)
			break;
	}
	return i;
}

static int run_on_each(struct haul_runtime *rt, int (*fn)(void *arg), void *arg)
{
	unsigned n = haul_carriers(rt), begun;
	struct each *each = calloc(n, sizeof(*each));
	int err, error = 0;

	if (!each)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		each[i] = (struct each){.fn = fn, .arg = arg};
	begun = spawn_each(rt, each, n, &err);
	for (unsigned i = 0; i < begun; i++) {
		hauli_join_to_the_end(each[i].co);
		if (!error)
			error = each[i].result;
	}
	free(each);
	return error ? error : err;
}

int haul_on_each(struct haul_runtime *rt, int (*fn)(void *arg), void *arg)
{
	const struct haul_carrier *c = hauli_here();
	int err;

	HAUL_MISUSE_IF(!rt || !fn, "the runtime or the function is NULL");
	if (c != &hauli_nowhere)
		hauli_may_suspend(c->current, "haul_on_each");
	if (c->rt == rt)
		return run_on_each(rt, fn, arg);
	/* Nothing else keeps rt until the joins have been answered. */
	if (!hauli_gate_enter(&rt->callers))
		return -ECANCELED;
	err = run_on_each(rt, fn, arg);
	hauli_gate_leave(&rt->callers);
	return err;
}
