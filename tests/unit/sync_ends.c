/* SPDX-License-Identifier: BSD-3-Clause */
/* Two things happen at once to a wait: it is served, and its deadline passes or it is cancelled.
 * What was done counts; what was not done stays for others. */
#include <errno.h>

#include "support/runtime.h"
#include "support/suite.h"

#define SHORT (2 * HAUL_MS)
#define PASSED 1 /* a deadline */

static struct haul_mutex mutex;
static struct haul_cond cond;
static struct haul_event event;
static struct haul_sem sem;
static struct haul_chan *ch; /* of one value */
static uint64_t value;

struct waiter {
	int (*wait)(uint64_t deadline);
	uint64_t deadline;
	int result, next; /* of the wait, and of one after it */
};

static void nothing(void)
{
}

static void lock(void)
{
	haul_mutex_lock(&mutex);
}

static void unlock(void)
{
	haul_mutex_unlock(&mutex);
}

static int wait_for_mutex(uint64_t deadline)
{
	int err = haul_mutex_lock_by(&mutex, deadline);

	if (err == 0)
		haul_mutex_unlock(&mutex);
	return err;
}

static bool mutex_is_free(void)
{
	return wait_for_mutex(0) == 0;
}

static int wait_for_cond(uint64_t deadline)
{
	int err;

	haul_mutex_lock(&mutex);
	err = haul_cond_wait(&cond, &mutex, deadline);
	haul_mutex_unlock(&mutex);
	return err;
}

static void signal_cond(void)
{
	haul_cond_signal(&cond);
}

static int wait_for_event(uint64_t deadline)
{
	return haul_event_wait(&event, deadline);
}

static void set(void)
{
	haul_event_set(&event);
}

static bool event_is_set(void)
{
	return haul_event_is_set(&event);
}

static int wait_for_unit(uint64_t deadline)
{
	return haul_sem_wait(&sem, deadline);
}

static void post(void)
{
	haul_sem_post(&sem);
}

static bool unit_is_there(void)
{
	return haul_sem_wait(&sem, 0) == 0;
}

static int send_value(uint64_t deadline)
{
	return haul_chan_send(ch, &(uint64_t){7}, deadline);
}

static void fill(void)
{
	(void)send_value(0);
}

static void take(void)
{
	(void)haul_chan_recv(ch, &value, 0);
}

static bool nothing_was_sent(void)
{
	return haul_chan_recv(ch, &value, 0) == -EAGAIN;
}

static int receive(uint64_t deadline)
{
	return haul_chan_recv(ch, &value, deadline);
}

static bool value_is_there(void)
{
	return receive(0) == 0;
}

static int receive_or_quit(uint64_t deadline)
{
	struct haul_case cases[] = {haul_case_event(&event), haul_case_recv(ch, &value)};
	int i = haul_select(cases, 2, deadline);

	return i == 1 ? cases[i].err : i;
}

static const struct {
	void (*begin)(void); /* from now on wait() waits */
	int (*wait)(uint64_t deadline);
	void (*serve)(void); /* ends a wait; if none, the next one is done at once */
	bool (*is_left)(void); /* what was served when nobody waited is still there */
} calls[] = {
	{lock, wait_for_mutex, unlock, mutex_is_free},
	{nothing, wait_for_cond, signal_cond, mutex_is_free},
	{nothing, wait_for_event, set, event_is_set},
	{nothing, wait_for_unit, post, unit_is_there},
	{fill, send_value, take, nothing_was_sent},
	{nothing, receive, fill, value_is_there},
	{nothing, receive_or_quit, fill, value_is_there},
};
#define CALLS ((int)(sizeof(calls) / sizeof(calls[0])))

static void *waits(void *arg)
{
	struct waiter *w = arg;

	w->result = w->wait(w->deadline);
	w->next = haul_sleep(1);
	return NULL;
}

/* Runs fn(&i) in a coroutine of a carrier that has no other. */
static void check(haul_fn *fn, int i)
{
	struct haul_runtime *rt = runtime_start(1);

	mutex = (struct haul_mutex){{0}};
	cond = (struct haul_cond){{0}};
	event = (struct haul_event){{0}};
	haul_sem_init(&sem, 0);
	ck_assert_int_eq(haul_chan_create(&ch, sizeof(value), 1), 0);
	ck_assert_pstr_eq(run_on(rt, 0, fn, &i), NULL);
	haul_chan_destroy(ch);
	runtime_stop(rt);
}

static struct haul_coro *begin_wait(struct waiter *w, int i, uint64_t deadline)
{
	struct haul_coro *co;

	calls[i].begin();
	*w = (struct waiter){.wait = calls[i].wait, .deadline = deadline};
	haul_spawn(&co, waits, w, NULL);
	haul_yield();
	return co;
}

static void *serve_and_cancel(void *arg)
{
	int i = *(int *)arg;
	struct waiter w;
	struct haul_coro *co = begin_wait(&w, i, HAUL_FOREVER);

	calls[i].serve();
	haul_cancel(co);
	haul_join(co, NULL, HAUL_FOREVER);
	EXPECT(w.result == 0);
	EXPECT(w.next == -ECANCELED); /* the cancel is not lost */
	return NULL;
}

START_TEST(served_then_cancelled_is_served)
{
	check(serve_and_cancel, _i);
}
END_TEST

static void *cancel_and_serve(void *arg)
{
	int i = *(int *)arg;
	struct waiter w;
	struct haul_coro *co = begin_wait(&w, i, HAUL_FOREVER);

	haul_cancel(co);
	calls[i].serve(); /* it has not run yet */
	haul_join(co, NULL, HAUL_FOREVER);
	EXPECT(w.result == 0);
	EXPECT(w.next == -ECANCELED);
	return NULL;
}

START_TEST(served_before_it_has_seen_the_cancel_is_served)
{
	check(cancel_and_serve, _i);
}
END_TEST

static void *cancel_then_serve(void *arg)
{
	int i = *(int *)arg;
	struct waiter w;
	struct haul_coro *co = begin_wait(&w, i, HAUL_FOREVER);

	haul_cancel(co);
	haul_join(co, NULL, HAUL_FOREVER);
	calls[i].serve();
	EXPECT(w.result == -ECANCELED);
	EXPECT(w.next == -ECANCELED);
	EXPECT(calls[i].is_left());
	return NULL;
}

START_TEST(cancelled_leaves_all_to_others)
{
	check(cancel_then_serve, _i);
}
END_TEST

static void *serve_late(void *arg)
{
	int i = *(int *)arg;
	struct waiter w;
	struct haul_coro *co = begin_wait(&w, i, haul_in(SHORT));

	while (haul_now() <= w.deadline)
		;
	calls[i].serve();
	haul_join(co, NULL, HAUL_FOREVER);
	/* The timer has expired only if the carrier was kept from running for long. */
	EXPECT(w.result == 0 || (w.result == -ETIMEDOUT && calls[i].is_left()));
	EXPECT(w.next == 0);
	return NULL;
}

START_TEST(served_late_is_served_or_leaves_all_to_others)
{
	check(serve_late, _i);
}
END_TEST

static void *expire(void *arg)
{
	int i = *(int *)arg;
	struct waiter w;
	struct haul_coro *co = begin_wait(&w, i, haul_in(SHORT));

	haul_join(co, NULL, HAUL_FOREVER);
	calls[i].serve();
	EXPECT(w.result == -ETIMEDOUT);
	EXPECT(w.next == 0);
	EXPECT(calls[i].is_left());
	return NULL;
}

START_TEST(expired_leaves_all_to_others)
{
	check(expire, _i);
}
END_TEST

static void *do_it_late(void *arg)
{
	int i = *(int *)arg;
	struct waiter w;
	struct haul_coro *co = begin_wait(&w, i, PASSED);
	bool waits_always = calls[i].wait == wait_for_cond;

	haul_join(co, NULL, HAUL_FOREVER);
	EXPECT(w.result == -ETIMEDOUT);
	calls[i].serve();
	EXPECT(calls[i].wait(PASSED) == (waits_always ? -ETIMEDOUT : 0));
	return NULL;
}

START_TEST(what_needs_no_wait_is_done_after_the_deadline)
{
	check(do_it_late, _i);
}
END_TEST

static void *try_cancelled(void *arg)
{
	int i = *(int *)arg;
	bool waits_always = calls[i].wait == wait_for_cond;

	calls[i].begin();
	calls[i].serve();
	haul_cancel(haul_self());
	EXPECT(calls[i].wait(HAUL_FOREVER) == -ECANCELED);
	EXPECT(calls[i].wait(PASSED) == -ECANCELED);
	EXPECT(calls[i].wait(0) == (waits_always ? -EAGAIN : 0));
	return NULL;
}

START_TEST(a_cancelled_caller_may_try)
{
	check(try_cancelled, _i);
}
END_TEST

SUITE_MAIN("sync_ends", {served_then_cancelled_is_served, CALLS},
	{served_before_it_has_seen_the_cancel_is_served, CALLS},
	{cancelled_leaves_all_to_others, CALLS},
	{served_late_is_served_or_leaves_all_to_others, CALLS},
	{expired_leaves_all_to_others, CALLS},
	{what_needs_no_wait_is_done_after_the_deadline, CALLS}, {a_cancelled_caller_may_try, CALLS})
