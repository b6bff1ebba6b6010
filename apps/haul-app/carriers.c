/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions on carriers. A carrier whose handler never suspends runs nothing else, so the main
 * thread waits for the start of a function for a limited time only. Both sides hold the lock when
 * they change the state of the call: either the function has begun, and the main thread waits for
 * its end, or it never will, and the coroutine frees the call whenever it runs.
 */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "process/signals.h"

#define PATIENCE (10 * HAUL_S) /* for idle carriers, which wait for a CPU */
#define PATIENCE_AT_END HAUL_S /* once a signal has arrived */
#define TICK (50 * HAUL_MS)

struct call {
	struct haul_app *app;
	unsigned carrier;
	int (*fn)(struct haul_app *app, unsigned carrier, void *arg);
	void *arg;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum { CALL_PENDING, CALL_RUNNING, CALL_DONE, CALL_ABANDONED } state;
	int rc;
};

static void call_free(struct call *call)
{
	pthread_mutex_destroy(&call->lock);
	pthread_cond_destroy(&call->changed);
	free(call);
}

/* Sets the state, unless the call is abandoned. Returns the state that results. */
static int advance(struct call *call, int state)
{
	pthread_mutex_lock(&call->lock);
	if (call->state != CALL_ABANDONED)
		call->state = state;
	state = call->state;
	pthread_cond_signal(&call->changed);
	pthread_mutex_unlock(&call->lock);
	return state;
}

static void *make_call(void *arg)
{
	struct call *call = arg;

	if (advance(call, CALL_RUNNING) == CALL_ABANDONED) {
		call_free(call);
		return NULL;
	}
	call->rc = call->fn(call->app, call->carrier, call->arg);
	advance(call, CALL_DONE);
	return NULL;
}

static void wait_a_tick(struct call *call)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += TICK;
	until.tv_sec += until.tv_nsec / (long)HAUL_S;
	until.tv_nsec %= (long)HAUL_S;
	pthread_cond_timedwait(&call->changed, &call->lock, &until);
}

/* Returns true once the function has returned, false if it will never begin. A signal that arrives
 * meanwhile cancels the function. */
static bool wait_for(struct call *call, struct haul_coro *co)
{
	uint64_t began = haul_now();
	bool done;

	pthread_mutex_lock(&call->lock);
	while (call->state != CALL_DONE && call->state != CALL_ABANDONED) {
		uint64_t waited = haul_now() - began;

		wait_a_tick(call);
		if (call->state == CALL_RUNNING && hauli_app_signals_came())
			haul_cancel(co);
		if (call->state == CALL_PENDING &&
			waited > (hauli_app_signals_came() ? PATIENCE_AT_END : PATIENCE))
			call->state = CALL_ABANDONED;
	}
	done = call->state == CALL_DONE;
	pthread_mutex_unlock(&call->lock);
	return done;
}

static int call_on(struct haul_app *app, unsigned carrier,
	int (*fn)(struct haul_app *app, unsigned carrier, void *arg), void *arg)
{
	const struct haul_coro_opts opts = {.name = "on carriers", .pinned = true};
	struct call *call = calloc(1, sizeof(*call));
	struct haul_coro *co;
	int err, rc;

	if (!call)
		abort();
	*call = (struct call){.app = app, .carrier = carrier, .fn = fn, .arg = arg};
	pthread_mutex_init(&call->lock, NULL);
	pthread_cond_init(&call->changed, NULL);
	err = haul_spawn_on(haul_carrier(app->rt, carrier), &co, make_call, call, &opts);
	if (err == 0 && !wait_for(call, co)) {
		haul_detach(co);
		haul_app_say(app->program, "carrier %u does not respond", carrier);
		return HAUL_APP_FAILED;
	}
	if (err == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	rc = call->rc;
	call_free(call);
	if (err == 0)
		return rc;
	haul_app_say(
		app->program, "cannot run a function on carrier %u: %s", carrier, strerror(-err));
	return HAUL_APP_FAILED;
}

int haul_app_on_carriers(struct haul_app *app,
	int (*fn)(struct haul_app *app, unsigned carrier, void *arg), void *arg)
{
	bool possible = app->rt && fn && !haul_carrier_self() &&
		pthread_equal(pthread_self(), hauli_app_state.main);
	int rc = HAUL_APP_DONE;

	if (hauli_app_state.stop_err == -ETIMEDOUT)
		return HAUL_APP_FAILED; /* the program has said why */
	if (!possible) {
		haul_app_say(app->program,
			"haul_app_on_carriers() is for hooks of the main thread, from opened() to "
			"json(), and needs a function");
		return HAUL_APP_FAILED;
	}
	for (unsigned c = 0; c < app->plan->carriers && rc == HAUL_APP_DONE; c++)
		rc = call_on(app, c, fn, arg);
	return rc;
}

static int begin_one(struct haul_app *app, unsigned carrier, void *arg)
{
	struct hauli_app *a = arg;
	int rc = HAUL_APP_DONE;

	if (a->hooks->carrier_begins)
		rc = hauli_check_rc(a, "carrier_begins", a->hooks->carrier_begins(app, carrier));
	if (rc == HAUL_APP_DONE)
		a->begun++;
	return rc;
}

int hauli_app_carriers_begin(struct hauli_app *a)
{
	if (!a->hooks->carrier_begins && !a->hooks->carrier_ends)
		return HAUL_APP_DONE;
	return haul_app_on_carriers(&a->pub, begin_one, a);
}

static int end_one(struct haul_app *app, unsigned carrier, void *arg)
{
	const struct hauli_app *a = arg;

	if (carrier < a->begun)
		a->hooks->carrier_ends(app, carrier);
	return HAUL_APP_DONE;
}

void hauli_app_carriers_end(struct hauli_app *a)
{
	if (a->hooks->carrier_ends && a->begun > 0)
		haul_app_on_carriers(&a->pub, end_one, a);
	a->begun = 0;
}
