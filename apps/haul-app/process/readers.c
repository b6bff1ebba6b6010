/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: while a reader is inside, the main thread is between admit() and bar(), and no other
 * reader is inside.
 *
 * All words are under one lock. bar() first closes the door, and then waits for the one inside: so
 * readers that follow each other without a pause delay it by one of them, not for ever. A reader
 * does bounded work and never waits for the main thread, so bar() ends.
 *
 * What this rules out: a reader sees ports, io and the runtime either before the main thread has
 * made or freed them, or after, never meanwhile; and after end() not at all, however long its
 * thread lives: threads of DPDK's telemetry outlive EAL.
 *
 * Tests: tests/unit/readers.c, tests/net/telemetry.py
 */
#include "process/readers.h"

#include <pthread.h>
#include <time.h>

#define PATIENCE_S 1

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool admits, inside, ended;
} door = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void hauli_readers_admit(void)
{
	pthread_mutex_lock(&door.lock);
	door.admits = !door.ended;
	pthread_cond_broadcast(&door.changed);
	pthread_mutex_unlock(&door.lock);
}

static void close_door(bool ends)
{
	pthread_mutex_lock(&door.lock);
	door.admits = false;
	door.ended |= ends;
	pthread_cond_broadcast(&door.changed);
	while (door.inside)
		pthread_cond_wait(&door.changed, &door.lock);
	pthread_mutex_unlock(&door.lock);
}

void hauli_readers_bar(void)
{
	close_door(false);
}

void hauli_readers_end(void)
{
	close_door(true);
}

bool hauli_reader_enter(const char **why)
{
	struct timespec until;
	bool enters;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&door.lock);
	while (!door.ended && (!door.admits || door.inside) && err == 0)
		err = pthread_cond_clockwait(&door.changed, &door.lock, CLOCK_MONOTONIC, &until);
	enters = !door.ended && door.admits && !door.inside;
	door.inside |= enters;
	*why = door.ended ? "the program ends" : "the program is busy: it starts, or changes ports";
	pthread_mutex_unlock(&door.lock);
	return enters;
}

void hauli_reader_leave(void)
{
	pthread_mutex_lock(&door.lock);
	door.inside = false;
	pthread_cond_broadcast(&door.changed);
	pthread_mutex_unlock(&door.lock);
}
