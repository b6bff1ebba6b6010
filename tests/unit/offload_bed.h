/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of offloaded calls: callers on carrier 0 whose calls begin, and end when they may. */
#ifndef HAUL_TESTS_OFFLOAD_BED_H
#define HAUL_TESTS_OFFLOAD_BED_H

#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include "support/runtime.h"

#define HOUR (3600 * HAUL_S)
#define CALLERS 8

static struct {
	sem_t begun, may_end; /* of a call that blocks */
	atomic_uint called; /* calls that have begun */
	atomic_uint returned; /* coroutines whose call has returned */
	int results[CALLERS];
	uint64_t deadlines[CALLERS];
	struct haul_coro *cos[CALLERS];
	struct haul_runtime *rt;
} s;

static inline void begin(unsigned carriers, const struct haul_offload_opts *opts)
{
	memset(&s, 0, sizeof(s));
	sem_init(&s.begun, 0, 0);
	sem_init(&s.may_end, 0, 0);
	ck_assert_int_eq(haul_offload_set(opts), 0);
	s.rt = runtime_start(carriers);
}

static inline struct haul_offload_stats stats(void)
{
	struct haul_offload_stats st;

	haul_offload_get_stats(&st);
	return st;
}

static inline bool is_called(const char *tid, const char *name)
{
	char path[300], found[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", tid);
	f = fopen(path, "re");
	if (f && !fgets(found, sizeof(found), f))
		found[0] = '\0';
	if (f)
		fclose(f);
	return strncmp(found, name, strlen(name)) == 0;
}

/* Threads of the pool that may run on this CPU; -1: all of them. */
static inline unsigned workers_on(int cpu)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	for (struct dirent *d; (d = readdir(tasks));) {
		cpu_set_t cpus;

		CPU_ZERO(&cpus);
		if (is_called(d->d_name, "offload"))
			n += sched_getaffinity(atoi(d->d_name), sizeof(cpus), &cpus) == 0 &&
				(cpu < 0 || CPU_ISSET(cpu, &cpus));
	}
	closedir(tasks);
	return n;
}

static inline void blocks(void *arg)
{
	s.called++;
	sem_post(&s.begun);
	while (sem_wait(&s.may_end) != 0)
		;
}

static inline void counts(void *arg)
{
	s.called++;
}

static inline void wait_begun(unsigned n)
{
	while (n > 0)
		n -= sem_wait(&s.begun) == 0;
}

static inline void let_end(unsigned n)
{
	while (n-- > 0)
		sem_post(&s.may_end);
}

static inline void *offloads_blocking(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;

	s.results[i] = haul_offload(blocks, NULL, s.deadlines[i]);
	s.returned++;
	return NULL;
}

/* Caller i, on carrier 0. */
static inline void call(unsigned i, uint64_t deadline)
{
	s.deadlines[i] = deadline;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, 0), &s.cos[i], offloads_blocking,
				 (void *)(uintptr_t)i, NULL),
		0);
}

static inline int result_of(unsigned i)
{
	ck_assert_int_eq(haul_join(s.cos[i], NULL, HAUL_FOREVER), 0);
	return s.results[i];
}

static inline void wait_queued(unsigned n)
{
	WAIT_UNTIL(stats().queued == n);
}

/* deadline 0 finds the thread of the call that has just returned. */
static inline void *calls_one_after_the_other(void *arg)
{
	for (int i = 0; i < 1000; i++)
		EXPECT(haul_offload(counts, NULL, 0) == 0);
	EXPECT(haul_offload(counts, NULL, 1) == 0); /* a thread is idle: no wait */
	return NULL;
}

#endif
