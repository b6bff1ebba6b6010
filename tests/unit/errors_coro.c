/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of spawns, joins and all other waits, and of scopes. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "errors_bed.h"

#define MANY 3000 /* coroutines: more than the first objects */
#define FEW 3
#define SOON haul_in(HAUL_US)

static void *nothing(void *arg)
{
	return arg;
}

static int returns_0(void *arg)
{
	return 0;
}

static int fails(void *arg)
{
	return -ENOTTY;
}

static struct haul_mutex mutex;
static atomic_bool mutex_is_held;

static void *keeps_mutex(void *other)
{
	haul_mutex_lock(&mutex);
	mutex_is_held = true;
	errors_parks(NULL);
	haul_mutex_unlock(&mutex);
	return NULL;
}

/* Spawns. */

static int spawn_some(void)
{
	int err = 0;

	promises_arm();
	for (unsigned i = 0; i < MANY && !err; i++)
		err = haul_spawn(NULL, nothing, NULL, NULL);
	return promises_disarm(err);
}

static int spawn_some_on(void)
{
	int err = 0;

	promises_arm();
	for (unsigned i = 0; i < MANY && !err; i++)
		err = haul_spawn_on(haul_carrier(rt, 1), NULL, nothing, NULL, NULL);
	return promises_disarm(err);
}

static int spawn_some_any(void)
{
	int err = 0;

	promises_arm();
	for (unsigned i = 0; i < MANY && !err; i++)
		err = haul_spawn_any(rt, NULL, nothing, NULL, NULL);
	return promises_disarm(err);
}

static int spawn_many(void)
{
	return TRY(haul_spawn_many(rt, NULL, nothing, NULL, MANY, NULL));
}

static const struct haul_coro_opts too_large = {.stack_size = HAUL_STACK_MAX + 1};
static const struct haul_coro_opts no_key = {.order_key = HAUL_ORDER_KEYS + 1};

static int spawn_large(void)
{
	return TRY(haul_spawn(NULL, nothing, NULL, &too_large));
}

static int spawn_no_key_on(void)
{
	return TRY(haul_spawn_on(haul_carrier(rt, 0), NULL, nothing, NULL, &no_key));
}

static int spawn_no_key_any(void)
{
	return TRY(haul_spawn_any(rt, NULL, nothing, NULL, &no_key));
}

static int spawn_no_key_many(void)
{
	return TRY(haul_spawn_many(rt, NULL, nothing, NULL, 1, &no_key));
}

static int spawn_late(void)
{
	return errors_at_stop(spawn_some);
}

static int spawn_on_late(void)
{
	return errors_at_stop(spawn_some_on);
}

static int spawn_any_late(void)
{
	return errors_at_stop(spawn_some_any);
}

static int spawn_many_late(void)
{
	return errors_at_stop(spawn_many);
}

/* Joins and other waits. */

static struct haul_coro *spawn_parked(void)
{
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 1), &co, errors_parks, NULL, NULL), 0);
	return co;
}

static int join_by(uint64_t deadline)
{
	struct haul_coro *co = spawn_parked();
	int err = TRY(haul_join(co, NULL, deadline));

	haul_cancel(co);
	haul_join(co, NULL, HAUL_FOREVER);
	return err;
}

static int join_soon(void)
{
	return join_by(SOON);
}

static int join_now(void)
{
	return join_by(0);
}

static int join_self(void)
{
	return TRY(haul_join(haul_self(), NULL, HAUL_FOREVER));
}

static int join_in_child(void)
{
	return TRY(haul_join((void *)rt, NULL, HAUL_FOREVER));
}

static void *stops(void *arg)
{
	errors_end();
	return NULL;
}

static int join_after_stop(void)
{
	struct haul_coro *co = spawn_parked();
	pthread_t stopper;

	ck_assert_int_eq(pthread_create(&stopper, NULL, stops, NULL), 0);
	pthread_join(stopper, NULL);
	return TRY(haul_join(co, NULL, HAUL_FOREVER));
}

static int sleep_some(void)
{
	return TRY(haul_sleep(HAUL_US));
}

static int sleep_long(void)
{
	HAUL_SCOPE(s, SOON, HAUL_SCOPE_ALL);
	return TRY(haul_sleep(HAUL_S));
}

static int sleep_late(void)
{
	return errors_at_stop(sleep_some);
}

static int sleep_until_long(void)
{
	HAUL_SCOPE(s, SOON, HAUL_SCOPE_ALL);
	return TRY(haul_sleep_until(haul_in(HAUL_S)));
}

static int sleep_until(void)
{
	return TRY(haul_sleep_until(haul_in(HAUL_S)));
}

static int sleep_until_late(void)
{
	return errors_at_stop(sleep_until);
}

/* Calls with a deadline: each now, soon, and late. */
static struct haul_chan *chan;
static struct haul_cond cond;
static struct haul_event event;
static struct haul_sem sem;

static int park_by(uint64_t deadline)
{
	return haul_park(deadline);
}

/* Held by a coroutine that is not the caller. */
static int lock_by(uint64_t deadline)
{
	struct haul_coro *holder;
	int err;

	mutex_is_held = false;
	if (haul_spawn(&holder, keeps_mutex, NULL, NULL) != 0)
		return haul_cancelled() ? haul_mutex_lock_by(&mutex, deadline) : -EIO;
	while (!mutex_is_held)
		haul_yield();
	err = haul_mutex_lock_by(&mutex, deadline);
	haul_cancel(holder);
	haul_join(holder, NULL, HAUL_FOREVER);
	return err;
}

static int cond_wait_by(uint64_t deadline)
{
	int err;

	haul_mutex_lock(&mutex);
	err = haul_cond_wait(&cond, &mutex, deadline);
	haul_mutex_unlock(&mutex);
	return err;
}

static int event_wait_by(uint64_t deadline)
{
	return haul_event_wait(&event, deadline);
}

static int sem_wait_by(uint64_t deadline)
{
	return haul_sem_wait(&sem, deadline);
}

static int send_by(uint64_t deadline)
{
	return haul_chan_send(chan, &(int){1}, deadline);
}

static int recv_by(uint64_t deadline)
{
	return haul_chan_recv(chan, &(int){1}, deadline);
}

static int select_by(uint64_t deadline)
{
	struct haul_case cases[] = {haul_case_event(&event), haul_case_sem(&sem)};

	return haul_select(cases, 2, deadline);
}

#define WAITS(name)                                \
	static int name##_now(void)                \
	{                                          \
		return TRY(name(0));               \
	}                                          \
	static int name##_soon(void)               \
	{                                          \
		return TRY(name(SOON));            \
	}                                          \
	static int name##_end(void)                \
	{                                          \
		return TRY(name(SOON));            \
	}                                          \
	static int name##_late(void)               \
	{                                          \
		return errors_at_stop(name##_end); \
	}

WAITS(park_by)
WAITS(lock_by)
WAITS(cond_wait_by)
WAITS(event_wait_by)
WAITS(sem_wait_by)
WAITS(send_by)
WAITS(recv_by)
WAITS(select_by)

static int on_closed(int (*call)(uint64_t deadline))
{
	struct haul_chan *open = chan;
	int err;

	ck_assert_int_eq(haul_chan_create(&chan, sizeof(int), 0), 0);
	haul_chan_close(chan);
	err = TRY(call(HAUL_FOREVER));
	haul_chan_destroy(chan);
	chan = open;
	return err;
}

static int send_closed(void)
{
	return on_closed(send_by);
}

static int recv_closed(void)
{
	return on_closed(recv_by);
}

static int chan_create(void)
{
	struct haul_chan *ch;
	int err = TRY(haul_chan_create(&ch, 8, 8));

	if (!err)
		haul_chan_destroy(ch);
	return err;
}

static int chan_create_wrong(void)
{
	struct haul_chan *ch;

	return TRY(haul_chan_create(&ch, HAUL_CHAN_SIZE_MAX + 1, 8));
}

/* Scopes. */

static int scope_spawn(void)
{
	int err = 0;

	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);
	promises_arm();
	for (unsigned i = 0; i < FEW && !err; i++)
		err = haul_scope_spawn(&s, returns_0, NULL, NULL);
	return promises_disarm(err);
}

static int scope_spawn_on(void)
{
	int err = 0;

	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);
	promises_arm();
	for (unsigned i = 0; i < FEW && !err; i++)
		err = haul_scope_spawn_on(&s, haul_carrier(rt, 1), returns_0, NULL, NULL);
	return promises_disarm(err);
}

static int scope_spawn_large(void)
{
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);
	return TRY(haul_scope_spawn(&s, returns_0, NULL, &too_large));
}

static int scope_spawn_large_on(void)
{
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);
	return TRY(haul_scope_spawn_on(&s, haul_carrier(rt, 1), returns_0, NULL, &too_large));
}

static int scope_spawn_late(void)
{
	return errors_at_stop(scope_spawn);
}

static int scope_spawn_on_late(void)
{
	return errors_at_stop(scope_spawn_on);
}

static int sleeps_long(void *arg)
{
	return haul_sleep(HAUL_S);
}

static int join_scope(int (*child)(void *arg), uint64_t deadline)
{
	int err;

	HAUL_SCOPE(s, deadline, HAUL_SCOPE_ALL);
	err = haul_scope_spawn(&s, child, NULL, NULL);
	if (err)
		return err;
	return TRY(haul_scope_join(&s));
}

static int scope_join(void)
{
	return join_scope(returns_0, HAUL_FOREVER);
}

static int scope_join_fails(void)
{
	return join_scope(fails, HAUL_FOREVER);
}

static int scope_join_soon(void)
{
	return join_scope(sleeps_long, SOON);
}

static int scope_join_cancelled(void)
{
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);
	ck_assert_int_eq(haul_scope_spawn(&s, sleeps_long, NULL, NULL), 0);
	haul_cancel(haul_self());
	return TRY(haul_scope_join(&s));
}

#define ENDS(function, name)                                                   \
	{function, "a deadline of 0", name##_now, -EAGAIN, ON_CARRIER},        \
		{function, "a deadline", name##_soon, -ETIMEDOUT, ON_CARRIER}, \
	{                                                                      \
		function, "a cancelled caller", name##_late, -ECANCELED        \
	}

static const struct call calls[] = {
	{"haul_spawn", "some", spawn_some, 0, ON_CARRIER},
	{"haul_spawn", "a large stack", spawn_large, -EINVAL, ON_CARRIER},
	{"haul_spawn", "at the stop", spawn_late, -ECANCELED},
	{"haul_spawn", "on a thread", spawn_some, -EPERM},
	{"haul_spawn", "in a child", spawn_some, -EPERM, IN_CHILD},
	{"haul_spawn_on", "some", spawn_some_on, 0},
	{"haul_spawn_on", "some, by a coroutine", spawn_some_on, 0, ON_CARRIER},
	{"haul_spawn_on", "a large key", spawn_no_key_on, -EINVAL},
	{"haul_spawn_on", "at the stop", spawn_on_late, -ECANCELED},
	{"haul_spawn_on", "in a child", spawn_some_on, -EPERM, IN_CHILD},
	{"haul_spawn_any", "some", spawn_some_any, 0},
	{"haul_spawn_any", "some, by a coroutine", spawn_some_any, 0, ON_CARRIER},
	{"haul_spawn_any", "a large key", spawn_no_key_any, -EINVAL},
	{"haul_spawn_any", "at the stop", spawn_any_late, -ECANCELED},
	{"haul_spawn_any", "in a child", spawn_some_any, -EPERM, IN_CHILD},
	{"haul_spawn_many", "some", spawn_many, 0},
	{"haul_spawn_many", "some, by a coroutine", spawn_many, 0, ON_CARRIER},
	{"haul_spawn_many", "a large key", spawn_no_key_many, -EINVAL},
	{"haul_spawn_many", "at the stop", spawn_many_late, -ECANCELED},
	{"haul_spawn_many", "in a child", spawn_many, -EPERM, IN_CHILD},
	{"haul_join", "a deadline", join_soon, -ETIMEDOUT},
	{"haul_join", "a deadline, by a coroutine", join_soon, -ETIMEDOUT, ON_CARRIER},
	{"haul_join", "a deadline of 0", join_now, -EAGAIN},
	{"haul_join", "the caller", join_self, -EDEADLK, ON_CARRIER},
	{"haul_join", "in a child", join_in_child, -EPERM, IN_CHILD},
	{"haul_join", "after the stop", join_after_stop, -ECANCELED},
	{"haul_sleep", "in a scope", sleep_long, -ETIMEDOUT, ON_CARRIER},
	{"haul_sleep", "a cancelled caller", sleep_late, -ECANCELED},
	{"haul_sleep_until", "in a scope", sleep_until_long, -ETIMEDOUT, ON_CARRIER},
	{"haul_sleep_until", "a cancelled caller", sleep_until_late, -ECANCELED},
	ENDS("haul_park", park_by),
	ENDS("haul_mutex_lock_by", lock_by),
	ENDS("haul_cond_wait", cond_wait_by),
	ENDS("haul_event_wait", event_wait_by),
	ENDS("haul_sem_wait", sem_wait_by),
	ENDS("haul_chan_send", send_by),
	ENDS("haul_chan_recv", recv_by),
	ENDS("haul_select", select_by),
	{"haul_chan_send", "closed", send_closed, -EPIPE, ON_CARRIER},
	{"haul_chan_recv", "closed", recv_closed, -EPIPE, ON_CARRIER},
	{"haul_chan_create", "one", chan_create, 0},
	{"haul_chan_create", "large values", chan_create_wrong, -EINVAL},
	{"haul_scope_spawn", "some", scope_spawn, 0, ON_CARRIER},
	{"haul_scope_spawn", "a large stack", scope_spawn_large, -EINVAL, ON_CARRIER},
	{"haul_scope_spawn", "at the stop", scope_spawn_late, -ECANCELED},
	{"haul_scope_spawn_on", "some", scope_spawn_on, 0, ON_CARRIER, SINGLE_FAULTS},
	{"haul_scope_spawn_on", "a large stack", scope_spawn_large_on, -EINVAL, ON_CARRIER},
	{"haul_scope_spawn_on", "at the stop", scope_spawn_on_late, -ECANCELED},
	{"haul_scope_join", "one child", scope_join, 0, ON_CARRIER, SINGLE_FAULTS},
	{"haul_scope_join", "a child that fails", scope_join_fails, -ENOTTY, ON_CARRIER,
		SINGLE_FAULTS, .own = true},
	{"haul_scope_join", "a deadline", scope_join_soon, -ETIMEDOUT, ON_CARRIER, SINGLE_FAULTS},
	{"haul_scope_join", "a cancelled caller", scope_join_cancelled, -ECANCELED, ON_CARRIER,
		SINGLE_FAULTS},
};

static const struct unseen unseen[] = {
	{"haul_select", EPIPE, "it is in the err of a case"},
};

static const char *const headers[] = {"coro.h", "scope.h", "sync.h"};

int main(void)
{
	const struct promises table = {
		.headers = headers,
		.nb_headers = sizeof(headers) / sizeof(headers[0]),
		.calls = calls,
		.nb_calls = sizeof(calls) / sizeof(calls[0]),
		.unseen = unseen,
		.nb_unseen = sizeof(unseen) / sizeof(unseen[0]),
	};
	int rc;

	haul_chan_create(&chan, sizeof(int), 0);
	rc = errors_main(table, NULL);
	haul_chan_destroy(chan);
	return rc;
}
