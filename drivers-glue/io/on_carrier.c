/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on carriers, with a time limit.
 *
 * Promise: after an error fn is never called, so that what arg points to, and io, may be gone.
 *
 * A carrier whose coroutine does not suspend begins no other one, and nobody can take the coroutine
 * of a call back. So one word decides who has the call, and the first of two swaps wins:
 *
 *	state	   writer
 *	ASKED	   the caller, before the spawn
 *	BEGUN	   the coroutine: it calls fn, and the caller waits for its end without a limit
 *	WITHDRAWN  the caller, when the time is over: the coroutine only frees the call, later
 *
 * BEGUN: the caller frees the call after the join, which orders it after the coroutine's accesses.
 * WITHDRAWN: the coroutine frees the call, after its own swap has failed. A swap that fails is not
 * ordered after the one that was faster, so a second swap, of the value that it has found, comes
 * before the free (word.E5).
 *
 * The limit is for the begin only: an fn that waits for handlers has a limit of its own.
 *
 * Tests: tests/net/io_stuck.c, io_soak.c
 */
#include "io/on_carrier.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conc/word.h"

enum { ASKED, BEGUN, WITHDRAWN };

struct call {
	struct hauli_tagged state;
	haul_fn *fn;
	void *arg;
};

static bool move_on(struct call *call, uintptr_t from, uintptr_t to)
{
	return hauli_tagged_swap(&call->state, &from, to);
}

static void *answer(void *arg)
{
	struct call *call = arg;

	if (move_on(call, ASKED, BEGUN))
		return call->fn(call->arg);
	(void)move_on(call, WITHDRAWN, WITHDRAWN);
	free(call);
	return NULL;
}

/* A haul_join() with a limit: 0 or its errors. */
static int join_within(const struct hauli_poller *p, struct haul_coro *co, uint64_t timeout_ns)
{
	struct hauli_limit limit = hauli_limit(timeout_ns);
	struct hauli_delay delay = {0};
	uint64_t slice;
	int err = -ETIMEDOUT;

	(void)hauli_delay_since(p->carrier, &delay);
	while (err == -ETIMEDOUT && (slice = hauli_limit_slice(&limit)) > 0) {
		err = haul_join(co, NULL, haul_in(slice));
		hauli_limit_spend(&limit, slice, hauli_delay_since(p->carrier, &delay));
	}
	return err;
}

int hauli_on_carrier(
	const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg, uint64_t timeout_ns)
{
	const struct haul_coro_opts opts = {.name = name, .pinned = true};
	struct call *call = malloc(sizeof(*call));
	struct haul_coro *co;
	int err;

	if (!call)
		return -ENOMEM;
	*call = (struct call){.fn = fn, .arg = arg};
	hauli_tagged_set(&call->state, ASKED);
	err = haul_spawn_on(p->carrier, &co, answer, call, &opts);
	if (err == 0)
		err = join_within(p, co, timeout_ns);
	if (err == -ETIMEDOUT) {
		if (move_on(call, ASKED, WITHDRAWN)) {
			haul_detach(co);
			return err;
		}
		err = haul_join(co, NULL, HAUL_FOREVER);
	}
	free(call);
	return err;
}

void hauli_on_carrier_at_last(
	const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg)
{
	const struct timespec a_while = {.tv_nsec = HAUL_MS};

	while (hauli_on_carrier(p, name, fn, arg, HAUL_FOREVER) == -ENOMEM)
		(void)nanosleep(&a_while, NULL);
}

void hauli_on_carrier_tell(const struct hauli_poller *p, int err, char *buf, size_t len)
{
	if (err == -ETIMEDOUT)
		hauli_tell_silent(p->carrier, buf, len);
	else
		snprintf(buf, len, "carrier %u: %s", haul_carrier_id(p->carrier), strerror(-err));
}

void *hauli_answers(void *arg)
{
	return NULL;
}

void hauli_wait_for_cycles(const struct hauli_poller *p, uint64_t end)
{
	while (p->runs && hauli_counter_read(&p->cycles) < end)
		haul_yield();
	haul_yield();
}
