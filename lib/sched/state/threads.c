/* SPDX-License-Identifier: BSD-3-Clause */
/* Carriers on plain POSIX threads. */
#include "sched/state/threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "topo/pin.h"

struct thread {
	pthread_t id;
	unsigned i;
	struct haul_place place;
	int (*fn)(void *);
	void *arg;
};

struct hauli_threads {
	unsigned n;
	struct thread threads[];
};

static void *run(void *arg)
{
	struct thread *t = arg;

	/* A failure is ignored: the plan has checked whether threads can be bound, and reported
	 * it. */
	(void)hauli_place_enter(&t->place, t->i);
	t->fn(t->arg);
	return NULL;
}

static int launch(
	void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *), void *arg)
{
	struct hauli_threads *threads = ctx;
	struct thread *t = &threads->threads[i];

	*t = (struct thread){.i = i, .place = *place, .fn = fn, .arg = arg};
	return -pthread_create(&t->id, NULL, run, t);
}

static void join(void *ctx, unsigned i)
{
	struct hauli_threads *threads = ctx;

	pthread_join(threads->threads[i].id, NULL);
}

int hauli_threads_create(struct hauli_threads **threads, unsigned n, struct haul_launcher *launcher)
{
	*threads = calloc(1, sizeof(**threads) + n * sizeof((*threads)->threads[0]));
	if (!*threads)
		return -ENOMEM;
	(*threads)->n = n;
	*launcher = (struct haul_launcher){.launch = launch, .join = join, .ctx = *threads};
	return 0;
}

void hauli_threads_destroy(struct hauli_threads *threads)
{
	free(threads);
}
