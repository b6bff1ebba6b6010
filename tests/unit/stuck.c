/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is stuck: each coroutine waits for ever, in its own way. When all of them wait it
 * calls all_are_stuck(), for a debugger, and prints a line (gdb_script.py). With the argument
 * overrun, one of them runs over its stack then; with hibernates, some hibernate by then.
 */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <haul/haul.h>

#include "support/dig.h"

#define WAIT (3600 * HAUL_S)

static struct haul_mutex mutex;
static struct haul_chan *chan;
static struct haul_coro *holder;
static sem_t done, overruns;

static __attribute__((noinline)) int hold(int deep)
{
	int below = deep > 0 ? hold(deep - 1) : haul_park(HAUL_FOREVER);

	return below + 1;
}

static void *hold_lock(void *arg)
{
	haul_mutex_lock(&mutex);
	hold(2);
	haul_mutex_unlock(&mutex);
	return arg;
}

static void *want_lock(void *arg)
{
	haul_mutex_lock(&mutex);
	haul_mutex_unlock(&mutex);
	return arg;
}

static void *get(void *arg)
{
	int number = 42, got = 0;

	haul_chan_recv(chan, &got, haul_in(WAIT));
	return number + got > 0 ? arg : NULL;
}

static void *rest(void *arg)
{
	haul_sleep(WAIT);
	return arg;
}

static void *join_holder(void *arg)
{
	haul_join(holder, NULL, HAUL_FOREVER);
	return arg;
}

static void *return_at_once(void *arg)
{
	return arg;
}

/* The others, which were spawned earlier, wait when it has been resumed. */
static void *be_last(void *arg)
{
	haul_yield();
	haul_yield();
	sem_post(&done);
	return arg;
}

static void await(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		;
}

/* Keeps its carrier, with no use of the CPU. */
static void *hog(void *arg)
{
	haul_spawn(NULL, rest, NULL, NULL);
	haul_spawn(NULL, rest, NULL, NULL);
	sem_post(&done);
	await(&overruns);
	return (char *)arg + dig(0);
}

__attribute__((noinline)) void all_are_stuck(void);
void all_are_stuck(void)
{
	puts("stuck");
	fflush(stdout);
}

static struct haul_coro *spawn(struct haul_carrier *c, const char *name, haul_fn *fn)
{
	struct haul_coro *co;
	const struct haul_coro_opts opts = {.name = name, .pinned = true, .hibernates = true};
	int err = haul_spawn_on(c, &co, fn, NULL, &opts);

	if (err) {
		fprintf(stderr, "haul_spawn_on: %d\n", err);
		exit(1);
	}
	return co;
}

static __attribute__((noinline)) int lie(int deep)
{
	int below = deep > 0 ? lie(deep - 1) : haul_park(HAUL_FOREVER);

	return below + 1;
}

static void *hibernate(void *arg)
{
	return lie(2) ? NULL : arg;
}

static void be_hibernating(struct haul_carrier *c)
{
	struct haul_carrier_stats st;

	spawn(c, "bear", hibernate);
	do { /* the holder, three sleepers, and this one */
		usleep(1000); /* between two looks */
		haul_carrier_get_stats(c, &st);
	} while (st.hibernations < 5);
}

int main(int argc, char **argv)
{
	const struct haul_plan_opts wish = {.carriers = 2};
	struct haul_runtime_opts opts = {0};
	struct haul_runtime *rt;
	struct haul_plan *plan;
	char err[256];
	bool hibernates = argc > 1 && strcmp(argv[1], "hibernates") == 0;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	sem_init(&done, 0, 0);
	sem_init(&overruns, 0, 0);
	if (haul_plan_create(&plan, &wish, err, sizeof(err)) != 0)
		return 1;
	opts.plan = plan;
	opts.hibernate_after_ns = hibernates ? 4 * HAUL_MS : 0;
	if (haul_chan_create(&chan, sizeof(int), 1) != 0 || haul_start(&rt, &opts, NULL, 0) != 0)
		return 1;
	holder = spawn(haul_carrier(rt, 0), "holder", hold_lock);
	spawn(haul_carrier(rt, 0), "locker", want_lock);
	spawn(haul_carrier(rt, 0), "getter", get);
	spawn(haul_carrier(rt, 0), "sleeper", rest);
	spawn(haul_carrier(rt, 0), "twin", rest);
	spawn(haul_carrier(rt, 0), "twin", rest);
	spawn(haul_carrier(rt, 0), "joiner", join_holder);
	spawn(haul_carrier(rt, 0), "gone", return_at_once);
	spawn(haul_carrier(rt, 0), "last", be_last);
	spawn(haul_carrier(rt, 1), "hog", hog);
	await(&done);
	await(&done);
	spawn(haul_carrier(rt, 1), "newcomer", rest);
	if (hibernates)
		be_hibernating(haul_carrier(rt, 0));
	all_are_stuck();
	if (argc > 1 && !hibernates)
		sem_post(&overruns);
	for (;;)
		pause();
}
