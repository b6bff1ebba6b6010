/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: the call is run once, and the coroutine returns 0 after it has returned; or it is not
 * run, and never will be, when the coroutine returns an error.
 *
 * The job lies on the coroutine's stack. The pool's queue is a list as those of lib/sync, and the
 * worker is the server (sched/wait/block.c): a coroutine whose wait ends otherwise takes the job
 * back, or waits until the worker has served it. Serving is a request to the home and the worker's
 * last access to the job.
 *
 * A worker is no carrier, but what it wakes was not woken from outside: whoever asks whether a
 * quiet runtime can be woken (sched/look/quiet.c) reads the count of coroutines in here. They write
 * it as they run, on carriers that are not asleep then, so a look that finds all asleep finds the
 * right count. A call is in the count until its coroutine runs again.
 *
 * Model: tests/model/offload.c. Stress: tests/stress/offload.c.
 */
#include "offload/offload.h"

#include <errno.h>

#include "base/assert.h"
#include "pool/pool.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/wait/request.h"

static struct hauli_offloaded *call_of(struct hauli_job *job)
{
	return HAULI_CONTAINER(job, struct hauli_offloaded, job);
}

static void run(struct hauli_job *job)
{
	const struct hauli_offload *o = call_of(job)->o;

	o->fn(o->arg);
}

/* On a worker; with an error on a carrier. */
static void end(struct hauli_job *job, int err)
{
	struct hauli_offloaded *call = call_of(job);
	struct haul_carrier *c = hauli_here();
	struct haul_coro *co = call->block.co;

	call->err = err;
	if (hauli_coro_home(co) == c)
		hauli_block_serve_here(c, co, true);
	else
		hauli_request(co, HAULI_REQ_SERVED);
}

/* The job is with the pool. */
static int wait_for(struct hauli_offloaded *call, bool queued)
{
	int err;

	if (queued) {
		err = hauli_block_wait(&call->block);
		if (err && hauli_pool_take_back(&call->job))
			return err;
	}
	hauli_block_wait_served(&call->block);
	return call->err;
}

__attribute__((noinline)) int hauli_offload_with(struct haul_coro *me,
	const struct hauli_offload *o, uint64_t deadline, struct hauli_offloaded *call)
{
	int how;

	call->job.run = run;
	call->job.end = end;
	call->o = o;
	call->err = 0;
	hauli_block_init(&call->block, me, deadline, true);
	call->block.what = o->what;
	call->block.object = o->object;
	how = hauli_pool_submit(&call->job, deadline == 0);
	return how < 0 ? how : wait_for(call, how == HAULI_JOB_QUEUED);
}

int hauli_offload(const struct hauli_offload *o, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;
	struct haul_runtime *rt = c->rt;
	struct hauli_offloaded call;
	int err = hauli_block_check(c, me, o->call, true);

	if (err)
		return err;
	hauli_u64_shared_add(&rt->offloaded, 1);
	err = hauli_offload_with(me, o, deadline, &call);
	hauli_u64_shared_add(&rt->offloaded, UINT64_MAX);
	return err;
}

int haul_offload(void (*fn)(void *arg), void *arg, uint64_t deadline)
{
	const struct hauli_offload o = {
		.fn = fn,
		.arg = arg,
		.call = __func__,
		.what = "the offloaded call",
		.object = (const void *)(uintptr_t)fn,
	};

	HAUL_MISUSE_IF(!fn, "the function is NULL");
	return hauli_offload(&o, deadline);
}

int haul_offload_set(const struct haul_offload_opts *opts)
{
	HAUL_MISUSE_IF(!opts, "the options are NULL");
	return hauli_pool_set(opts);
}

void haul_offload_get_stats(struct haul_offload_stats *st)
{
	HAUL_MISUSE_IF(!st, "the address for the figures is NULL");
	hauli_pool_get_stats(st);
}
