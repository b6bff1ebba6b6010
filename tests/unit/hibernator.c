/* SPDX-License-Identifier: BSD-3-Clause */
/* The hibernator: when it rests, and who wakes it. */
#include <pthread.h>
#include <unistd.h>

#include <haul/driver.h>

#include "hibernate.h"
#include "sched/look/quiet.h"
#include "sched/state/carrier.h"
#include "sched/state/runtime.h"

static void wait_until_it_rests(const struct haul_carrier *c)
{
	uint64_t rounds;

	do {
		rounds = hauli_counter_read(&c->counts.rounds);
		usleep(30000); /* nothing is to come */
	} while (rounds != hauli_counter_read(&c->counts.rounds));
}

/* With nothing left to freeze no timer is armed: so virtual time does not run away, and a deadlock
 * can be told. */
START_TEST(hibernator_rests_and_is_woken)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){.virtual_time = _i}, 1);
	struct idle all[IDLE] = {0};

	for (unsigned turn = 1; turn <= 3; turn++) {
		for (unsigned i = 0; i < IDLE; i++)
			haul_detach(spawn(rt, &all[i]));
		look(rt, turn * IDLE);
		wait_until_it_rests(haul_carrier(rt, 0));
	}
	runtime_stop(rt);
}
END_TEST

START_TEST(hibernator_is_no_deadlock)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);

	ck_assert_pstr_eq(run_on(rt, 0, idle, &(struct idle){.sleep_ns = HAUL_MS}), NULL);
	wait_until_it_rests(haul_carrier(rt, 0));
	hauli_quiet_tell_at_stop(rt);
	ck_assert(!rt->told_deadlock);
	runtime_stop(rt);
}
END_TEST

struct launched {
	pthread_t thread;
	int (*fn)(void *arg);
	void *arg;
	bool told;
};

static void *runs(void *arg)
{
	struct launched *l = arg;

	l->fn(l->arg);
	return NULL;
}

/* Returns when the carrier sleeps. */
static int launch(
	void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *), void *arg)
{
	struct haul_carrier *c = arg;
	struct launched *l = ctx;

	l->fn = fn;
	l->arg = arg;
	ck_assert_int_eq(pthread_create(&l->thread, NULL, runs, l), 0);
	while (!hauli_inbox_has_slept(&c->mail.inbox))
		usleep(100); /* nothing is to come */
	hauli_quiet_tell_at_stop(c->rt);
	l->told = c->rt->told_deadlock;
	return 0;
}

static void join_thread(void *ctx, unsigned i)
{
	pthread_join(((struct launched *)ctx)->thread, NULL);
}

START_TEST(no_deadlock_before_the_hibernator_begins)
{
	struct launched l = {0};
	const struct haul_launcher launcher = {launch, join_thread, &l};

	runtime_stop(start((struct haul_runtime_opts){.launcher = &launcher}, 1));
	ck_assert(!l.told);
}
END_TEST

#if HAUL_STEALING
struct stolen {
	atomic_bool began, remote, hogs, goes_on;
	struct idle idle;
};

static void *hog(void *arg)
{
	struct stolen *s = arg;

	while (s->hogs)
		;
	return arg;
}

/* Parks at the end of a long slice, on a thief. */
static void *parks_late(void *arg)
{
	struct stolen *s = arg;
	bool remote = haul_carrier_self() != haul_coro_home(haul_self());

	s->remote = remote;
	s->began = true;
	if (!remote)
		return NULL;
	while (!s->goes_on)
		;
	return idle(&s->idle);
}

static bool is_stolen(struct haul_runtime *rt, struct stolen *s)
{
	struct haul_carrier *home = haul_carrier(rt, 0);

	s->began = false;
	s->hogs = true;
	ck_assert_int_eq(
		haul_spawn_on(home, NULL, hog, s, &(struct haul_coro_opts){.pinned = true}), 0);
	ck_assert_int_eq(haul_spawn_on(home, NULL, parks_late, s, &hibernates), 0);
	usleep(10000); /* for the thief */
	s->hogs = false;
	WAIT_UNTIL(s->began); /* else it runs at home */
	return s->remote;
}

/* It parks at home by a message, while its home sleeps and has run nothing since. */
START_TEST(one_that_comes_home_to_park_freezes)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){.steal = HAUL_STEAL_GLOBAL}, 2);
	struct stolen s = {.idle.deadline = HAUL_FOREVER};

	while (!is_stolen(rt, &s))
		;
	wait_until_it_rests(haul_carrier(rt, 0));
	s.goes_on = true;
	look(rt, 1);
	runtime_stop(rt);
}
END_TEST
#endif

static void *spins(void *arg)
{
	while (haul_maybe_yield(false))
		;
	return arg;
}

START_TEST(poller_that_comes_later_keeps_the_hibernator_awake)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct haul_carrier *c = haul_carrier(rt, 0);
	struct idle i = {0};

	wait_until_it_rests(c);
	ck_assert_int_eq(haul_poller_register(c, NULL, spins, NULL, NULL), 0);
	usleep(30000); /* it spins a while */
	haul_detach(spawn(rt, &i));
	look(rt, 1);
	runtime_stop(rt);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{hibernator_rests_and_is_woken, 2},
		{hibernator_is_no_deadlock, 1},
		{no_deadlock_before_the_hibernator_begins, 1},
		{poller_that_comes_later_keeps_the_hibernator_awake, 1},
#if HAUL_STEALING
		{one_that_comes_home_to_park_freezes, 1},
#endif
	};

	return suite_run("hibernator", tests, sizeof(tests) / sizeof(tests[0]));
}
