/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The behaviour of the hardware: two threads, one step each per round, millions of rounds. The
 * protocols must never lose; the same without one ingredient must lose here, else the run shows
 * nothing. Speaks TAP. HAUL_LITMUS_ROUNDS (default 500,000); a broken protocol gets up to ten times
 * as many until it loses.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cacheline.h"
#include "base/random.h"
#include "conc/inbox.h"

enum { RUNNING, PARKED, SEARCHING };

static struct {
	HAULI_LINE struct hauli_inbox in;
	HAULI_LINE atomic_uint state;
	HAULI_LINE atomic_uint queued;
	HAULI_LINE atomic_ulong owner_round;
	HAULI_LINE atomic_ulong other_round;
	struct hauli_node node;
	HAULI_LINE unsigned owner_saw;
	HAULI_LINE unsigned other_saw;
} w;

/* A litmus test: each side's step of a round, and a test of the values read for a loss. */
struct litmus {
	const char *name;
	bool loses; /* broken on purpose: it must lose */
	void (*reset)(void);
	unsigned (*owner)(void);
	unsigned (*other)(void);
	bool (*lost)(unsigned owner_saw, unsigned other_saw);
};

/* Going to sleep against a push: lost if the owner sleeps and the pusher does not wake it. */
static void inbox_reset(void)
{
	hauli_inbox_init(&w.in);
}

static unsigned inbox_sleep(void)
{
	return hauli_inbox_try_sleep(&w.in, HAULI_INBOX_ASLEEP);
}

static unsigned inbox_push(void)
{
	return hauli_inbox_push(&w.in, &w.node) == HAULI_INBOX_ASLEEP;
}

/* The same with two words: each side writes its own word, then reads the other one. */
static void guard_reset(void)
{
	atomic_store(&w.state, RUNNING);
	atomic_store(&w.queued, 0);
}

static unsigned guard_sleep(bool barrier)
{
	atomic_store_explicit(&w.state, PARKED, memory_order_release);
	if (barrier)
		atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&w.queued, memory_order_acquire) == 0;
}

static unsigned guard_push(bool barrier)
{
	atomic_store_explicit(&w.queued, 1, memory_order_release);
	if (barrier)
		atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&w.state, memory_order_acquire) == PARKED;
}

static unsigned fenced_sleep(void)
{
	return guard_sleep(true);
}

static unsigned fenced_push(void)
{
	return guard_push(true);
}

static unsigned bare_sleep(void)
{
	return guard_sleep(false);
}

static unsigned bare_push(void)
{
	return guard_push(false);
}

static bool sleeps_unwoken(unsigned asleep, unsigned wakes)
{
	return asleep && !wakes;
}

/* Leaving the parked state against a searcher's token: lost if the searcher has put the token and
 * the owner did not find it. */
static void token_reset(void)
{
	atomic_store(&w.state, PARKED);
}

static unsigned token_put(void)
{
	unsigned parked = PARKED;

	return atomic_compare_exchange_strong(&w.state, &parked, SEARCHING);
}

static unsigned exit_by_exchange(void)
{
	return atomic_exchange(&w.state, RUNNING) == SEARCHING;
}

static unsigned exit_by_load_and_store(void)
{
	unsigned found = atomic_load_explicit(&w.state, memory_order_acquire);

	atomic_store_explicit(&w.state, RUNNING, memory_order_release);
	return found == SEARCHING;
}

static bool token_leaks(unsigned found, unsigned put)
{
	return put && !found;
}

static const struct litmus litmuses[] = {
	{"the inbox, one word", false, inbox_reset, inbox_sleep, inbox_push, sleeps_unwoken},
	{"two words with a fence on each side", false, guard_reset, fenced_sleep, fenced_push,
		sleeps_unwoken},
	{"two words without the store-load barrier", true, guard_reset, bare_sleep, bare_push,
		sleeps_unwoken},
	{"leaving by one exchange", false, token_reset, exit_by_exchange, token_put, token_leaks},
	{"leaving by a load and a store", true, token_reset, exit_by_load_and_store, token_put,
		token_leaks},
};

#define NB_LITMUSES (sizeof(litmuses) / sizeof(litmuses[0]))

static const struct litmus *current;
static atomic_bool end;

/* Varies the time between the two steps: by 5 ns in some rounds and up to 500 ns in others, since
 * the other thread learns of a round after a time that depends on where the two CPUs are. */
static void dither(struct hauli_random *random, unsigned long round)
{
	for (uint32_t n = hauli_random_below(random, 16u << round % 7); n > 0; n--)
		asm volatile("");
}

static void *other_main(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, 2);
	for (unsigned long round = 1;; round++) {
		while (atomic_load_explicit(&w.owner_round, memory_order_acquire) < round)
			if (end)
				return NULL;
		dither(&random, 0);
		w.other_saw = current->other();
		atomic_store_explicit(&w.other_round, round, memory_order_release);
	}
}

static unsigned long run(const struct litmus *l, unsigned long rounds, unsigned long *lost)
{
	struct hauli_random random;
	unsigned long round;
	pthread_t other;

	hauli_random_init(&random, 1);
	current = l;
	*lost = 0;
	end = false;
	w.owner_round = w.other_round = 0;
	pthread_create(&other, NULL, other_main, NULL);
	for (round = 1; round <= rounds || (l->loses && *lost == 0 && round <= 10 * rounds);
		round++) {
		l->reset();
		atomic_store_explicit(&w.owner_round, round, memory_order_release);
		dither(&random, round);
		w.owner_saw = l->owner();
		while (atomic_load_explicit(&w.other_round, memory_order_acquire) < round)
			;
		*lost += l->lost(w.owner_saw, w.other_saw);
	}
	end = true;
	pthread_join(other, NULL);
	return round - 1;
}

int main(void)
{
	const char *text = getenv("HAUL_LITMUS_ROUNDS");
	unsigned long rounds = text ? strtoul(text, NULL, 0) : 500000;
	cpu_set_t cpus;
	int failed = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) < 2) {
		printf("1..0 # SKIP two threads need two CPUs to run at once\n");
		return EXIT_SUCCESS;
	}
	printf("1..%zu\n", NB_LITMUSES);
	for (size_t i = 0; i < NB_LITMUSES; i++) {
		const struct litmus *l = &litmuses[i];
		unsigned long lost, done = run(l, rounds, &lost);
		bool good = l->loses ? lost > 0 : lost == 0;

		failed += !good;
		printf("%s %zu - %s: %lu of %lu lost\n", good ? "ok" : "not ok", i + 1, l->name,
			lost, done);
		fflush(stdout);
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
