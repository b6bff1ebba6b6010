/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutex, condition, event, semaphore, channel: what each call returns, and who is served when. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/runtime.h"
#include "support/suite.h"

#define MANY 1000 /* more than are served at once */
#define SHORT (2 * HAUL_MS)

struct shared {
	struct haul_mutex mutex;
	struct haul_cond cond;
	struct haul_event event;
	struct haul_sem sem;
	struct haul_chan *ch;
	struct haul_runtime *rt;
	int order[MANY], n; /* of one carrier */
	atomic_int waiting, done;
	int result;
	bool stop;
};

struct member {
	struct shared *s;
	int number;
};

/* Runs a coroutine that returns what is wrong, or NULL. */
static void check(haul_fn *fn, unsigned carriers)
{
	struct shared s = {.rt = runtime_start(carriers)};

	ck_assert_pstr_eq(run_on(s.rt, 0, fn, &s), NULL);
	runtime_stop(s.rt);
}

/* Spawns n members on the running carrier, and lets them begin. */
static void spawn_members(
	struct shared *s, struct member *m, struct haul_coro **cos, int n, haul_fn *fn)
{
	for (int i = 0; i < n; i++) {
		m[i] = (struct member){s, i};
		haul_spawn(&cos[i], fn, &m[i], &(struct haul_coro_opts){.pinned = true});
	}
	WAIT_UNTIL(s->waiting == n);
}

static void join_all(struct haul_coro **cos, int n)
{
	for (int i = 0; i < n; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
}

static bool in_order(const struct shared *s, int n)
{
	for (int i = 0; i < n; i++)
		if (s->order[i] != i)
			return false;
	return s->n == n;
}

static void *locks_and_notes(void *arg)
{
	struct member *m = arg;

	m->s->waiting++;
	haul_mutex_lock(&m->s->mutex);
	m->s->order[m->s->n++] = m->number;
	haul_mutex_unlock(&m->s->mutex);
	return NULL;
}

static void *mutex_is_fifo(void *arg)
{
	struct shared *s = arg;
	struct haul_mutex other = {{0}};
	struct haul_coro *cos[20];
	struct member m[20];

	haul_mutex_lock(&s->mutex);
	EXPECT(haul_mutex_lock_by(&other, 0) == 0);
	haul_mutex_unlock(&other);
	spawn_members(s, m, cos, 20, locks_and_notes);
	haul_mutex_unlock(&s->mutex);
	/* Handed to the first waiter, though the caller is faster. */
	EXPECT(haul_mutex_lock_by(&s->mutex, 0) == -EAGAIN);
	join_all(cos, 20);
	EXPECT(in_order(s, 20));
	return NULL;
}

START_TEST(mutex_is_handed_over_in_order)
{
	check(mutex_is_fifo, 1);
}
END_TEST

static void *locks_by(void *arg)
{
	struct shared *s = arg;

	s->waiting++;
	s->result = haul_mutex_lock_by(&s->mutex, s->stop ? HAUL_FOREVER : haul_in(SHORT));
	s->done++;
	return NULL;
}

static void *locks(void *arg)
{
	struct shared *s = arg;

	s->waiting++;
	haul_mutex_lock(&s->mutex);
	s->done++;
	haul_mutex_unlock(&s->mutex);
	return NULL;
}

static void *mutex_gives_up(void *arg)
{
	struct shared *s = arg;
	struct haul_coro *co;

	haul_mutex_lock(&s->mutex);
	haul_spawn(&co, locks_by, s, NULL);
	haul_join(co, NULL, HAUL_FOREVER);
	EXPECT(s->result == -ETIMEDOUT);
	s->stop = true;
	haul_spawn(&co, locks_by, s, NULL);
	WAIT_UNTIL(s->waiting == 2);
	haul_cancel(co);
	haul_join(co, NULL, HAUL_FOREVER);
	EXPECT(s->result == -ECANCELED && s->done == 2);
	/* A cancel does not end haul_mutex_lock(). */
	haul_spawn(&co, locks, s, NULL);
	WAIT_UNTIL(s->waiting == 3);
	haul_cancel(co);
	for (int i = 0; i < 10; i++)
		haul_yield();
	EXPECT(s->done == 2);
	haul_mutex_unlock(&s->mutex);
	haul_join(co, NULL, HAUL_FOREVER);
	EXPECT(s->done == 3);
	EXPECT(haul_mutex_lock_by(&s->mutex, 0) == 0);
	haul_mutex_unlock(&s->mutex);
	return NULL;
}

START_TEST(deadline_and_cancel_end_lock_by_only)
{
	check(mutex_gives_up, 1);
}
END_TEST

static void *waits_for_cond(void *arg)
{
	struct member *m = arg;
	struct shared *s = m->s;
	int err;

	haul_mutex_lock(&s->mutex);
	s->waiting++;
	err = haul_cond_wait(&s->cond, &s->mutex, HAUL_FOREVER);
	s->order[s->n++] = err ? -1 : m->number;
	haul_mutex_unlock(&s->mutex);
	return NULL;
}

static void *cond_wakes(void *arg)
{
	static struct haul_coro *cos[MANY];
	static struct member m[MANY];
	struct shared *s = arg;

	spawn_members(s, m, cos, MANY, waits_for_cond);
	for (int i = 1; i <= 3; i++) {
		haul_cond_signal(&s->cond);
		WAIT_UNTIL(s->n == i);
		haul_yield();
		EXPECT(s->n == i);
	}
	haul_cond_broadcast(&s->cond);
	join_all(cos, MANY);
	EXPECT(in_order(s, MANY));
	haul_cond_signal(&s->cond); /* nobody waits */
	haul_cond_broadcast(&s->cond);
	haul_mutex_lock(&s->mutex);
	EXPECT(haul_cond_wait(&s->cond, &s->mutex, 0) == -EAGAIN);
	EXPECT(haul_cond_wait(&s->cond, &s->mutex, haul_in(SHORT)) == -ETIMEDOUT);
	haul_mutex_unlock(&s->mutex); /* it was locked again */
	return NULL;
}

START_TEST(condition_wakes_one_or_all_in_order)
{
	check(cond_wakes, 1);
}
END_TEST

static void *waits_for_event(void *arg)
{
	struct member *m = arg;

	m->s->waiting++;
	m->s->order[m->number] = haul_event_wait(&m->s->event, HAUL_FOREVER);
	m->s->n++;
	return NULL;
}

static void *event_wakes(void *arg)
{
	static struct haul_coro *cos[MANY];
	static struct member m[MANY];
	struct shared *s = arg;

	EXPECT(!haul_event_is_set(&s->event));
	EXPECT(haul_event_wait(&s->event, 0) == -EAGAIN);
	EXPECT(haul_event_wait(&s->event, haul_in(SHORT)) == -ETIMEDOUT);
	spawn_members(s, m, cos, MANY, waits_for_event);
	EXPECT(s->n == 0);
	haul_cancel(cos[MANY / 2]); /* leaves from the middle, the last from the end */
	haul_cancel(cos[MANY - 1]);
	WAIT_UNTIL(s->n == 2);
	haul_event_set(&s->event);
	haul_event_reset(&s->event); /* all that waited are woken, nevertheless */
	haul_cancel(cos[MANY - 2]); /* perhaps too late */
	join_all(cos, MANY);
	EXPECT(s->n == MANY && !haul_event_is_set(&s->event));
	for (int i = 0; i < MANY - 2; i++)
		EXPECT(s->order[i] == (i == MANY / 2 ? -ECANCELED : 0));
	EXPECT(s->order[MANY - 1] == -ECANCELED);
	s->waiting = 0;
	spawn_members(s, m, cos, 1, waits_for_event);
	haul_event_set(&s->event);
	haul_event_set(&s->event);
	join_all(cos, 1);
	EXPECT(haul_event_wait(&s->event, 0) == 0);
	EXPECT(haul_event_wait(&s->event, HAUL_FOREVER) == 0);
	return NULL;
}

START_TEST(event_wakes_all_that_wait)
{
	check(event_wakes, 1);
}
END_TEST

static void *takes_unit(void *arg)
{
	struct member *m = arg;

	m->s->waiting++;
	if (haul_sem_wait(&m->s->sem, HAUL_FOREVER) == 0)
		m->s->order[m->s->n++] = m->number;
	return NULL;
}

static void *sem_counts(void *arg)
{
	struct shared *s = arg;
	struct haul_coro *cos[10];
	struct member m[10];

	EXPECT(haul_sem_wait(&s->sem, 0) == -EAGAIN);
	haul_sem_init(&s->sem, 2);
	EXPECT(haul_sem_wait(&s->sem, HAUL_FOREVER) == 0);
	EXPECT(haul_sem_wait(&s->sem, 0) == 0);
	EXPECT(haul_sem_wait(&s->sem, haul_in(SHORT)) == -ETIMEDOUT);
	spawn_members(s, m, cos, 10, takes_unit);
	for (int i = 0; i < 10; i++)
		haul_sem_post(&s->sem);
	EXPECT(haul_sem_wait(&s->sem, 0) == -EAGAIN); /* all units are handed over */
	join_all(cos, 10);
	EXPECT(in_order(s, 10));
	haul_sem_post(&s->sem);
	EXPECT(haul_sem_wait(&s->sem, 0) == 0);
	haul_cancel(haul_self());
	haul_sem_post(&s->sem);
	EXPECT(haul_sem_wait(&s->sem, HAUL_FOREVER) == -ECANCELED);
	EXPECT(haul_sem_wait(&s->sem, 0) == 0);
	return NULL;
}

START_TEST(semaphore_hands_units_over_in_order)
{
	check(sem_counts, 1);
}
END_TEST

static void *sends_100(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < 100; i++)
		if (haul_chan_send(s->ch, &i, HAUL_FOREVER) != 0)
			return "a send has failed";
	haul_chan_close(s->ch);
	return NULL;
}

static void *chan_keeps_order(void *arg)
{
	struct shared *s = arg;
	struct haul_coro *co;
	int value = 0;
	void *wrong;

	for (unsigned count = 0; count < 5; count++) {
		EXPECT(haul_chan_create(&s->ch, sizeof(int), count) == 0);
		haul_spawn(&co, sends_100, s, NULL);
		for (int i = 0; i < 100; i++) {
			EXPECT(haul_chan_recv(s->ch, &value, HAUL_FOREVER) == 0);
			EXPECT(value == i);
		}
		EXPECT(haul_chan_recv(s->ch, &value, HAUL_FOREVER) == -EPIPE);
		EXPECT(haul_chan_send(s->ch, &value, HAUL_FOREVER) == -EPIPE);
		haul_join(co, &wrong, HAUL_FOREVER);
		EXPECT(!wrong);
		haul_chan_destroy(s->ch);
	}
	return NULL;
}

START_TEST(channel_keeps_the_order_of_sends)
{
	check(chan_keeps_order, 1);
	check(chan_keeps_order, 3);
}
END_TEST

static void *receives_or_sends(void *arg)
{
	struct member *m = arg;
	int value = m->number;

	m->s->waiting++;
	m->s->order[m->number] = m->s->stop ? haul_chan_send(m->s->ch, &value, HAUL_FOREVER)
					    : haul_chan_recv(m->s->ch, &value, HAUL_FOREVER);
	return NULL;
}

/* Fills, empties, tries, gives up, and closes with waiters on either side. */
static void *chan_is_bounded(void *arg)
{
	static struct haul_coro *cos[MANY];
	static struct member m[MANY];
	struct shared *s = arg;
	int value;

	EXPECT(haul_chan_create(&s->ch, 0, 1) == -EINVAL);
	EXPECT(haul_chan_create(&s->ch, HAUL_CHAN_SIZE_MAX + 1, 1) == -EINVAL);
	for (int sends = 0; sends < 2; sends++) {
		s->stop = sends;
		s->waiting = 0;
		EXPECT(haul_chan_create(&s->ch, sizeof(int), 3) == 0);
		EXPECT(haul_chan_recv(s->ch, &value, 0) == -EAGAIN);
		EXPECT(haul_chan_recv(s->ch, &value, haul_in(SHORT)) == -ETIMEDOUT);
		for (value = 10; value < 13; value++)
			EXPECT(haul_chan_send(s->ch, &value, 0) == 0);
		EXPECT(haul_chan_send(s->ch, &value, 0) == -EAGAIN);
		EXPECT(haul_chan_send(s->ch, &value, haul_in(SHORT)) == -ETIMEDOUT);
		for (int i = 0; !sends && i < 3; i++)
			EXPECT(haul_chan_recv(s->ch, &value, 0) == 0 && value == 10 + i);
		spawn_members(s, m, cos, MANY, receives_or_sends);
		haul_cancel(cos[MANY - 1]);
		haul_join(cos[MANY - 1], NULL, HAUL_FOREVER);
		EXPECT(s->order[MANY - 1] == -ECANCELED);
		haul_chan_close(s->ch);
		haul_chan_close(s->ch);
		join_all(cos, MANY - 1);
		for (int i = 0; i < MANY - 1; i++)
			EXPECT(s->order[i] == -EPIPE);
		for (int i = 0; sends && i < 3; i++)
			EXPECT(haul_chan_recv(s->ch, &value, 0) == 0 && value == 10 + i);
		EXPECT(haul_chan_recv(s->ch, &value, 0) == -EPIPE);
		haul_chan_destroy(s->ch);
	}
	haul_chan_destroy(NULL);
	return NULL;
}

START_TEST(channel_is_bounded_and_closes)
{
	check(chan_is_bounded, 1);
}
END_TEST

/* A plain thread serves coroutines of two carriers. */
static void *waits_twice(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < 100; i++)
		if (haul_sem_wait(&s->sem, HAUL_FOREVER) != 0)
			return "the semaphore";
	return haul_event_wait(&s->event, HAUL_FOREVER) == 0 ? NULL : "the event";
}

START_TEST(threads_serve_coroutines)
{
	struct shared s = {.rt = runtime_start(2)};
	struct haul_coro *cos[2];
	void *wrong;

	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(s.rt, i), &cos[i], waits_twice, &s, NULL), 0);
	for (int i = 0; i < 200; i++)
		haul_sem_post(&s.sem);
	haul_event_set(&s.event);
	ck_assert(haul_event_is_set(&s.event));
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(haul_join(cos[i], &wrong, HAUL_FOREVER), 0);
		ck_assert_pstr_eq(wrong, NULL);
	}
	ck_assert_int_eq(haul_sem_wait(&s.sem, 0), -EAGAIN);
	runtime_stop(s.rt);
}
END_TEST

/* A stop ends waits, but for haul_mutex_lock(). */
static void *waits_for_ever(void *arg)
{
	struct shared *s = arg;

	s->waiting++;
	s->result += haul_sem_wait(&s->sem, HAUL_FOREVER) == -ECANCELED;
	return NULL;
}

START_TEST(stop_cancels_waits)
{
	struct shared s = {.rt = runtime_start(1)};

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(s.rt, 0), NULL, waits_for_ever, &s, NULL), 0);
	WAIT_UNTIL(s.waiting == 100);
	runtime_stop(s.rt);
	ck_assert_int_eq(s.result, 100);
}
END_TEST

static void *sleeps_until(void *arg)
{
	uint64_t start = haul_now(), at = start;

	for (int i = 0; i < 5; i++) {
		at += HAUL_MS;
		EXPECT(haul_sleep_until(at) == 0);
		EXPECT(haul_now() >= at);
	}
	EXPECT(haul_sleep_until(start) == 0); /* has passed: runs others once */
	EXPECT(haul_in(HAUL_FOREVER) == HAUL_FOREVER && haul_in(HAUL_FOREVER - 1) == HAUL_FOREVER);
	EXPECT(haul_in(HAUL_S) > haul_now());
	return NULL;
}

START_TEST(sleep_until_is_not_early)
{
	check(sleeps_until, 1);
}
END_TEST

SUITE_MAIN("sync", {mutex_is_handed_over_in_order, 1}, {deadline_and_cancel_end_lock_by_only, 1},
	{condition_wakes_one_or_all_in_order, 1}, {event_wakes_all_that_wait, 1},
	{semaphore_hands_units_over_in_order, 1}, {channel_keeps_the_order_of_sends, 1},
	{channel_is_bounded_and_closes, 1}, {threads_serve_coroutines, 1}, {stop_cancels_waits, 1},
	{sleep_until_is_not_early, 1})
