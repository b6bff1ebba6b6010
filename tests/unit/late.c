/* SPDX-License-Identifier: BSD-3-Clause */
/* When a queue is late, and how many packets begin (net/late.h): the law alone, and in a model of a
 * poller at random loads. HAUL_TEST_SEED replays the latter. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "base/random.h"
#include "net/late.h"
#include "support/suite.h"

#define TARGET 1000
#define INTERVAL 10000
#define BURST 32

START_TEST(a_burst_that_goes_by_is_not_late)
{
	struct hauli_late l;

	hauli_late_init(&l, TARGET, INTERVAL);
	for (uint64_t now = 1; now < 20 * INTERVAL; now += 100) {
		/* Above the target for nine tenths of each interval. */
		uint64_t age = now % INTERVAL < INTERVAL * 9 / 10 ? TARGET + 1 : TARGET;

		ck_assert(!hauli_late_look(&l, now, age, BURST));
	}
	ck_assert(!l.is_late);
}
END_TEST

START_TEST(a_queue_is_late_after_an_interval_above_the_target)
{
	struct hauli_late l;

	hauli_late_init(&l, TARGET, INTERVAL);
	ck_assert(!hauli_late_look(&l, 5, TARGET + 1, BURST));
	ck_assert(!hauli_late_look(&l, 5 + INTERVAL - 1, TARGET + 1, BURST));
	ck_assert(hauli_late_look(&l, 5 + INTERVAL, TARGET + 1, BURST));
	ck_assert(l.is_late);
	ck_assert_uint_eq(hauli_late_room(&l, 0, 0), BURST);
	ck_assert_uint_eq(hauli_late_room(&l, TARGET, BURST - 1), 1);
	ck_assert_uint_eq(hauli_late_room(&l, TARGET, BURST), 0);
	ck_assert_uint_eq(hauli_late_room(&l, TARGET, UINT64_MAX), 0);
	ck_assert_uint_eq(hauli_late_room(&l, TARGET + 1, 0), 0);
}
END_TEST

static struct hauli_late late_one(void)
{
	struct hauli_late l;

	hauli_late_init(&l, TARGET, INTERVAL);
	(void)hauli_late_look(&l, 1, TARGET + 1, BURST);
	ck_assert(hauli_late_look(&l, 1 + INTERVAL, TARGET + 1, BURST));
	return l;
}

START_TEST(the_window_halves_above_the_target_and_grows_below)
{
	struct hauli_late l = late_one();
	uint64_t now = 2 + INTERVAL;

	for (unsigned window = BURST / 2; window > 0; window /= 2) {
		hauli_late_emptied(&l, now++, TARGET + 1, 10);
		ck_assert_uint_eq(l.window, window);
	}
	hauli_late_emptied(&l, now++, TARGET + 1, 10);
	ck_assert_uint_eq(l.window, 1);
	for (unsigned window = 2; window <= BURST; window++) {
		hauli_late_emptied(&l, now++, TARGET, 10);
		ck_assert_uint_eq(l.window, window);
	}
	hauli_late_emptied(&l, now++, TARGET, 10);
	ck_assert_uint_eq(l.window, BURST);
	/* A cycle that shed nothing says nothing about the window. */
	hauli_late_emptied(&l, now++, TARGET + 1, 0);
	ck_assert_uint_eq(l.window, BURST);
	hauli_late_emptied(&l, now++, TARGET + 1, 1);
	hauli_late_emptied(&l, now++, TARGET, 0);
	ck_assert_uint_eq(l.window, BURST / 2);
}
END_TEST

START_TEST(it_ends_an_interval_after_the_last_packet_was_shed)
{
	struct hauli_late l = late_one();
	uint64_t now = 2 + INTERVAL;

	hauli_late_emptied(&l, now, 0, 1);
	hauli_late_emptied(&l, now + INTERVAL - 1, 0, 0);
	ck_assert(l.is_late);
	hauli_late_emptied(&l, now + INTERVAL, TARGET + 1, 0);
	ck_assert(l.is_late);
	hauli_late_emptied(&l, now + INTERVAL + 1, 0, 0);
	ck_assert(!l.is_late);
	/* And needs a whole interval to be so again. */
	ck_assert(!hauli_late_look(&l, now + INTERVAL + 2, TARGET + 1, BURST));
	ck_assert(!hauli_late_look(&l, now + 2 * INTERVAL + 1, TARGET + 1, BURST));
	ck_assert(hauli_late_look(&l, now + 2 * INTERVAL + 2, TARGET + 1, BURST));
}
END_TEST

/*
 * A poller whose handlers take `work` ticks each, and which gets a packet each `gap` ticks at
 * random distances; dropping one takes a tick. Handlers are coroutines, of which `round` run
 * between two cycles; UINT_MAX: all, as burst handlers do.
 */
struct fifo {
	uint64_t at[4096]; /* arrivals: a ring */
	unsigned first, n;
};

struct model {
	struct hauli_random random;
	struct hauli_late late;
	uint64_t now, next; /* the time; the arrival of the first packet that is not in the queue */
	struct fifo queue, run;
	uint64_t gap, work;
	unsigned round;
	uint64_t served, oldest; /* packets; the highest age at the begin of a handler */
};

static void put(struct fifo *f, uint64_t at)
{
	if (f->n < 4096)
		f->at[(f->first + f->n++) % 4096] = at;
}

static uint64_t take(struct fifo *f)
{
	uint64_t at = f->at[f->first];

	f->first = (f->first + 1) % 4096;
	f->n--;
	return at;
}

static uint64_t age(const struct model *m, const struct fifo *f)
{
	return f->n > 0 ? m->now - f->at[f->first] : 0;
}

/* What has no room is lost in the NIC. */
static void arrive(struct model *m)
{
	for (; m->next <= m->now; m->next += 1 + hauli_random_below(&m->random, 2 * m->gap - 1))
		put(&m->queue, m->next);
}

static void begin(struct model *m, unsigned n)
{
	while (n-- > 0)
		put(&m->run, take(&m->queue));
}

static void serve(struct model *m)
{
	for (unsigned i = 0; i < m->round && m->run.n > 0; i++) {
		uint64_t waited = m->now - take(&m->run);

		m->oldest = waited > m->oldest ? waited : m->oldest;
		m->served++;
		m->now += m->work;
	}
}

static uint64_t oldest_of(const struct model *m)
{
	uint64_t a = age(m, &m->queue), b = age(m, &m->run);

	return a > b ? a : b;
}

static void cycle(struct model *m)
{
	uint64_t oldest, began = ++m->now;
	unsigned shed = 0, room;

	arrive(m);
	oldest = oldest_of(m);
	if (!m->late.is_late && !hauli_late_look(&m->late, m->now, oldest, BURST)) {
		if (age(m, &m->run) <= m->late.target)
			begin(m, m->queue.n < BURST ? m->queue.n : BURST);
		serve(m);
		return;
	}
	room = hauli_late_room(&m->late, age(m, &m->run), m->run.n);
	while (m->queue.n > room) {
		(void)take(&m->queue);
		shed++;
		m->now++;
		arrive(m);
	}
	hauli_late_emptied(&m->late, began, oldest, shed);
	begin(m, m->queue.n);
	serve(m);
}

/* Load: arrivals per packet served, in tenths. Handlers of 20 us at 50 ticks a microsecond, so
 * that the target of the other tests would be less than one handler. */
START_TEST(goodput_stays_and_ages_are_bounded_at_any_load)
{
	static struct model m;
	const char *text = getenv("HAUL_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) + (uint64_t)_i;
	unsigned load;
	uint64_t since;

	m = (struct model){.now = 1, .next = 1};
	hauli_random_init(&m.random, seed);
	m.work = 100 + hauli_random_below(&m.random, 2000);
	load = 5 + hauli_random_below(&m.random, 96);
	m.gap = m.work * 10 / load;
	m.round = seed % 2 ? UINT_MAX : 1 + (unsigned)hauli_random_below(&m.random, 8);
	hauli_late_init(&m.late, 50 * m.work, 500 * m.work);
	fprintf(stderr,
		"late: HAUL_TEST_SEED=%" PRIu64 ": work %" PRIu64 ", load %u/10, round %u\n", seed,
		m.work, load, m.round);
	while (m.now < 3000 * m.work)
		cycle(&m);
	/* It has settled: what begins now began in time. */
	since = m.now;
	m.served = m.oldest = 0;
	while (m.now < since + 10000 * m.work)
		cycle(&m);
	ASSERT_EACH(m.oldest <= 3 * m.late.target);
	if (load >= 12)
		ASSERT_EACH(m.served * m.work * 100 >= (m.now - since) * 85);
	if (load <= 8)
		ASSERT_EACH(!m.late.is_late);
}
END_TEST

SUITE_MAIN("late", {a_burst_that_goes_by_is_not_late},
	{a_queue_is_late_after_an_interval_above_the_target},
	{the_window_halves_above_the_target_and_grows_below},
	{it_ends_an_interval_after_the_last_packet_was_shed},
	{goodput_stays_and_ages_are_bounded_at_any_load, 200})
