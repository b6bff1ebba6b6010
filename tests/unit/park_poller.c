/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking pollers: the three steps, the number of wake-ups, and events between the steps. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/suite.h"

static struct haul_runtime *rt;
static struct evpoller p;
static struct haul_coro *poller;

static uint64_t parks(void)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(rt, 0), &st);
	return st.parks;
}

/* A call may come late: after its park has ended by itself and another wait has begun. So waits and
 * calls are counted independently. */
static bool is_blocked(void)
{
	return p.blocked;
}

static void begin(void (*between)(struct evpoller *p))
{
	p = (struct evpoller){.between = between};
	evpoller_open(&p);
	rt = runtime_start(1);
	ck_assert_int_eq(evpoller_register(haul_carrier(rt, 0), &p, &poller), 0);
}

static void end(void)
{
	runtime_stop(rt);
	evpoller_close(&p);
}

static void *returns(void *arg)
{
	return arg;
}

static void *counts(void *arg)
{
	++*(atomic_uint *)arg;
	return NULL;
}

START_TEST(blocked_carrier_is_woken_by_one_call)
{
	begin(NULL);
	for (unsigned i = 0; i < 200; i++) {
		WAIT_UNTIL(is_blocked());
		ck_assert_uint_eq(p.wakeups, i);
		ck_assert_int_eq(haul_spawn_any(rt, NULL, returns, NULL, NULL), 0);
		WAIT_UNTIL(p.waits == i + 2);
		ck_assert_uint_eq(p.wakeups, i + 1);
	}
	end();
}
END_TEST

#define GIVERS 8

static pthread_barrier_t together;

static void *gives(void *arg)
{
	pthread_barrier_wait(&together);
	haul_spawn_any(rt, NULL, counts, arg, NULL);
	return NULL;
}

START_TEST(eight_givers_make_one_call_per_park)
{
	atomic_uint ran = 0;

	begin(NULL);
	pthread_barrier_init(&together, NULL, GIVERS);
	for (unsigned round = 1; round <= 100; round++) {
		pthread_t threads[GIVERS];

		WAIT_UNTIL(is_blocked());
		for (int i = 0; i < GIVERS; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, gives, &ran), 0);
		for (int i = 0; i < GIVERS; i++)
			pthread_join(threads[i], NULL);
		WAIT_UNTIL(ran == GIVERS * round);
	}
	WAIT_UNTIL(is_blocked());
	ck_assert_uint_ge(parks(), p.wakeups + 1);
	ck_assert_uint_lt(p.wakeups, GIVERS * 100);
	pthread_barrier_destroy(&together);
	end();
}
END_TEST

static atomic_uint from_between;

/* Another thread's work arrives exactly between the two steps. */
static void spawn_from_a_thread(struct evpoller *poller_here)
{
	static atomic_bool done;
	pthread_t thread;

	if (done || p.waits < 3)
		return;
	done = true;
	pthread_barrier_init(&together, NULL, 1);
	pthread_create(&thread, NULL, gives, &from_between);
	pthread_join(thread, NULL);
	ck_assert(!haul_poller_can_park());
}

START_TEST(work_between_park_and_wait_is_run_without_another_event)
{
	from_between = 0;
	begin(spawn_from_a_thread);
	/* Messages that come while the owner is awake cause no further wait. */
	while (from_between == 0)
		run_on(rt, 0, returns, NULL);
	ck_assert(p.could_not_park);
	end();
}
END_TEST

static void yield_in_between(struct evpoller *poller_here)
{
	haul_yield();
	ck_assert(!haul_poller_can_park());
}

static void sleep_in_between(struct evpoller *poller_here)
{
	haul_sleep(10 * HAUL_US);
	ck_assert(!haul_poller_can_park());
}

/* A poller that suspends after its park is found unparked; it does not block then, and work goes
 * on. */
START_TEST(poller_descheduled_between_the_steps_is_unparked)
{
	atomic_uint ran = 0;

	begin(_i ? sleep_in_between : yield_in_between);
	for (unsigned i = 1; i <= 200; i++) {
		ck_assert_int_eq(haul_spawn_any(rt, NULL, counts, &ran, NULL), 0);
		WAIT_UNTIL(ran == i);
	}
	ck_assert_uint_eq(p.waits, 0);
	end();
}
END_TEST

START_TEST(input_ends_the_wait)
{
	atomic_uint handled = 0;

	p = (struct evpoller){.on_input = counts, .arg = &handled};
	evpoller_open(&p);
	rt = runtime_start(1);
	ck_assert_int_eq(evpoller_register(haul_carrier(rt, 0), &p, &poller), 0);
	for (unsigned i = 1; i <= 500; i++) {
		eventfd_write(p.source, 1);
		WAIT_UNTIL(handled == i);
	}
	ck_assert_uint_eq(p.wakeups, 0);
	end();
}
END_TEST

static void *sleeps(void *arg)
{
	for (int i = 0; i < 20; i++)
		if (haul_sleep(200 * HAUL_US) != 0)
			return "cancelled";
	return NULL;
}

START_TEST(timers_fire_while_the_poller_blocks)
{
	begin(NULL);
	ck_assert_pstr_eq(run_on(rt, 0, sleeps, NULL), NULL);
	/* The poller slept, and no waker called it for the timers. */
	ck_assert_uint_ge(p.waits, 20);
	ck_assert_uint_le(p.wakeups, 3);
	end();
}
END_TEST

START_TEST(cancel_and_stop_end_a_blocked_poller)
{
	void *status;

	begin(NULL);
	WAIT_UNTIL(is_blocked());
	haul_cancel(poller);
	haul_join(poller, &status, HAUL_FOREVER);
	ck_assert_ptr_eq(status, &p);
	/* A carrier without a poller sleeps on its futex and is woken there. */
	ck_assert_ptr_eq(run_on(rt, 0, returns, &p), &p);
	ck_assert_int_eq(evpoller_register(haul_carrier(rt, 0), &p, NULL), 0);
	WAIT_UNTIL(p.waits == 2);
	end();
}
END_TEST

static void *tries_without_a_wakeup(void *arg)
{
	bool parked = false;

	for (int i = 0; i < 100; i++) {
		haul_maybe_yield(false);
		parked |= haul_poller_try_park();
		haul_poller_unpark();
	}
	return parked ? "parked" : NULL;
}

START_TEST(poller_without_a_wakeup_cannot_park)
{
	void *wrong;

	rt = runtime_start(1);
	haul_poller_register(haul_carrier(rt, 0), &poller, tries_without_a_wakeup, NULL, NULL);
	haul_join(poller, &wrong, HAUL_FOREVER);
	ck_assert_pstr_eq(wrong, NULL);
	runtime_stop(rt);
}
END_TEST

/* A poller that waits as a coroutine and is woken by another one: its carrier is free meanwhile,
 * and sleeps on the futex although a wakeup is registered. */
static void *waits_as_a_coroutine(void *arg)
{
	struct evpoller *e = arg;

	while (haul_maybe_yield(true))
		if (haul_park(HAUL_FOREVER) == 0)
			e->waits++;
	return NULL;
}

START_TEST(poller_may_wait_as_a_coroutine)
{
	struct haul_poller_opts opts = {.wakeup = evpoller_wakeup};

	p = (struct evpoller){0};
	evpoller_open(&p);
	rt = runtime_start(1);
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(rt, 0), &poller, waits_as_a_coroutine, &p, &opts),
		0);
	for (unsigned i = 1; i <= 200; i++) {
		haul_unpark(poller);
		WAIT_UNTIL(p.waits == i);
		ck_assert_ptr_eq(run_on(rt, 0, returns, &p), &p);
	}
	ck_assert_uint_eq(p.wakeups, 0);
	end();
}
END_TEST

SUITE_MAIN("park_poller", {blocked_carrier_is_woken_by_one_call, 1},
	{eight_givers_make_one_call_per_park, 1},
	{work_between_park_and_wait_is_run_without_another_event, 1},
	{poller_descheduled_between_the_steps_is_unparked, 2}, {input_ends_the_wait, 1},
	{timers_fire_while_the_poller_blocks, 1}, {cancel_and_stop_end_a_blocked_poller, 1},
	{poller_without_a_wakeup_cannot_park, 1}, {poller_may_wait_as_a_coroutine, 1})
