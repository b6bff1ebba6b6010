/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking pollers, on more carriers than CPUs, under input and work from everywhere: a client
 * sends a request, waits for the answer, sends the next one. There is no time-out: a lost wakeup
 * hangs.
 */
#include <pthread.h>
#include <sched.h>

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 4
#define WAKERS 2
#define BACKLOG 10000 /* spawns; a million would wait for the stop, and for memory */

struct bed {
	struct haul_runtime *rt;
	struct evpoller pollers[CARRIERS];
	atomic_ulong answered[CARRIERS];
	atomic_bool end;
};

static void *answers(void *arg)
{
	++*(atomic_ulong *)arg;
	return NULL;
}

struct client {
	struct bed *bed;
	unsigned carrier;
	uint64_t seed;
	pthread_t thread;
	unsigned long requests;
};

/* Sends requests one by one, each as input or as a spawn, after a random gap: the poller may be
 * anywhere on its way to sleep. */
static void *asks(void *arg)
{
	struct client *client = arg;
	struct bed *bed = client->bed;
	struct haul_carrier *c = haul_carrier(bed->rt, client->carrier);
	struct hauli_random random;

	hauli_random_init(&random, client->seed);
	while (!bed->end) {
		unsigned long before = bed->answered[client->carrier];
		uint64_t until = haul_now() + hauli_random_below(&random, 20000);

		if (hauli_random_below(&random, 2))
			eventfd_write(bed->pollers[client->carrier].source, 1);
		else
			haul_spawn_on(c, NULL, answers, &bed->answered[client->carrier], NULL);
		client->requests++;
		WAIT_UNTIL(bed->answered[client->carrier] > before);
		while (haul_now() < until)
			;
	}
	return NULL;
}

static void *returns(void *arg)
{
	return arg;
}

/* Messages between carriers, beside the requests. */
static void *gives_around(void *arg)
{
	struct bed *bed = arg;
	unsigned next = 0;

	while (!bed->end && !haul_cancelled()) {
		struct haul_coro *co;

		if (haul_spawn_on(haul_carrier(bed->rt, next++ % CARRIERS), &co, returns, NULL,
			    NULL) == 0)
			haul_join(co, NULL, HAUL_FOREVER);
		haul_sleep(100 * HAUL_US);
	}
	return NULL;
}

START_TEST(each_request_is_answered)
{
	static struct bed bed;
	struct client clients[CARRIERS];
	struct haul_coro *around;
	uint64_t deadline = stress_deadline(), seed = stress_seed();

	bed = (struct bed){.rt = runtime_start(CARRIERS)};
	for (unsigned i = 0; i < CARRIERS; i++) {
		struct evpoller *p = &bed.pollers[i];

		p->on_input = answers;
		p->arg = &bed.answered[i];
		evpoller_open(p);
		ck_assert_int_eq(evpoller_register(haul_carrier(bed.rt, i), p, NULL), 0);
	}
	ck_assert_int_eq(haul_spawn_any(bed.rt, &around, gives_around, &bed, NULL), 0);
	for (unsigned i = 0; i < CARRIERS; i++) {
		clients[i] = (struct client){.bed = &bed, .carrier = i, .seed = seed + i};
		ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, asks, &clients[i]), 0);
	}
	WAIT_UNTIL(haul_now() >= deadline);
	bed.end = true;
	for (unsigned i = 0; i < CARRIERS; i++) {
		pthread_join(clients[i].thread, NULL);
		ck_assert_uint_gt(clients[i].requests, 10);
	}
	haul_join(around, NULL, HAUL_FOREVER);
	runtime_stop(bed.rt);
	for (unsigned i = 0; i < CARRIERS; i++)
		evpoller_close(&bed.pollers[i]);
}
END_TEST

/* Pollers come and go while wakers call them: a poller's wakeup outlives the last call. */
static void *keeps_waking(void *arg)
{
	struct bed *bed = arg;

	for (unsigned long n = 0; !bed->end; n++) {
		haul_spawn_on(haul_carrier(bed->rt, 0), NULL, answers, &bed->answered[0], NULL);
		while (n * WAKERS > bed->answered[0] + BACKLOG && !bed->end)
			sched_yield();
	}
	return NULL;
}

START_TEST(poller_may_end_while_it_is_woken)
{
	static struct bed bed;
	uint64_t deadline = stress_deadline();
	pthread_t wakers[WAKERS];

	bed = (struct bed){.rt = runtime_start(1)};
	for (int i = 0; i < WAKERS; i++)
		ck_assert_int_eq(pthread_create(&wakers[i], NULL, keeps_waking, &bed), 0);
	do {
		/* On the heap, so that a sanitizer finds a late call. */
		struct evpoller *p = calloc(1, sizeof(*p));
		struct haul_coro *poller;

		evpoller_open(p);
		ck_assert_int_eq(evpoller_register(haul_carrier(bed.rt, 0), p, &poller), 0);
		WAIT_UNTIL(p->waits > 0 || haul_now() >= deadline);
		haul_cancel(poller);
		haul_join(poller, NULL, HAUL_FOREVER);
		evpoller_close(p);
		free(p);
	} while (haul_now() < deadline);
	bed.end = true;
	for (int i = 0; i < WAKERS; i++)
		pthread_join(wakers[i], NULL);
	runtime_stop(bed.rt);
}
END_TEST

SUITE_MAIN("poller", {each_request_is_answered, 1}, {poller_may_end_while_it_is_woken, 1})
