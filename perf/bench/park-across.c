/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost two coroutines of two otherwise idle carriers to wake each other? One operation
 * is a round trip: two unparks, two parks, two sleeping threads. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/park.h"
#include "harness/harness.h"
#include "harness/machine.h"

/* Two plain threads with a futex for each direction; its word is 1 while it holds a permit. */
static pthread_t thread;
static _Atomic uint32_t words[2];
static atomic_bool futex_ending;

static void futex_give(unsigned i)
{
	words[i] = 1;
	syscall(SYS_futex, &words[i], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_take(unsigned i)
{
	while (atomic_exchange(&words[i], 0) == 0)
		syscall(SYS_futex, &words[i], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void *futex_echo(void *arg)
{
	for (;;) {
		futex_take(0);
		if (futex_ending)
			return NULL;
		futex_give(1);
	}
}

static int pin_thread(pthread_t t, unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(t, sizeof(set), &set);
}

static int futex_setup(uint64_t param)
{
	int err;

	futex_ending = false;
	err = -pthread_create(&thread, NULL, futex_echo, NULL);
	return err ? err : pin_thread(thread, perf_cpu(1));
}

static uint64_t futex_run(uint64_t n)
{
	uint64_t start, took;

	pin_thread(pthread_self(), perf_cpu(0));
	start = perf_now();
	for (uint64_t i = 0; i < n; i++) {
		futex_give(0);
		futex_take(1);
	}
	took = perf_now() - start;
	perf_pin(2); /* the next side's initial state */
	return took;
}

static void futex_teardown(void)
{
	futex_ending = true;
	futex_give(0);
	pthread_join(thread, NULL);
}

static const struct perf_case cases[] = {
	{
		.name = "park-across",
		.question = "wake a coroutine of another, sleeping carrier and be woken",
		.param = 2,
		.cpus = 2,
		.sides =
			{
				{"haul", perf_park_setup, perf_park_run, perf_park_teardown},
				{"futex", futex_setup, futex_run, futex_teardown},
				{"go", .program = "peer-go"},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
