/* SPDX-License-Identifier: BSD-3-Clause */
/* The inbox under many producers and an owner that sleeps whenever it can. */
#include "conc/inbox.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/stress.h"
#include "support/suite.h"

#define PRODUCERS 64
#define ITEMS 100

struct item {
	struct hauli_node node;
	unsigned producer, number;
};

struct inbox_run {
	struct hauli_inbox in;
	struct item items[PRODUCERS][ITEMS];
	atomic_uint wakes;
};

struct producer {
	struct inbox_run *run;
	unsigned id;
	pthread_t thread;
};

static void *produce(void *arg)
{
	struct producer *p = arg;

	for (unsigned i = 0; i < ITEMS; i++) {
		struct item *item = &p->run->items[p->id][i];

		item->producer = p->id;
		item->number = i;
		if (hauli_inbox_push(&p->run->in, &item->node)) {
			p->run->wakes++;
			hauli_inbox_wake(&p->run->in);
			hauli_inbox_called(&p->run->in);
		}
	}
	return NULL;
}

/* Takes all items and checks their order; returns the number of sleeps, each ended by a waker:
 * there is no time-out, so a lost wakeup hangs. */
static unsigned consume(struct inbox_run *run)
{
	unsigned next[PRODUCERS] = {0};
	unsigned got = 0, sleeps = 0;

	while (got < PRODUCERS * ITEMS) {
		struct hauli_node *node;

		if (hauli_inbox_try_sleep(&run->in, HAULI_INBOX_ASLEEP)) {
			sleeps++;
			while (hauli_inbox_is_asleep(&run->in))
				hauli_inbox_wait(&run->in, NULL);
		}
		for (node = hauli_inbox_drain(&run->in); node; node = node->next) {
			struct item *item = (struct item *)node;

			if (item->number != next[item->producer]++)
				ck_abort_msg("producer %u out of order", item->producer);
			got++;
		}
	}
	while (!hauli_inbox_is_quiesced(&run->in))
		sched_yield();
	return sleeps;
}

START_TEST(all_arrive_once_in_order_and_each_sleep_ends_by_one_wake)
{
	static struct inbox_run run;
	static struct producer producers[PRODUCERS];
	uint64_t deadline = stress_deadline();
	unsigned rounds = 0;

	while (rounds++ < 20 || haul_now() < deadline) {
		unsigned sleeps;

		hauli_inbox_init(&run.in);
		run.wakes = 0;
		for (unsigned i = 0; i < PRODUCERS; i++) {
			producers[i] = (struct producer){.run = &run, .id = i};
			ck_assert_int_eq(
				pthread_create(&producers[i].thread, NULL, produce, &producers[i]),
				0);
		}
		sleeps = consume(&run);
		for (unsigned i = 0; i < PRODUCERS; i++)
			pthread_join(producers[i].thread, NULL);
		ck_assert_uint_eq(run.wakes, sleeps);
		ck_assert_uint_eq(hauli_inbox_calls(&run.in), sleeps);
		ck_assert(hauli_inbox_is_empty(&run.in));
	}
}
END_TEST

SUITE_MAIN("inbox", {all_arrive_once_in_order_and_each_sleep_ends_by_one_wake, 1})
