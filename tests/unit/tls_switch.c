/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that continues in another thread after a switch: hauli_self() must return the
 * carrier where it runs now. A direct read of a thread-local may not: the compiler keeps its
 * address across the switch. The result of the direct read is shown, not judged. Built at -O3 -fPIC
 * by each compiler; speaks TAP.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sched/state/self.h"

#define ROUNDS 1000

static struct haul_carrier carriers[2];
static _Thread_local int which; /* a thread-local as a user might declare it */

static struct hauli_co threads[2]; /* each thread's own stack */
static struct hauli_co *coroutine;

struct head {
	struct hauli_stack stack;
	struct hauli_co co;
} HAULI_LINE;

static pthread_barrier_t turn;
static unsigned wrong, wrong_direct;

/* An opaque call, as haul_yield() is for its users. */
static __attribute__((noinline)) void suspend(void *thread)
{
	(void)hauli_co_switch(coroutine, thread, NULL);
}

static void body(void *pass)
{
	hauli_co_arrived(coroutine);
	for (int i = 0;; i++) {
		int here = i % 2, there = !here;

		wrong += hauli_self() != &carriers[here];
		wrong += hauli_here() != &carriers[here];
		wrong_direct += which != here;
		suspend(&threads[here]);
		wrong += hauli_self() != &carriers[there];
		wrong += hauli_here() != &carriers[there];
		wrong_direct += which != there;
	}
}

/* The two threads take turns, so the coroutine changes its thread at each switch. */
static void *thread_main(void *arg)
{
	int me = (int)((struct haul_carrier *)arg - carriers);

	hauli_self_set(arg);
	which = me;
	hauli_co_init_thread(&threads[me]);
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2 == me)
			(void)hauli_co_switch(&threads[me], coroutine, NULL);
		pthread_barrier_wait(&turn);
	}
	hauli_co_fini_thread(&threads[me]);
	return NULL;
}

int main(void)
{
	struct hauli_stacks *arena;
	struct head *h;
	pthread_t other;

	if (hauli_stacks_create(&arena, sizeof(struct head), HAULI_GUARD_BEST) != 0)
		return EXIT_FAILURE;
	h = (struct head *)hauli_stack_get_shared(arena, 1);
	coroutine = &h->co;
	hauli_co_prepare(coroutine, &h->stack, h, body);
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&other, NULL, thread_main, &carriers[1]);
	thread_main(&carriers[0]);
	pthread_join(other, NULL);
	printf("1..1\n# %s: a direct read of a thread-local was wrong %u times of %d\n",
		__VERSION__, wrong_direct, ROUNDS);
	printf("%s 1 - hauli_self() is right after each of %d changes of thread\n",
		wrong ? "not ok" : "ok", ROUNDS);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
