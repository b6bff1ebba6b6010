/* SPDX-License-Identifier: BSD-3-Clause */
/* A carrier that hardly gets a CPU: another thread, of a higher priority, computes on the same. */
#ifndef HAUL_TESTS_STARVE_H
#define HAUL_TESTS_STARVE_H

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct starve {
	pthread_t rival;
	cpu_set_t cpu;
	atomic_bool begun, over;
};

static inline void *starve_rival(void *arg)
{
	struct starve *s = arg;

	if (pthread_setaffinity_np(pthread_self(), sizeof(s->cpu), &s->cpu) == 0)
		s->begun = true;
	while (!s->over)
		;
	return NULL;
}

/* A coroutine: from now on its carrier gets a sixtieth of a CPU at most. */
static inline void *starve_begin(void *arg)
{
	struct starve *s = arg;

	CPU_ZERO(&s->cpu);
	CPU_SET((size_t)sched_getcpu(), &s->cpu);
	s->begun = s->over = false;
	ck_assert_int_eq(pthread_setaffinity_np(pthread_self(), sizeof(s->cpu), &s->cpu), 0);
	ck_assert_int_eq(pthread_create(&s->rival, NULL, starve_rival, s), 0);
	while (!s->begun)
		sched_yield();
	ck_assert_int_eq(setpriority(PRIO_PROCESS, (id_t)gettid(), 19), 0);
	return NULL;
}

static inline void starve_end(struct starve *s)
{
	s->over = true;
	pthread_join(s->rival, NULL);
}

/* Uses ms of CPU time. */
static inline void starve_burn(unsigned ms)
{
	struct timespec t;
	int64_t until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < until)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

#endif
