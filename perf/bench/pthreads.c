/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/pthreads.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>

#include "harness/harness.h"

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed[2];
	sem_t ping, pong;
	unsigned turn; /* whose, guarded by mutex */
	uint64_t n;
	bool limited;
} s = {.mutex = PTHREAD_MUTEX_INITIALIZER,
	.changed = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER}};

int perf_pthread_setup(uint64_t limited)
{
	s.limited = limited != 0;
	return 0;
}

/* Both sides of n operations at the same time. */
static uint64_t both(uint64_t n, void *(*mine)(void *), void *(*others)(void *))
{
	pthread_t other;
	uint64_t start;

	s.n = n;
	start = perf_now();
	perf_must(-pthread_create(&other, NULL, others, NULL), "pthread_create");
	mine(NULL);
	pthread_join(other, NULL);
	return perf_now() - start;
}

/* A second from now. */
static struct timespec deadline(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec++;
	return t;
}

uint64_t perf_pthread_lock(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		pthread_mutex_lock(&s.mutex);
		pthread_mutex_unlock(&s.mutex);
	}
	return perf_now() - start;
}

static void *lock_and_yield(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		pthread_mutex_lock(&s.mutex);
		sched_yield();
		pthread_mutex_unlock(&s.mutex);
	}
	return arg;
}

uint64_t perf_pthread_contended(uint64_t n)
{
	return both(n / 2, lock_and_yield, lock_and_yield);
}

static void take(sem_t *sem)
{
	struct timespec by;

	if (!s.limited) {
		sem_wait(sem);
		return;
	}
	by = deadline();
	sem_timedwait(sem, &by);
}

static void *bounce(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		sem_post(&s.ping);
		take(&s.pong);
	}
	return arg;
}

static void *echo(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		take(&s.ping);
		sem_post(&s.pong);
	}
	return arg;
}

uint64_t perf_pthread_bounce(uint64_t n)
{
	return both(n, bounce, echo);
}

static void await_turn(unsigned who)
{
	struct timespec by;

	pthread_mutex_lock(&s.mutex);
	while (s.turn != who) {
		if (!s.limited) {
			pthread_cond_wait(&s.changed[who], &s.mutex);
			continue;
		}
		by = deadline();
		pthread_cond_timedwait(&s.changed[who], &s.mutex, &by);
	}
	pthread_mutex_unlock(&s.mutex);
}

static void give_turn(unsigned whose)
{
	pthread_mutex_lock(&s.mutex);
	s.turn = whose;
	pthread_mutex_unlock(&s.mutex);
	pthread_cond_signal(&s.changed[whose]);
}

static void *give_and_await(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		give_turn(1);
		await_turn(0);
	}
	return arg;
}

static void *await_and_give(void *arg)
{
	for (uint64_t i = 0; i < s.n; i++) {
		await_turn(1);
		give_turn(0);
	}
	return arg;
}

uint64_t perf_pthread_cond(uint64_t n)
{
	return both(n, give_and_await, await_and_give);
}
