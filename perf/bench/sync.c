/* SPDX-License-Identifier: BSD-3-Clause */
/* What do the objects of haul/sync.h cost, alone and when coroutines of one carrier wait? */
#include <haul/coro.h>
#include <haul/sync.h>

#include <errno.h>

#include "bench/pthreads.h"
#include "harness/carrier.h"
#include "harness/harness.h"

static struct {
	struct haul_mutex mutex;
	struct haul_chan *ch, *ch2;
	struct haul_sem ping, pong;
	struct haul_cond changed[2];
	unsigned turn; /* whose, guarded by mutex */
	uint64_t n;
	bool limited; /* waits have a deadline, which does not pass */
} s;

static int setup(uint64_t param)
{
	s.limited = param != 0;
	return perf_carriers_start(1);
}

static uint64_t lock_each(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		haul_mutex_lock(&s.mutex);
		haul_mutex_unlock(&s.mutex);
	}
	return perf_now() - start;
}

static uint64_t run_lock(uint64_t n)
{
	return perf_on_carrier(lock_each, n);
}

static uint64_t send_each(uint64_t n)
{
	uint64_t start = perf_now(), value;

	for (uint64_t i = 0; i < n; i++) {
		perf_must(haul_chan_send(s.ch, &i, HAUL_FOREVER), "haul_chan_send");
		perf_must(haul_chan_recv(s.ch, &value, HAUL_FOREVER), "haul_chan_recv");
		PERF_KEEP(value);
	}
	return perf_now() - start;
}

static uint64_t run_chan(uint64_t n)
{
	uint64_t ns;

	perf_must(haul_chan_create(&s.ch, sizeof(uint64_t), 16), "haul_chan_create");
	ns = perf_on_carrier(send_each, n);
	haul_chan_destroy(s.ch);
	return ns;
}

static void create_channels(unsigned count)
{
	perf_must(haul_chan_create(&s.ch, sizeof(uint64_t), count), "haul_chan_create");
	perf_must(haul_chan_create(&s.ch2, sizeof(uint64_t), count), "haul_chan_create");
}

static void destroy_channels(void)
{
	haul_chan_destroy(s.ch);
	haul_chan_destroy(s.ch2);
}

/* Receives n values, whichever channel has one. */
static void select_each(uint64_t n, bool sends)
{
	uint64_t value = 0;
	struct haul_case either[] = {
		haul_case_recv(s.ch, &value),
		haul_case_recv(s.ch2, &value),
	};

	for (uint64_t i = 0; i < n; i++) {
		if (sends)
			perf_must(haul_chan_send(i % 2 ? s.ch : s.ch2, &i, HAUL_FOREVER),
				"haul_chan_send");
		if (haul_select(either, 2, HAUL_FOREVER) < 0)
			perf_must(-ECANCELED, "haul_select");
		PERF_KEEP(value);
	}
}

static uint64_t select_ready(uint64_t n)
{
	uint64_t start = perf_now();

	select_each(n, true);
	return perf_now() - start;
}

static uint64_t run_select(uint64_t n)
{
	uint64_t ns;

	create_channels(16);
	ns = perf_on_carrier(select_ready, n);
	destroy_channels();
	return ns;
}

static void *sends_to_both(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++)
		perf_must(haul_chan_send(i % 2 ? s.ch : s.ch2, &i, HAUL_FOREVER), "haul_chan_send");
	return arg;
}

static uint64_t select_waits(uint64_t n)
{
	uint64_t start = perf_now();
	struct haul_coro *co;

	s.n = n;
	perf_must(haul_spawn(&co, sends_to_both, NULL, NULL), "haul_spawn");
	select_each(n, false);
	perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	return perf_now() - start;
}

static uint64_t run_select_wait(uint64_t n)
{
	uint64_t ns;

	create_channels(0);
	ns = perf_on_carrier(select_waits, n);
	destroy_channels();
	return ns;
}

static void *lock_and_yield(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		haul_mutex_lock(&s.mutex);
		haul_yield();
		haul_mutex_unlock(&s.mutex);
	}
	return arg;
}

static uint64_t contend(uint64_t n)
{
	uint64_t start = perf_now();
	struct haul_coro *co;

	s.n = n / 2;
	perf_must(haul_spawn(&co, lock_and_yield, NULL, NULL), "haul_spawn");
	lock_and_yield(NULL);
	perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	return perf_now() - start;
}

static uint64_t run_contended(uint64_t n)
{
	return perf_on_carrier(contend, n);
}

static uint64_t deadline(void)
{
	return s.limited ? haul_in(HAUL_S) : HAUL_FOREVER;
}

static void *echo(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		perf_must(haul_sem_wait(&s.ping, deadline()), "haul_sem_wait");
		haul_sem_post(&s.pong);
	}
	return arg;
}

static uint64_t bounce(uint64_t n)
{
	uint64_t start = perf_now();
	struct haul_coro *co;

	s.n = n;
	perf_must(haul_spawn(&co, echo, NULL, NULL), "haul_spawn");
	for (uint64_t i = 0; i < n; i++) {
		haul_sem_post(&s.ping);
		perf_must(haul_sem_wait(&s.pong, deadline()), "haul_sem_wait");
	}
	perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	return perf_now() - start;
}

static uint64_t run_bounce(uint64_t n)
{
	return perf_on_carrier(bounce, n);
}

static void await_turn(unsigned who)
{
	haul_mutex_lock(&s.mutex);
	while (s.turn != who)
		perf_must(haul_cond_wait(&s.changed[who], &s.mutex, deadline()), "haul_cond_wait");
	haul_mutex_unlock(&s.mutex);
}

static void give_turn(unsigned whose)
{
	haul_mutex_lock(&s.mutex);
	s.turn = whose;
	haul_mutex_unlock(&s.mutex);
	haul_cond_signal(&s.changed[whose]);
}

static void *give_back(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		await_turn(1);
		give_turn(0);
	}
	return arg;
}

static uint64_t take_turns(uint64_t n)
{
	uint64_t start = perf_now();
	struct haul_coro *co;

	s.n = n;
	perf_must(haul_spawn(&co, give_back, NULL, NULL), "haul_spawn");
	for (uint64_t i = 0; i < n; i++) {
		give_turn(1);
		await_turn(0);
	}
	perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	return perf_now() - start;
}

static uint64_t run_cond(uint64_t n)
{
	return perf_on_carrier(take_turns, n);
}

static const struct perf_case cases[] = {
	{
		.name = "lock-unlock",
		.question = "lock a mutex that nobody holds, and unlock it",
		.sides =
			{
				{"haul", setup, run_lock, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"boost.fiber", .program = "peer-fiber"},
				{"pthread", perf_pthread_setup, perf_pthread_lock, NULL},
			},
	},
	{
		.name = "send-recv",
		.question = "send a value into a channel with room, and receive it",
		.sides =
			{
				{"haul", setup, run_chan, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"boost.fiber", .program = "peer-fiber"},
			},
	},
	{
		.name = "contended",
		.question = "lock a mutex, yield, unlock it: one of two coroutines that both do",
		.sides =
			{
				{"haul", setup, run_contended, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"boost.fiber", .program = "peer-fiber"},
				{"pthread", perf_pthread_setup, perf_pthread_contended, NULL},
			},
	},
	{
		.name = "select",
		.question = "send a value into one of two channels, and receive it from either",
		.sides =
			{
				{"haul", setup, run_select, perf_carriers_stop},
				{"go", .program = "peer-go"},
			},
	},
	{
		.name = "select-wait",
		.question = "wait for a value from either of two channels, which another sends",
		.sides =
			{
				{"haul", setup, run_select_wait, perf_carriers_stop},
				{"go", .program = "peer-go"},
			},
	},
	{
		.name = "bounce",
		.question = "a round trip between two coroutines, by two semaphores",
		.sides =
			{
				{"haul", setup, run_bounce, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"boost.fiber", .program = "peer-fiber"},
				{"pthread", perf_pthread_setup, perf_pthread_bounce, NULL},
			},
	},
	{
		.name = "bounce/1",
		.question = "the same, each wait with a deadline that does not pass",
		.param = 1,
		.sides =
			{
				{"haul", setup, run_bounce, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"boost.fiber", .program = "peer-fiber"},
				{"pthread", perf_pthread_setup, perf_pthread_bounce, NULL},
			},
	},
	{
		.name = "cond",
		.question = "a round trip between two coroutines, by a mutex and two conditions",
		.sides =
			{
				{"haul", setup, run_cond, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"boost.fiber", .program = "peer-fiber"},
				{"pthread", perf_pthread_setup, perf_pthread_cond, NULL},
			},
	},
	{
		.name = "cond/1",
		.question = "the same, each wait with a deadline that does not pass",
		.param = 1,
		.sides =
			{
				{"haul", setup, run_cond, perf_carriers_stop},
				{"boost.fiber", .program = "peer-fiber"},
				{"pthread", perf_pthread_setup, perf_pthread_cond, NULL},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
