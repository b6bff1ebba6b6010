/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a runtime: the stop and finish messages to the carriers, and their handlers. */
#include "sched/run/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "base/clock.h"
#include "sched/look/dump.h"
#include "sched/look/quiet.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/state/delay.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/wait/record.h"
#include "sched/wait/request.h"

static void cancel_if_home(void *object, void *arg)
{
	struct haul_coro *co = object;
	struct haul_carrier *c = arg;

	if (hauli_coro_home(co) != c)
		return;
	if (hauli_coro_is_unjoined(co))
		co->fn = NULL; /* so that count_unjoined() counts it */
	hauli_cancel_here(c, co);
}

#define MOST_LISTED 100 /* coroutines that have not ended */
/* Homeless coroutines to take, or objects to visit, in one step; each costs a cache miss or two. */
#define STEP 64

/*
 * Cancels all coroutines of this home, a bounded number in a step. Each step sends the message
 * again for the next one, so the carrier polls in between and does not sleep.
 *
 * No coroutine can come later. A spawner sends a spawn message, or puts a batch into the cluster's
 * injector, within the runtime's gate (spawn.c, spawn_many.c); the stop message is sent when the
 * gate is closed and quiet. The inbox and the detached mail keep the order of pushes, so all spawn
 * messages have arrived before it. Spawns on this carrier fail from the first step on. This carrier
 * takes the coroutines in the injector, or other carriers do, before it visits the first coroutine:
 * it has found the injector empty by then, which stays empty.
 *
 * No coroutine escapes between the steps. One that is stolen, or comes back, keeps its memory and
 * its home. Memory that gets this home after the first step is that of a record's coroutine, which
 * begins cancelled (record.c). If a record's coroutine ends before its visit, it may become that of
 * the next record, in the same memory, which will be visited; after its visit it has a flag, and
 * becomes no other.
 */
static void cancel_some(struct haul_carrier *c, struct hauli_msg *msg)
{
	if (hauli_slab_walk(c->rt->coros, &c->stop.cancelled, STEP, cancel_if_home, c))
		hauli_mail_send(c, msg);
	else
		c->phase = HAULI_PHASE_DRAINS;
}

static const struct hauli_msg_kind cancel_msg = {.handle = cancel_some};

static void take_homeless(struct haul_carrier *c, struct hauli_msg *msg)
{
	if (hauli_cluster_empty(c, STEP))
		msg->kind = &cancel_msg;
	hauli_mail_send(c, msg);
}

static const struct hauli_msg_kind homeless_msg = {.handle = take_homeless};

static void handle_stop(struct haul_carrier *c, struct hauli_msg *msg)
{
	c->phase = HAULI_PHASE_CANCELS;
	hauli_u8_owned_set(&c->stop.step, HAULI_STOP_HANDLED);
	c->spawn.path = HAULI_PATH_SLOW;
	hauli_runq_refuse(&c->runq, true);
	hauli_records_cancel(c);
	msg->kind = &homeless_msg;
	take_homeless(c, msg);
}

static const struct hauli_msg_kind stop_msg = {.handle = handle_stop};

static void count_drained(struct haul_runtime *rt)
{
	pthread_mutex_lock(&rt->lock);
	rt->nb_drained++;
	pthread_cond_signal(&rt->drained_more);
	pthread_mutex_unlock(&rt->lock);
}

void hauli_stop_drained(struct haul_carrier *c)
{
	c->phase = HAULI_PHASE_DRAINED;
	hauli_u8_owned_set(&c->stop.step, HAULI_STOP_DRAINED);
	count_drained(c->rt);
}

static bool wait_for_drained(struct haul_runtime *rt, uint64_t ns)
{
	struct timespec until = hauli_monotonic_in(ns);
	int err = 0;
	bool drained;

	pthread_mutex_lock(&rt->lock);
	while (rt->nb_drained < rt->nb_carriers && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&rt->drained_more, &rt->lock, &until);
	drained = rt->nb_drained == rt->nb_carriers;
	pthread_mutex_unlock(&rt->lock);
	return drained;
}

/* The largest run delay, since the last call, of the carriers that have not drained. */
static uint64_t delay_of_carriers(struct haul_runtime *rt)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		struct haul_carrier *c = &rt->carriers[i];
		uint64_t delay = 0;

		if (hauli_u8_owned_get(&c->stop.step) != HAULI_STOP_DRAINED)
			delay = hauli_delay_since(c, &c->stop.delay_seen);
		most = delay > most ? delay : most;
	}
	return most;
}

static bool wait_until_drained(struct haul_runtime *rt, uint64_t timeout_ns)
{
	struct hauli_limit limit = hauli_limit(timeout_ns);
	uint64_t slice;

	delay_of_carriers(rt);
	while ((slice = hauli_limit_slice(&limit)) > 0) {
		if (wait_for_drained(rt, slice))
			return true;
		hauli_limit_spend(&limit, slice, delay_of_carriers(rt));
	}
	return wait_for_drained(rt, 0);
}

static int refuse_stop(int err, const char *why)
{
	fprintf(stderr, "haul: haul_stop(): %s\n", why);
	return err;
}

static int check_stop(struct haul_runtime *rt)
{
	if (hauli_self())
		return refuse_stop(-EDEADLK,
			"called on a carrier, which it would wait for; call it from another "
			"thread");
	if (hauli_runtimes_are_copies())
		return refuse_stop(-EPERM, "called in a child of fork(), which has no carriers");
	if (!hauli_runtime_is_running(rt))
		return refuse_stop(-EINVAL,
			"this runtime does not run: it was stopped before, or never started");
	if (hauli_runtime_is_held(rt))
		return refuse_stop(
			-EBUSY, "its carriers still receive packets; call haul_io_stop() first");
	return 0;
}

int hauli_stop(struct haul_runtime *rt, uint64_t timeout_ns)
{
	int err = check_stop(rt);

	if (err)
		return err;
	if (!rt->stop_sent)
		hauli_quiet_tell_at_stop(rt);
	hauli_clusters_stop(rt);
	hauli_gate_close(&rt->callers);
	hauli_gate_close(&rt->gate);
	while (!hauli_gate_is_quiet(&rt->gate))
		sched_yield();
	if (!rt->stop_sent) {
		for (unsigned i = 0; i < rt->nb_carriers; i++) {
			rt->carriers[i].stop.msg.kind = &stop_msg;
			hauli_mail_send(&rt->carriers[i], &rt->carriers[i].stop.msg);
		}
		rt->stop_sent = true;
	}
	if (!wait_until_drained(rt, timeout_ns)) {
		fputs("haul: not ended at the deadline of haul_stop():\n", stderr);
		hauli_dump_unfinished(rt, stderr);
		hauli_dump_some(rt, stderr, MOST_LISTED);
		return -ETIMEDOUT;
	}
	/* Meanwhile the carriers still answer the joins: first those of haul_on_each(), then those
	 * of plain threads. */
	while (!hauli_gate_is_quiet(&rt->callers))
		sched_yield();
	hauli_gate_close(&rt->joins);
	while (!hauli_gate_is_quiet(&rt->joins))
		sched_yield();
	return 0;
}

static void handle_finish(struct haul_carrier *c, struct hauli_msg *msg)
{
	c->phase = HAULI_PHASE_FINISHED;
}

static const struct hauli_msg_kind finish_msg = {.handle = handle_finish};

void hauli_stop_finish(struct haul_runtime *rt, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		rt->carriers[i].stop.finish_msg.kind = &finish_msg;
		hauli_mail_send(&rt->carriers[i], &rt->carriers[i].stop.finish_msg);
	}
	for (unsigned i = 0; i < n; i++)
		rt->launcher.join(rt->launcher.ctx, i);
}

static void count_unjoined(void *object, void *arg)
{
	const struct haul_coro *co = object;
	uint64_t *n = arg;

	*n += hauli_coro_home(co) && hauli_coro_is_unjoined(co) && !co->fn;
}

void hauli_stop_tell_unjoined(struct haul_runtime *rt)
{
	uint64_t n = 0;

	hauli_slab_for_each(rt->coros, count_unjoined, &n);
	if (n > 0)
		fprintf(stderr,
			"haul: %" PRIu64 " coroutine%s had ended and %s kept until the stop; "
			"haul_join() or haul_detach() each handle that a spawn gives\n",
			n, n == 1 ? "" : "s", n == 1 ? "was" : "were");
}
