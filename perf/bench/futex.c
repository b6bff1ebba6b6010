/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/futex.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/batches.h"
#include "harness/harness.h"
#include "harness/machine.h"

static pthread_t thread;
static _Atomic uint32_t words[2]; /* 1 while it holds a permit */
static atomic_bool ending;

static void give(unsigned i)
{
	words[i] = 1;
	syscall(SYS_futex, &words[i], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void take(unsigned i)
{
	while (atomic_exchange(&words[i], 0) == 0)
		syscall(SYS_futex, &words[i], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void *echo(void *arg)
{
	for (;;) {
		take(0);
		if (ending)
			return NULL;
		give(1);
	}
}

int perf_pin_thread(pthread_t t, unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(t, sizeof(set), &set);
}

int perf_futex_setup(uint64_t param)
{
	int err;

	ending = false;
	err = -pthread_create(&thread, NULL, echo, NULL);
	return err ? err : perf_pin_thread(thread, perf_cpu(1));
}

static void there_and_back(void)
{
	give(0);
	take(1);
}

uint64_t perf_futex_run(uint64_t n)
{
	uint64_t took;

	perf_pin_thread(pthread_self(), perf_cpu(0));
	took = perf_by_batches(n, there_and_back);
	perf_pin(2); /* the next side's initial state */
	return took;
}

void perf_futex_teardown(void)
{
	ending = true;
	give(0);
	pthread_join(thread, NULL);
}
