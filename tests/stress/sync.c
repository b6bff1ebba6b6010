/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines of all carriers lock, wait, send, receive and select with short deadlines, while
 * others cancel them and carriers steal: a mutex excludes, units and values are neither lost nor
 * doubled, and nobody waits for ever.
 */
#include <errno.h>
#include <stdatomic.h>

#include "base/random.h"
#include "sched/state/coroutine.h"

#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 4
#define MEMBERS 24
#define STEPS 2000
#define UNITS 3
#define ROOM 2

struct member {
	struct haul_coro *co;
	uint64_t seed;
	uint64_t sent, received; /* values in the channel */
	uint64_t sum; /* of values: sent less received */
	uint64_t last[MEMBERS]; /* received from each */
};

static struct {
	struct haul_mutex mutex;
	struct haul_cond cond;
	struct haul_event event;
	struct haul_sem sem;
	struct haul_chan *ch;
	struct member members[MEMBERS];
	uint64_t inside, entries; /* under the mutex */
	uint64_t turn; /* the same: the condition's state */
	atomic_uint with_unit;
	atomic_ullong locked;
	atomic_bool wrong;
} s;

struct value {
	uint32_t from;
	uint64_t number;
};

static uint64_t some_deadline(struct hauli_random *random)
{
	switch (hauli_random_below(random, 4)) {
	case 0:
		return 0;
	case 1:
		return haul_in(hauli_random_below(random, 20000));
	default:
		return haul_in(HAUL_MS);
	}
}

static void linger(struct hauli_random *random)
{
	if (hauli_random_below(random, 4) == 0)
		haul_yield();
}

static void with_mutex(struct hauli_random *random)
{
	s.wrong |= s.inside++ != 0;
	s.entries++;
	s.locked++;
	linger(random);
	s.wrong |= --s.inside != 0;
	haul_mutex_unlock(&s.mutex);
}

static void use_mutex(struct hauli_random *random)
{
	bool by = hauli_random_below(random, 2);

	if (by && haul_mutex_lock_by(&s.mutex, some_deadline(random)) != 0)
		return;
	if (!by)
		haul_mutex_lock(&s.mutex);
	with_mutex(random);
}

static void use_cond(struct hauli_random *random)
{
	uint64_t turn;
	int err = 0;

	haul_mutex_lock(&s.mutex);
	s.wrong |= s.inside != 0;
	turn = s.turn;
	if (hauli_random_below(random, 2)) {
		s.turn++;
		if (hauli_random_below(random, 2))
			haul_cond_signal(&s.cond);
		else
			haul_cond_broadcast(&s.cond);
	} else {
		while (s.turn == turn && !err) {
			err = haul_cond_wait(&s.cond, &s.mutex, some_deadline(random));
			s.wrong |= s.inside != 0;
		}
	}
	haul_mutex_unlock(&s.mutex);
}

static void with_unit(struct hauli_random *random)
{
	s.wrong |= atomic_fetch_add(&s.with_unit, 1) >= UNITS;
	linger(random);
	s.with_unit--;
	haul_sem_post(&s.sem);
}

static void use_sem(struct hauli_random *random)
{
	if (haul_sem_wait(&s.sem, some_deadline(random)) == 0)
		with_unit(random);
}

static void use_event(struct hauli_random *random)
{
	if (hauli_random_below(random, 3))
		(void)haul_event_wait(&s.event, some_deadline(random));
	else
		haul_event_set(&s.event);
	if (hauli_random_below(random, 2))
		haul_event_reset(&s.event);
}

static struct value next_value(const struct member *m)
{
	return (struct value){.from = (uint32_t)(m - s.members), .number = m->sent + 1};
}

static void was_sent(struct member *m, const struct value *v)
{
	m->sum += v->number;
	m->sent++;
}

static void was_received(struct member *m, const struct value *v)
{
	s.wrong |= v->from >= MEMBERS || v->number <= m->last[v->from % MEMBERS];
	m->last[v->from % MEMBERS] = v->number;
	m->sum -= v->number;
	m->received++;
}

static void use_chan(struct member *m, struct hauli_random *random)
{
	struct value v = next_value(m);

	if (hauli_random_below(random, 2)) {
		if (haul_chan_send(s.ch, &v, some_deadline(random)) == 0)
			was_sent(m, &v);
	} else if (haul_chan_recv(s.ch, &v, some_deadline(random)) == 0) {
		was_received(m, &v);
	}
}

/* Some of all cases, the channel both ways. */
static void use_select(struct member *m, struct hauli_random *random)
{
	struct value out = next_value(m), in;
	struct haul_case cases[] = {
		haul_case_send(s.ch, &out),
		haul_case_recv(s.ch, &in),
		haul_case_mutex(&s.mutex),
		haul_case_sem(&s.sem),
		haul_case_event(&s.event),
	};

	for (unsigned i = 0; i < 5; i++)
		if (hauli_random_below(random, 3) == 0)
			cases[i] = (struct haul_case){0};
	switch (haul_select(cases, 5, some_deadline(random))) {
	case 0:
		was_sent(m, &out);
		break;
	case 1:
		was_received(m, &in);
		break;
	case 2:
		with_mutex(random);
		break;
	case 3:
		with_unit(random);
		break;
	default:
		break;
	}
}

static void *member(void *arg)
{
	struct member *m = arg;
	struct hauli_random random;

	hauli_random_init(&random, m->seed);
	for (int i = 0; i < STEPS && !haul_cancelled(); i++) {
		switch (hauli_random_below(&random, 8)) {
		case 0:
			use_mutex(&random);
			break;
		case 1:
			use_cond(&random);
			break;
		case 2:
			use_sem(&random);
			break;
		case 3:
			use_event(&random);
			break;
		case 4:
		case 5:
		case 6:
			use_select(m, &random);
			break;
		default:
			use_chan(m, &random);
			break;
		}
	}
	return NULL;
}

static void check_sums(void)
{
	uint64_t sum = 0, sent = 0, received = 0;
	struct value v;

	for (unsigned i = 0; i < MEMBERS; i++) {
		sum += s.members[i].sum;
		sent += s.members[i].sent;
		received += s.members[i].received;
	}
	while (haul_chan_recv(s.ch, &v, 0) == 0) {
		sum -= v.number;
		received++;
	}
	ck_assert_uint_eq(sum, 0);
	ck_assert_uint_eq(sent, received);
	ck_assert_uint_eq(s.entries, s.locked);
	ck_assert(!s.wrong && s.with_unit == 0);
	for (int i = 0; i < UNITS; i++)
		ck_assert_int_eq(haul_sem_wait(&s.sem, 0), 0);
	ck_assert_int_eq(haul_sem_wait(&s.sem, 0), -EAGAIN);
}

START_TEST(nothing_is_lost_or_doubled)
{
	uint64_t deadline = stress_deadline(), seed = stress_seed();
	struct haul_runtime *rt = runtime_start_stealing(
		CARRIERS, NULL, _i == 0 ? runtime_steal_setting() : HAUL_STEAL_GLOBAL);
	struct hauli_random random;

	hauli_random_init(&random, seed);
	do {
		memset(&s, 0, sizeof(s));
		haul_sem_init(&s.sem, UNITS);
		ck_assert_int_eq(haul_chan_create(&s.ch, sizeof(struct value),
					 (unsigned)hauli_random_below(&random, ROOM + 1)),
			0);
		for (unsigned i = 0; i < MEMBERS; i++) {
			s.members[i].seed = seed++;
			ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i % CARRIERS),
						 &s.members[i].co, member, &s.members[i], NULL),
				0);
		}
		for (unsigned i = 0; i < MEMBERS / 4; i++) {
			WAIT_UNTIL(s.locked > i * 20);
			haul_cancel(s.members[i].co);
		}
		for (unsigned i = 0; i < MEMBERS; i++)
			ck_assert_int_eq(haul_join(s.members[i].co, NULL, HAUL_FOREVER), 0);
		check_sums();
		haul_chan_destroy(s.ch);
	} while (haul_now() < deadline);
	runtime_stop(rt);
}
END_TEST

static struct {
	struct haul_event event;
	atomic_uint work, done; /* numbers */
} bell;

/* Resets the event before it looks. */
static void *answer(void *arg)
{
	while (haul_event_wait(&bell.event, HAUL_FOREVER) == 0) {
		haul_event_reset(&bell.event);
		atomic_store_explicit(&bell.done,
			atomic_load_explicit(&bell.work, memory_order_relaxed),
			memory_order_relaxed);
	}
	return arg;
}

/* The second set comes while the waiter resets the event. */
START_TEST(no_set_is_missed)
{
	uint64_t deadline = stress_deadline();
	struct haul_runtime *rt = runtime_start(1);
	struct hauli_random random;
	struct haul_coro *co;

	memset(&bell, 0, sizeof(bell));
	hauli_random_init(&random, stress_seed());
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, answer, NULL, NULL), 0);
	do {
		for (int i = 0; i < 2; i++) {
			for (uint64_t n = hauli_random_below(&random, 2000); n > 0; n--)
				asm volatile("");
			atomic_store_explicit(&bell.work, bell.work + 1, memory_order_relaxed);
			haul_event_set(&bell.event);
		}
		WAIT_UNTIL(bell.done == bell.work);
	} while (haul_now() < deadline);
	haul_cancel(co);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("sync", {nothing_is_lost_or_doubled, HAUL_STEALING ? 2 : 1}, {no_set_is_missed, 1})
