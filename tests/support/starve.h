/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that waits for a CPU: it shares one with busy threads, whose weight is 340 times its
 * own (SCHED_IDLE), so each of its waits lasts for seconds. Without rights it stays in that class.
 */
#ifndef HAUL_TESTS_STARVE_H
#define HAUL_TESTS_STARVE_H

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "base/delay.h"

#define STARVE_HOGS 8

struct starve {
	pthread_t hogs[STARVE_HOGS];
	cpu_set_t cpu;
	atomic_uint busy;
	atomic_bool over;
	uint32_t tid;
	uint64_t most;
	pthread_t freer;
};

static inline void *starve_hog(void *arg)
{
	struct starve *s = arg;

	sched_setaffinity(0, sizeof(s->cpu), &s->cpu);
	setpriority(PRIO_PROCESS, 0, 0); /* of this thread; without rights its waits are shorter */
	s->busy++;
	while (!s->over)
		;
	return NULL;
}

static inline void starve_stop(struct starve *s)
{
	const struct sched_param none = {0};

	s->over = true;
	sched_setscheduler((pid_t)s->tid, SCHED_OTHER, &none);
}

/* Ends the busy threads when the thread has waited for a CPU for long enough. */
static inline void *starve_free(void *arg)
{
	const struct timespec ms = {.tv_nsec = (long)HAUL_MS};
	struct hauli_delay d = {0};
	struct starve *s = arg;
	uint64_t waited = 0;

	while (waited < s->most && !s->over) {
		waited += hauli_delay_of_thread(s->tid, &d);
		nanosleep(&ms, NULL); /* between looks */
	}
	starve_stop(s);
	return NULL;
}

/* tid: a thread of this process. The busy threads run when it returns. */
static inline void starve_begin(struct starve *s, uint32_t tid)
{
	const struct sched_param none = {0};
	cpu_set_t all;
	int cpu = 0;

	*s = (struct starve){.tid = tid};
	ck_assert_int_eq(sched_getaffinity((pid_t)tid, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_SET(cpu, &s->cpu);
	ck_assert_int_eq(sched_setaffinity((pid_t)tid, sizeof(s->cpu), &s->cpu), 0);
	ck_assert_int_eq(sched_setscheduler((pid_t)tid, SCHED_IDLE, &none), 0);
	for (int i = 0; i < STARVE_HOGS; i++)
		ck_assert_int_eq(pthread_create(&s->hogs[i], NULL, starve_hog, s), 0);
	while (s->busy < STARVE_HOGS)
		sched_yield();
}

/* From now on the thread waits for a CPU for `most` ns in all, or to the end. */
static inline void starve_for(struct starve *s, uint64_t most)
{
	s->most = most;
	ck_assert_int_eq(pthread_create(&s->freer, NULL, starve_free, s), 0);
}

static inline void starve_end(struct starve *s)
{
	starve_stop(s);
	for (int i = 0; i < STARVE_HOGS; i++)
		pthread_join(s->hogs[i], NULL);
	if (s->most > 0)
		pthread_join(s->freer, NULL);
}

#endif
