/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/spin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <rte_pause.h>

#include "bench/batches.h"
#include "bench/futex.h"
#include "harness/harness.h"
#include "harness/machine.h"

static pthread_t thread;
static struct {
	_Alignas(64) _Atomic uint64_t to, from; /* the number of the trip */
	_Alignas(64) _Atomic uint32_t next, owner; /* a ticket lock */
	uint64_t turns; /* of the other thread, under the lock */
	_Alignas(64) _Atomic int does; /* what the other thread does */
} s;

enum { NOTHING, ECHOES, LOCKS, ENDS };

static void lock(void)
{
	uint32_t mine = atomic_fetch_add(&s.next, 1);

	while (atomic_load_explicit(&s.owner, memory_order_acquire) != mine)
		rte_pause();
}

static void unlock(void)
{
	uint32_t mine = atomic_load_explicit(&s.owner, memory_order_relaxed);

	atomic_store_explicit(&s.owner, mine + 1, memory_order_release);
}

static void echo(uint64_t *seen)
{
	uint64_t now = atomic_load_explicit(&s.to, memory_order_acquire);

	if (now == *seen)
		rte_pause();
	else
		atomic_store_explicit(&s.from, *seen = now, memory_order_release);
}

static void *other(void *arg)
{
	uint64_t seen = s.to;

	for (;;) {
		switch (atomic_load_explicit(&s.does, memory_order_relaxed)) {
		case ECHOES:
			echo(&seen);
			break;
		case LOCKS:
			lock();
			s.turns++;
			unlock();
			break;
		case ENDS:
			return arg;
		default:
			rte_pause();
		}
	}
}

int perf_spin_setup(uint64_t param)
{
	int err;

	s.does = NOTHING;
	err = -pthread_create(&thread, NULL, other, NULL);
	return err ? err : perf_pin_thread(thread, perf_cpu(1));
}

static void there_and_back(void)
{
	uint64_t trip = s.to + 1;

	atomic_store_explicit(&s.to, trip, memory_order_release);
	while (atomic_load_explicit(&s.from, memory_order_acquire) != trip)
		rte_pause();
}

uint64_t perf_spin_words(uint64_t n)
{
	uint64_t took;

	perf_pin_thread(pthread_self(), perf_cpu(0));
	s.does = ECHOES;
	took = perf_by_batches(n, there_and_back);
	s.does = NOTHING;
	perf_pin(2); /* the next side's initial state */
	return took;
}

static void hand_over(void)
{
	uint64_t before = s.turns;

	do {
		unlock();
		lock();
	} while (s.turns == before);
}

uint64_t perf_spin_ticket(uint64_t n)
{
	uint64_t took;

	perf_pin_thread(pthread_self(), perf_cpu(0));
	lock();
	s.does = LOCKS;
	took = perf_by_batches(n, hand_over);
	s.does = NOTHING;
	unlock();
	perf_pin(2); /* the next side's initial state */
	return took;
}

void perf_spin_teardown(void)
{
	s.does = ENDS;
	pthread_join(thread, NULL);
}
