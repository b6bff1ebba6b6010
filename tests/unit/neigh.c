/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of neighbours alone: states and times of RFC 4861, floods, and a random run beside a
 * simple model. */
#include "host/neigh.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <haul/sync.h>

#include "base/random.h"
#include "support/suite.h"

#define REACHABLE (30 * HAUL_S)
#define DELAY (5 * HAUL_S)
#define RETRANS HAUL_S
#define FAILED (2 * HAUL_S)
#define TRIES 3
#define BEGIN (1000 * HAUL_S)

static struct hauli_neigh *t;
static uint64_t now;
static unsigned earlier;

static const uint8_t none[6], one[6] = {2, 0, 0, 0, 0, 1}, two[6] = {2, 0, 0, 0, 0, 2};

static void on_earlier(void *arg)
{
	(void)arg;
	earlier++;
}

static void create(unsigned neighbours, unsigned waiters)
{
	const struct hauli_neigh_opts opts = {
		.neighbours_max = neighbours,
		.waiters_max = waiters,
		.tries = TRIES,
		.reachable_ns = REACHABLE,
		.delay_ns = DELAY,
		.retrans_ns = RETRANS,
		.failed_ns = FAILED,
		.on_earlier = on_earlier,
		.seed = 1,
	};

	ck_assert_int_eq(hauli_neigh_create(&t, &opts), 0);
	now = BEGIN;
	earlier = 0;
}

static struct hauli_ip ip(uint64_t n)
{
	return (struct hauli_ip){n << 32, ~n};
}

static int use(uint64_t n)
{
	uint8_t mac[6];

	return hauli_neigh_use(t, ip(n), now, mac, NULL);
}

static enum haul_neighbour_state state(uint64_t n)
{
	uint8_t mac[6];

	return hauli_neigh_state(t, ip(n), mac);
}

static struct haul_host_stats stats(void)
{
	struct haul_host_stats st = {0};

	hauli_neigh_add_stats(t, &st);
	return st;
}

/* Lets the table age; returns the number of questions, the last one in *q. */
static unsigned age(struct hauli_question *q)
{
	unsigned n = 0;

	while (hauli_neigh_age(t, now, q))
		n++;
	return n;
}

/* The next question, at the time at which it is due, if that is before `until`. */
static bool next_question(struct hauli_question *q, uint64_t until)
{
	uint64_t due;

	for (;;) {
		if (hauli_neigh_age(t, now, q))
			return true;
		due = hauli_neigh_due(t);
		if (due > until)
			return false;
		ck_assert_uint_gt(due, now);
		now = due;
	}
}

START_TEST(an_answer_and_what_follows)
{
	struct hauli_question q;
	uint8_t mac[6];
	struct hauli_neigh_seen seen;
	uint64_t since;

	create(16, 16);
	ck_assert(!hauli_neigh_find(t, ip(1), mac, &seen));
	ck_assert_uint_eq(hauli_neigh_due(t), HAUL_FOREVER);
	ck_assert_int_eq(use(1), -EAGAIN);
	ck_assert_uint_eq(earlier, 1);
	ck_assert_int_eq(use(1), -EAGAIN);
	ck_assert_uint_eq(earlier, 1);
	ck_assert_uint_eq(age(&q), 1);
	ck_assert(q.to_all && q.ip.hi == ip(1).hi && q.ip.lo == ip(1).lo);
	ck_assert_uint_eq(hauli_neigh_due(t), now + RETRANS);

	hauli_neigh_answer(t, ip(1), one, true, true, now);
	ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_REACHABLE);
	ck_assert(hauli_neigh_find(t, ip(1), mac, &seen));
	ck_assert_mem_eq(mac, one, 6);

	since = now;
	ck_assert(!next_question(&q, now + 100 * HAUL_S));
	ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_STALE);
	ck_assert_uint_ge(now - since, REACHABLE / 2);
	ck_assert_uint_le(now - since, REACHABLE * 3 / 2 + 1);
	ck_assert_uint_eq(hauli_neigh_due(t), HAUL_FOREVER);

	ck_assert(!hauli_neigh_find(t, ip(1), mac, &seen)); /* so that its use is noticed */
	ck_assert_int_eq(hauli_neigh_use(t, ip(1), now, mac, NULL), 0);
	ck_assert_mem_eq(mac, one, 6);
	ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_DELAY);
	ck_assert(hauli_neigh_find(t, ip(1), mac, &seen));

	since = now;
	for (unsigned i = 0; i < TRIES; i++) {
		ck_assert(next_question(&q, now + 100 * HAUL_S));
		ck_assert_uint_eq(now, since + DELAY + i * RETRANS);
		ck_assert(!q.to_all);
		ck_assert_mem_eq(q.mac, one, 6);
		ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_PROBE);
		ck_assert(hauli_neigh_find(t, ip(1), mac, &seen));
	}
	ck_assert(!next_question(&q, now + 100 * HAUL_S));
	ck_assert_uint_eq(now, since + DELAY + TRIES * RETRANS);
	ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_NONE);
	ck_assert_uint_eq(stats().failed, 1);
	ck_assert_uint_eq(stats().neighbours, 0);
	hauli_neigh_free(t);
}
END_TEST

START_TEST(no_answer)
{
	struct hauli_question q;
	uint64_t since;

	create(16, 16);
	ck_assert_int_eq(use(1), -EAGAIN);
	since = now;
	for (unsigned i = 0; i < TRIES; i++) {
		ck_assert(next_question(&q, now + 100 * HAUL_S));
		ck_assert_uint_eq(now, since + i * RETRANS);
		ck_assert(q.to_all);
	}
	now += RETRANS;
	ck_assert_uint_eq(age(&q), 0);
	ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_FAILED);
	ck_assert_int_eq(use(1), -EHOSTUNREACH);
	hauli_neigh_answer(t, ip(1), one, true, true, now); /* too late */
	ck_assert_int_eq(use(1), -EHOSTUNREACH);
	now += FAILED - 1;
	ck_assert_uint_eq(age(&q), 0);
	ck_assert_int_eq(use(1), -EHOSTUNREACH);
	now++;
	ck_assert_uint_eq(age(&q), 0);
	ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_NONE);
	ck_assert_int_eq(use(1), -EAGAIN);
	ck_assert_uint_eq(age(&q), 1);
	hauli_neigh_free(t);
}
END_TEST

/* Brings neighbour 1, with address `one`, into a state. */
static void bring(enum haul_neighbour_state s)
{
	struct hauli_question q;

	if (s == HAUL_NEIGHBOUR_NONE)
		return;
	use(1);
	(void)age(&q);
	if (s == HAUL_NEIGHBOUR_FAILED)
		for (unsigned i = 0; i < TRIES; i++) {
			now += RETRANS;
			(void)age(&q);
		}
	if (s == HAUL_NEIGHBOUR_INCOMPLETE || s == HAUL_NEIGHBOUR_FAILED)
		return;
	hauli_neigh_answer(t, ip(1), one, true, true, now);
	if (s == HAUL_NEIGHBOUR_REACHABLE)
		return;
	now += 2 * REACHABLE;
	(void)age(&q);
	if (s == HAUL_NEIGHBOUR_STALE)
		return;
	use(1);
	if (s == HAUL_NEIGHBOUR_DELAY)
		return;
	now += DELAY;
	(void)age(&q);
}

#define STATES (HAUL_NEIGHBOUR_FAILED + 1)

enum { N, I, R, S, D, P, F, K }; /* K: the state stays */

/* What is heard in each state, and the state and the address (0: none) after it. */
static const struct heard {
	const char *what;
	const uint8_t *mac;
	bool asks, solicited, overrides;
	uint8_t after[STATES], has[STATES];
} heard[] = {
	/*                                         N  I  R  S  D  P  F    N  I  R  S  D  P  F */
	{"asks, same", one, true, false, false, {K, K, K, K, K, K, K}, {0, 0, 1, 1, 1, 1, 0}},
	{"asks, other", two, true, false, false, {K, K, S, S, S, S, K}, {0, 0, 2, 2, 2, 2, 0}},
	{"answer, same", one, false, true, true, {K, R, K, K, K, R, K}, {0, 1, 1, 1, 1, 1, 0}},
	{"answer, other", two, false, true, true, {K, R, S, S, S, R, K}, {0, 2, 2, 2, 2, 2, 0}},
	{"answer, no address", NULL, false, true, true, {K, K, K, K, K, R, K},
		{0, 0, 1, 1, 1, 1, 0}},
	{"weak answer, same", one, false, true, false, {K, R, K, K, K, R, K},
		{0, 1, 1, 1, 1, 1, 0}},
	{"weak answer, other", two, false, true, false, {K, R, S, K, K, K, K},
		{0, 2, 1, 1, 1, 1, 0}},
	{"unasked, same", one, false, false, true, {K, S, K, K, K, K, K}, {0, 1, 1, 1, 1, 1, 0}},
	{"unasked, other", two, false, false, true, {K, S, S, S, S, S, K}, {0, 2, 2, 2, 2, 2, 0}},
	{"unasked, no address", NULL, false, false, true, {K, K, K, K, K, K, K},
		{0, 0, 1, 1, 1, 1, 0}},
	{"weak answer, no address", NULL, false, true, false, {K, K, K, K, K, R, K},
		{0, 0, 1, 1, 1, 1, 0}},
	{"unasked, weak, no address", NULL, false, false, false, {K, K, K, K, K, K, K},
		{0, 0, 1, 1, 1, 1, 0}},
	{"unasked, weak, same", one, false, false, false, {K, S, K, K, K, K, K},
		{0, 1, 1, 1, 1, 1, 0}},
	{"unasked, weak, other", two, false, false, false, {K, S, S, K, K, K, K},
		{0, 2, 1, 1, 1, 1, 0}},
};

START_TEST(what_is_heard_in_each_state)
{
	const uint8_t *macs[] = {none, one, two};

	for (unsigned i = 0; i < sizeof(heard) / sizeof(heard[0]); i++)
		for (unsigned s = 0; s < STATES; s++) {
			const struct heard *h = &heard[i];
			uint8_t mac[6] = {0};

			create(16, 16);
			bring(s);
			ck_assert_int_eq(state(1), s);
			if (h->asks)
				hauli_neigh_asks(t, ip(1), h->mac, now);
			else
				hauli_neigh_answer(
					t, ip(1), h->mac, h->solicited, h->overrides, now);
			ck_assert_msg(hauli_neigh_state(t, ip(1), mac) ==
					(h->after[s] == K ? s : h->after[s]),
				"%s in state %u: state %u", h->what, s, state(1));
			ck_assert_msg(!memcmp(mac, macs[h->has[s]], 6),
				"%s in state %u: address of %u", h->what, s, mac[5]);
			hauli_neigh_free(t);
		}
}
END_TEST

START_TEST(protocols_above_confirm)
{
	for (unsigned s = 0; s < STATES; s++) {
		bool has = s != N && s != I && s != F;

		create(16, 16);
		bring(s);
		hauli_neigh_confirm(t, ip(1), now);
		ck_assert_uint_eq(state(1), has ? R : s);
		hauli_neigh_free(t);
	}
}
END_TEST

START_TEST(a_flood_moves_none_that_is_used)
{
	struct hauli_random random;
	struct hauli_question q;
	uint8_t mac[6];
	struct hauli_neigh_seen seen;
	unsigned full = 0, questions = 0;
	struct haul_host_stats st;

	create(64, 64);
	hauli_random_init(&random, 5);
	for (unsigned i = 0; i < 32; i++) {
		ck_assert_int_eq(use(i), -EAGAIN);
		hauli_neigh_answer(t, ip(i), one, true, true, now);
	}
	for (unsigned i = 0; i < 5000; i++) {
		int err = use(1000 + hauli_random_below(&random, 1000000));

		ASSERT_EACH(err != 0);
		full += err == -ENOBUFS;
		st = stats();
		ASSERT_EACH(st.neighbours <= 32 + 128);
		now += HAUL_MS;
		questions += age(&q);
		for (unsigned k = 0; k < 32; k++)
			if (!hauli_neigh_find(t, ip(k), mac, &seen)) {
				ASSERT_EACH(hauli_neigh_use(t, ip(k), now, mac, NULL) == 0);
				hauli_neigh_confirm(t, ip(k), now);
			}
	}
	ck_assert_uint_eq(stats().refused, full);
	ck_assert_uint_gt(full, 2500);
	/* 32 at a time, three questions each in three seconds. */
	ck_assert_uint_le(questions, 32 * (5 + 3));
	hauli_neigh_free(t);
}
END_TEST

START_TEST(the_longest_stale_one_makes_room)
{
	create(2, 8); /* one bucket of four */
	for (unsigned n = 0; n < 20; n++) {
		now += HAUL_S;
		ck_assert_int_eq(use(n), -EAGAIN);
		hauli_neigh_answer(t, ip(n), one, false, true, now);
		for (unsigned i = 0; i <= n; i++)
			ck_assert_int_eq(
				state(i), i + 4 > n ? HAUL_NEIGHBOUR_STALE : HAUL_NEIGHBOUR_NONE);
	}
	ck_assert_uint_eq(stats().evicted, 16);
	hauli_neigh_free(t);
}
END_TEST

START_TEST(who_waits_is_counted_and_let_go)
{
	struct hauli_question q;
	uint32_t entry[3];
	uint8_t mac[6];

	create(16, 2);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(hauli_neigh_use(t, ip(1), now, mac, &entry[i]), -EAGAIN);
	ck_assert_int_eq(hauli_neigh_use(t, ip(1), now, mac, &entry[2]), -ENOBUFS);
	ck_assert_int_eq(hauli_neigh_use(t, ip(2), now, mac, &entry[2]), -ENOBUFS);
	ck_assert_uint_eq(stats().waiters, 2);
	ck_assert(!haul_event_is_set(hauli_neigh_event(t, entry[0])));
	for (unsigned i = 0; i <= TRIES; i++, now += RETRANS)
		(void)age(&q);
	ck_assert(haul_event_is_set(hauli_neigh_event(t, entry[0])));
	ck_assert_int_eq(hauli_neigh_look(t, entry[0], mac), -EHOSTUNREACH);
	now += 100 * FAILED;
	(void)age(&q); /* it stays for those that have not looked */
	ck_assert_int_eq(hauli_neigh_look(t, entry[1], mac), -EHOSTUNREACH);
	ck_assert_int_eq(state(1), HAUL_NEIGHBOUR_FAILED);
	hauli_neigh_leave(t, entry[0]);
	hauli_neigh_close(t);
	ck_assert_int_eq(hauli_neigh_look(t, entry[1], mac), -ECANCELED);
	ck_assert_int_eq(use(2), -ECANCELED);
	hauli_neigh_leave(t, entry[1]);
	ck_assert_uint_eq(stats().waiters, 0);
	ck_assert_uint_eq(stats().neighbours, 0);
	hauli_neigh_open(t);
	ck_assert_int_eq(use(1), -EAGAIN);
	hauli_neigh_free(t);
}
END_TEST

/* A neighbour as the model has it. */
#define ADDRESSES 40u

struct model {
	unsigned state, asked;
	uint8_t mac;
	uint64_t due_least, due_most; /* the end of the state, or the next question */
};

static struct model model[ADDRESSES];

static void model_set_at(struct model *m, unsigned s, uint64_t at)
{
	m->state = s;
	m->asked = 0;
	m->due_least = m->due_most = s == I || s == P ? at
		: s == D                              ? at + DELAY
		: s == F                              ? at + FAILED
						      : HAUL_FOREVER;
	if (s == R) {
		m->due_least = at + REACHABLE / 2;
		m->due_most = at + REACHABLE * 3 / 2 + 1;
	}
}

static void model_set(struct model *m, unsigned s)
{
	model_set_at(m, s, now);
}

/* What the table has done with time alone: its state must be one that the model can have. */
static void model_age(struct model *m, unsigned found)
{
	while (m->due_most <= now || (m->state == R && found != R && m->due_least <= now)) {
		uint64_t at = m->due_most;

		if (m->state == R)
			model_set_at(m, S, at);
		else if (m->state == D)
			model_set_at(m, P, at);
		else if (m->state == F)
			model_set_at(m, N, at);
		else if (m->asked++ < TRIES)
			m->due_least = m->due_most = m->due_most + RETRANS;
		else
			model_set_at(m, m->state == I ? F : N, at);
	}
}

static void model_hear(struct model *m, const struct heard *h)
{
	unsigned after = h->after[m->state], has = h->has[m->state];
	bool asked = m->state == I || m->state == P;

	/* The table of what is heard speaks of a neighbour with address one. */
	if (after != K || (asked && !h->asks && h->solicited && after == R))
		model_set(m, after);
	m->mac = (uint8_t)has;
}

/* The row of what is heard that fits a neighbour whose address is n. */
static const struct heard *row(uint8_t has, uint8_t n, bool asks, bool solicited, bool overrides)
{
	for (unsigned i = 0; i < sizeof(heard) / sizeof(heard[0]); i++) {
		const struct heard *h = &heard[i];
		const uint8_t *mac = n == 0 ? NULL : has != 0 && n != has ? two : one;

		if (h->mac == mac && h->asks == asks && h->solicited == solicited &&
			h->overrides == overrides)
			return h;
	}
	return NULL;
}

static void one_step(struct hauli_random *random)
{
	unsigned n = hauli_random_below(random, ADDRESSES);
	struct model *m = &model[n];
	uint8_t address[6] = {2, 0, 0, 0, 0, 0}, had = m->mac;
	unsigned what = hauli_random_below(random, 10);
	const struct heard *h;
	int err;

	if (what < 4) {
		err = use(n);
		if (m->state == N)
			model_set(m, I);
		else if (m->state == S)
			model_set(m, D);
		ck_assert_int_eq(err, m->state == I ? -EAGAIN : m->state == F ? -EHOSTUNREACH : 0);
		return;
	}
	if (what == 9) {
		hauli_neigh_confirm(t, ip(n), now);
		if (m->state == S || m->state == D || m->state == P)
			model_set(m, R);
		return;
	}
	address[5] = (uint8_t)hauli_random_below(random, 3);
	if (what == 8) {
		address[5] |= 1;
		h = row(had, address[5], true, false, false);
		hauli_neigh_asks(t, ip(n), address, now);
	} else {
		h = row(had, address[5], false, what & 1, what & 2);
		hauli_neigh_answer(t, ip(n), address[5] ? address : NULL, what & 1, what & 2, now);
	}
	ck_assert_ptr_nonnull(h);
	model_hear(m, h);
	/* Rows say 1 for what it had, and 2 for another. */
	if (m->mac == 2 || (m->mac == 1 && had == 0))
		m->mac = address[5];
	else if (m->mac == 1)
		m->mac = had;
}

START_TEST(random_steps_as_the_model)
{
	uint64_t seed = getenv("HAUL_STRESS_SEED") ? strtoull(getenv("HAUL_STRESS_SEED"), NULL, 0)
						   : (uint64_t)_i + 1;
	struct hauli_random random;
	struct hauli_question q;
	uint8_t mac[6];

	hauli_random_init(&random, seed);
	create(4096, 16); /* nothing has to make room */
	memset(model, 0, sizeof(model));
	for (unsigned i = 0; i < ADDRESSES; i++)
		model_set(&model[i], N);
	for (unsigned step = 0; step < 5000; step++) {
		now += hauli_random_below(&random, 4) ? hauli_random_below(&random, 300) * HAUL_MS
						      : hauli_random_below(&random, 20) * HAUL_S;
		/* Time passes as in the host: the table ages whenever something is due. */
		uint64_t end = now;

		for (now = hauli_neigh_due(t); now <= end; now = hauli_neigh_due(t))
			while (hauli_neigh_age(t, now, &q))
				;
		now = end;
		for (unsigned i = 0; i < ADDRESSES; i++) {
			unsigned found = hauli_neigh_state(t, ip(i), mac);

			model_age(&model[i], found);
			if (found != model[i].state)
				ck_abort_msg("seed %" PRIu64 " step %u: %u is in state %u, not %u",
					seed, step, i, found, model[i].state);
			if (found == N || found == I || found == F)
				model[i].mac = 0;
			else if (mac[5] != model[i].mac)
				ck_abort_msg(
					"seed %" PRIu64 " step %u: address %u", seed, step, mac[5]);
		}
		one_step(&random);
	}
	hauli_neigh_free(t);
}
END_TEST

/* One of two that wait sees the answer before the other has begun its wait. */
START_TEST(a_look_takes_no_wake_up_from_others)
{
	uint32_t entry[2];
	uint8_t mac[6];

	create(8, 4);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(hauli_neigh_use(t, ip(1), now, mac, &entry[i]), -EAGAIN);
	ck_assert_int_eq(hauli_neigh_look(t, entry[0], mac), -EAGAIN);
	hauli_neigh_answer(t, ip(1), one, true, true, now);
	ck_assert_int_eq(hauli_neigh_look(t, entry[1], mac), 0);
	ck_assert(haul_event_is_set(hauli_neigh_event(t, entry[0])));
	hauli_neigh_leave(t, entry[0]);
	hauli_neigh_leave(t, entry[1]);
	hauli_neigh_free(t);
}
END_TEST

SUITE_MAIN("neighbours", {an_answer_and_what_follows, 1}, {no_answer, 1},
	{what_is_heard_in_each_state, 1}, {protocols_above_confirm, 1},
	{a_flood_moves_none_that_is_used, 1}, {the_longest_stale_one_makes_room, 1},
	{who_waits_is_counted_and_let_go, 1}, {a_look_takes_no_wake_up_from_others, 1},
	{random_steps_as_the_model, 20})
