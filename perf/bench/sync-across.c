/* SPDX-License-Identifier: BSD-3-Clause */
/* What do a mutex and a channel cost coroutines of two carriers? */
#include <pthread.h>
#include <stdatomic.h>

#include <haul/coro.h>
#include <haul/sync.h>

#include "bench/batches.h"
#include "bench/futex.h"
#include "bench/spin.h"
#include "harness/carrier.h"
#include "harness/harness.h"
#include "harness/machine.h"

#define ROOM 16

static struct {
	struct haul_mutex mutex;
	uint64_t turns; /* of the other coroutine, under the mutex */
	struct haul_event other_waits;
	struct haul_chan *ch;
	uint64_t n;
	atomic_bool ending;
} s;

static int setup(uint64_t idle)
{
	return perf_carriers_start_idle(2, (enum perf_idle)idle);
}

static void *takes_and_gives_back(void *arg)
{
	haul_event_set(&s.other_waits);
	while (!s.ending) {
		haul_mutex_lock(&s.mutex);
		s.turns++;
		haul_mutex_unlock(&s.mutex);
	}
	return arg;
}

static void there_and_back(void)
{
	uint64_t before = s.turns;

	do {
		haul_mutex_unlock(&s.mutex);
		haul_mutex_lock(&s.mutex);
	} while (s.turns == before);
}

static uint64_t hand_over(uint64_t n)
{
	struct haul_coro *co;
	uint64_t took;

	s.ending = false;
	haul_mutex_lock(&s.mutex);
	perf_must(haul_spawn_on(perf_carrier(1), &co, takes_and_gives_back, NULL, NULL),
		"haul_spawn_on");
	perf_must(haul_event_wait(&s.other_waits, HAUL_FOREVER), "haul_event_wait");
	took = perf_by_batches(n, there_and_back);
	s.ending = true;
	haul_mutex_unlock(&s.mutex);
	perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	haul_event_reset(&s.other_waits);
	return took;
}

static uint64_t run_hand_over(uint64_t n)
{
	return perf_on_carrier(hand_over, n);
}

static void *sends(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++)
		perf_must(haul_chan_send(s.ch, &i, HAUL_FOREVER), "haul_chan_send");
	return arg;
}

static uint64_t receive(uint64_t n)
{
	uint64_t start, value;
	struct haul_coro *co;

	s.n = n;
	perf_must(haul_chan_create(&s.ch, sizeof(value), ROOM), "haul_chan_create");
	start = perf_now();
	perf_must(haul_spawn_on(perf_carrier(1), &co, sends, NULL, NULL), "haul_spawn_on");
	for (uint64_t i = 0; i < n; i++) {
		perf_must(haul_chan_recv(s.ch, &value, HAUL_FOREVER), "haul_chan_recv");
		PERF_KEEP(value);
	}
	start = perf_now() - start;
	perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	haul_chan_destroy(s.ch);
	return start;
}

static uint64_t run_chan(uint64_t n)
{
	return perf_on_carrier(receive, n);
}

/* The same with threads: a ring, a mutex, and a condition for each side. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t not_empty, not_full;
	uint64_t values[ROOM], in, out;
} ring = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

static void ring_send(uint64_t value)
{
	pthread_mutex_lock(&ring.mutex);
	while (ring.in - ring.out == ROOM)
		pthread_cond_wait(&ring.not_full, &ring.mutex);
	ring.values[ring.in++ % ROOM] = value;
	pthread_mutex_unlock(&ring.mutex);
	pthread_cond_signal(&ring.not_empty);
}

static uint64_t ring_receive(void)
{
	uint64_t value;

	pthread_mutex_lock(&ring.mutex);
	while (ring.in == ring.out)
		pthread_cond_wait(&ring.not_empty, &ring.mutex);
	value = ring.values[ring.out++ % ROOM];
	pthread_mutex_unlock(&ring.mutex);
	pthread_cond_signal(&ring.not_full);
	return value;
}

static void *thread_sends(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++)
		ring_send(i);
	return arg;
}

static uint64_t run_pthread(uint64_t n)
{
	uint64_t start, value;
	pthread_t thread;

	s.n = n;
	perf_pin_thread(pthread_self(), perf_cpu(0));
	start = perf_now();
	perf_must(-pthread_create(&thread, NULL, thread_sends, NULL), "pthread_create");
	perf_pin_thread(thread, perf_cpu(1));
	for (uint64_t i = 0; i < n; i++) {
		value = ring_receive();
		PERF_KEEP(value);
	}
	start = perf_now() - start;
	pthread_join(thread, NULL);
	perf_pin(2); /* the next side's initial state */
	return start;
}

#define HAUL                                                     \
	{                                                        \
		"haul", setup, run_hand_over, perf_carriers_stop \
	}
#define SPIN                                                                  \
	{                                                                     \
		"spin", perf_spin_setup, perf_spin_ticket, perf_spin_teardown \
	}
#define FUTEX                                                                  \
	{                                                                      \
		"futex", perf_futex_setup, perf_futex_run, perf_futex_teardown \
	}

static const struct perf_case cases[] = {
	{
		.name = "hand-over-across",
		.question = "hand a mutex to a coroutine of another carrier, and get it back",
		.param = PERF_IDLE_SPINS,
		.cpus = 2,
		.unit = PERF_BATCH,
		.sides = {HAUL, SPIN, FUTEX},
	},
	{
		.name = "hand-over-asleep",
		.question = "the same, where idle carriers sleep at once",
		.param = PERF_IDLE_SLEEPS,
		.cpus = 2,
		.unit = PERF_BATCH,
		.sides = {HAUL, FUTEX},
	},
	{
		.name = "hand-over-awake",
		.question = "the same, where pollers keep the carriers awake",
		.param = PERF_IDLE_POLLS,
		.cpus = 2,
		.unit = PERF_BATCH,
		.sides = {HAUL, SPIN, FUTEX},
	},
	{
		.name = "send-recv-across",
		.question = "receive a value that a coroutine of another carrier sends",
		.cpus = 2,
		.sides =
			{
				{"haul", setup, run_chan, perf_carriers_stop},
				{"pthread", NULL, run_pthread, NULL},
				{"go", .program = "peer-go"},
				{"boost.fiber", .program = "peer-fiber"},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
