/* SPDX-License-Identifier: BSD-3-Clause */
/* What do the objects of haul/sync.h cost, alone and when coroutines of one carrier wait? */
#include <haul/coro.h>
#include <haul/sync.h>

#include <pthread.h>

#include "harness/carrier.h"
#include "harness/harness.h"

static struct {
	struct haul_mutex mutex;
	struct haul_chan *ch;
	struct haul_sem ping, pong;
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
		haul_lock(&s.mutex);
		haul_unlock(&s.mutex);
	}
	return perf_now() - start;
}

static uint64_t run_lock(uint64_t n)
{
	return perf_on_carrier(lock_each, n);
}

static uint64_t run_pthread(uint64_t n)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return perf_now() - start;
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

static const struct perf_case cases[] = {
	{
		.name = "lock-unlock",
		.question = "lock a mutex that nobody holds, and unlock it",
		.sides =
			{
				{"haul", setup, run_lock, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"pthread", NULL, run_pthread, NULL},
			},
	},
	{
		.name = "send-recv",
		.question = "send a value into a channel with room, and receive it",
		.sides =
			{
				{"haul", setup, run_chan, perf_carriers_stop},
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
			},
	},
	{
		.name = "bounce/1",
		.question = "the same, each wait with a deadline that does not pass",
		.param = 1,
		.sides =
			{
				{"haul", setup, run_bounce, perf_carriers_stop},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
