/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of haul/sync.h: the process (a child) dies with one line that names the call. */
#include <errno.h>

#include "misuse.h"
#include "support/suite.h"

static struct haul_mutex mutex;
static struct haul_cond cond;
static struct haul_event event;
static struct haul_sem sem;
static struct haul_chan *ch;

static void *in_a_coroutine(void *fn)
{
	((void (*)(void))fn)();
	return NULL;
}

static void on_carrier(unsigned i, void (*fn)(void))
{
	run_on(rt, i, in_a_coroutine, (void *)fn);
}

static void lock(void)
{
	haul_lock(&mutex);
}

static void try_lock(void)
{
	(void)haul_lock_by(&mutex, 0);
}

static void unlock(void)
{
	haul_unlock(&mutex);
}

static void wait_for_cond(void)
{
	(void)haul_cond_wait(&cond, &mutex, HAUL_FOREVER);
}

static void wait_for_event(void)
{
	(void)haul_event_wait(&event, HAUL_FOREVER);
}

static void wait_for_unit(void)
{
	(void)haul_sem_wait(&sem, haul_in(HAUL_S));
}

static void receive(void)
{
	int value;

	haul_chan_create(&ch, sizeof(value), 1);
	(void)haul_chan_recv(ch, &value, HAUL_FOREVER);
}

static void lock_none(void)
{
	haul_lock(NULL);
}

static void post_none(void)
{
	haul_sem_post(NULL);
}

static void set_none(void)
{
	haul_event_set(NULL);
}

static void close_none(void)
{
	haul_chan_close(NULL);
}

static void lock_twice(void)
{
	haul_lock(&mutex);
	haul_lock(&mutex);
}

static void locks_twice(void)
{
	on_carrier(0, lock_twice);
}

static void unlocks_what_is_free(void)
{
	on_carrier(0, unlock);
}

static void unlocks_what_others_hold(void)
{
	on_carrier(0, lock);
	on_carrier(1, unlock);
}

static void waits_without_mutex(void)
{
	on_carrier(0, wait_for_cond);
}

static void *waits_in_channel(void *arg)
{
	int value;

	(void)haul_chan_recv(ch, &value, HAUL_FOREVER);
	return arg;
}

static void destroy_in_use(void)
{
	haul_chan_create(&ch, sizeof(int), 1);
	haul_spawn(NULL, waits_in_channel, NULL, NULL);
	haul_yield();
	haul_chan_destroy(ch);
}

static void destroys_in_use(void)
{
	on_carrier(0, destroy_in_use);
}

static void select_event(void)
{
	struct haul_case cases[] = {haul_case_event(&event)};

	(void)haul_select(cases, 1, HAUL_FOREVER);
}

static void try_to_select_mutex(void)
{
	struct haul_case cases[] = {haul_case_lock(&mutex)};

	(void)haul_select(cases, 1, 0);
}

static void select_what_it_holds(void)
{
	haul_lock(&mutex);
	try_to_select_mutex();
}

static void selects_what_it_holds(void)
{
	on_carrier(0, select_what_it_holds);
}

static void select_none(void)
{
	(void)haul_select(NULL, 1, HAUL_FOREVER);
}

static void select_too_many(void)
{
	static struct haul_case cases[HAUL_CASES_MAX + 1];

	(void)haul_select(cases, HAUL_CASES_MAX + 1, 0);
}

static void case_of_none(void)
{
	int value;

	(void)haul_case_recv(NULL, &value);
}

static struct haul_case shared_case;

static void *selects_shared_case(void *arg)
{
	(void)haul_select(&shared_case, 1, HAUL_FOREVER);
	return arg;
}

static void select_twice(void)
{
	shared_case = haul_case_event(&event);
	haul_spawn(NULL, selects_shared_case, NULL, NULL);
	haul_yield();
	selects_shared_case(NULL);
}

static void selects_twice(void)
{
	on_carrier(0, select_twice);
}

static void wait_in_a_handler(void)
{
	struct haul_coro *poller;

	haul_poller_register(
		haul_carrier(rt, 0), &poller, poll_with_handler, (void *)wait_for_unit, NULL);
	haul_join(poller, NULL, HAUL_FOREVER);
}

#define OUTSIDE "called outside a coroutine"
#define IS_NULL "is NULL"

static const struct misuse misuses[] = {
	{lock, "haul_lock", OUTSIDE},
	{try_lock, "haul_lock_by", OUTSIDE},
	{unlock, "haul_unlock", "is not locked"},
	{wait_for_cond, "haul_cond_wait", OUTSIDE},
	{wait_for_event, "haul_event_wait", OUTSIDE},
	{wait_for_unit, "haul_sem_wait", OUTSIDE},
	{receive, "haul_chan_recv", OUTSIDE},
	{lock_none, "haul_lock", IS_NULL},
	{post_none, "haul_sem_post", IS_NULL},
	{set_none, "haul_event_set", IS_NULL},
	{close_none, "haul_chan_close", IS_NULL},
	{locks_twice, "haul_lock", "is held by the caller"},
	{unlocks_what_is_free, "haul_unlock", "is not locked"},
	{unlocks_what_others_hold, "haul_unlock", "is held by another coroutine"},
	{waits_without_mutex, "haul_cond_wait", "is not held by the caller"},
	{destroys_in_use, "haul_chan_destroy", "coroutines wait in channel"},
	{select_event, "haul_select", OUTSIDE},
	{try_to_select_mutex, "haul_select", OUTSIDE},
	{selects_what_it_holds, "haul_select", "is held by the caller"},
	{select_none, "haul_select", "are NULL"},
	{select_too_many, "haul_select", "65 cases; there are at most 64"},
	{selects_twice, "haul_select", "case 0 is in use"},
	{case_of_none, "haul_case_recv", IS_NULL},
	{wait_in_a_handler, "haul_sem_wait", "called in a burst handler"},
};
#define MISUSES ((int)(sizeof(misuses) / sizeof(misuses[0])))

START_TEST(a_mistake_is_reported)
{
	misuse_is_reported(&misuses[_i]);
}
END_TEST

/* With deadline 0 any thread may try. */
START_TEST(a_try_needs_no_coroutine)
{
	int value = 7;

	haul_sem_init(&sem, 1);
	ck_assert_int_eq(haul_sem_wait(&sem, 0), 0);
	ck_assert_int_eq(haul_sem_wait(&sem, 0), -EAGAIN);
	ck_assert_int_eq(haul_event_wait(&event, 0), -EAGAIN);
	ck_assert_int_eq(haul_chan_create(&ch, sizeof(value), 1), 0);
	ck_assert_int_eq(haul_chan_send(ch, &value, 0), 0);
	ck_assert_int_eq(haul_chan_send(ch, &value, 0), -EAGAIN);
	value = 0;
	ck_assert_int_eq(haul_chan_recv(ch, &value, 0), 0);
	ck_assert_int_eq(value, 7);
	haul_chan_destroy(ch);
}
END_TEST

SUITE_MAIN("sync_misuse", {a_mistake_is_reported, MISUSES}, {a_try_needs_no_coroutine, 1})
