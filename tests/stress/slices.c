/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines that are stolen and do, in random order and nested: scopes, shields, values, pins,
 * waits of all kinds, spawns and joins, and then send, with order keys. A slice that has not waited
 * sends in the order of its key, wherever it went; blocks that need the home have it; and no
 * coroutine, lock or place in the order is left.
 */
#include <errno.h>
#include <stdatomic.h>

#include <rte_mbuf.h>

#include <haul/net.h>
#include <haul/scope.h>

#include "net/txq.h"
#include "sched/wait/order.h"
#include "support/hang.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 3
#define CROWD 4000 /* coroutines of a round */
#define AHEAD 400
#define KEYS 3
#define DEPTH 3
#define WRONG(what) wrong(what, __LINE__)

static struct {
	struct haul_runtime *rt;
	uint64_t seed; /* of the round */
	struct rte_mbuf pkts[CROWD];
	bool in_order[CROWD]; /* its first slice has sent it */
	uint32_t next[KEYS + 1];
	struct haul_txq txq;
	bool pending;
	unsigned out, spawned; /* written at home only, as is sent */
	unsigned sent;
	atomic_uint ended, remote, children;
	struct haul_mutex mutex;
	uint64_t guarded;
	atomic_uint locks;
	struct haul_sem sem;
	struct haul_chan *chan;
	atomic_long in_chan;
	atomic_bool ends; /* the runtime stops; children that were detached may still run */
} s;

static const char value_key;

/* What runs: a coroutine of the crowd, or a child of one. */
struct act {
	struct hauli_random random;
	unsigned number;
	bool waited; /* its first slice may have ended */
	bool pins; /* in a block of haul_pin(), or pinned by its spawn */
	const void *value;
};

static void wrong(const char *what, int line)
{
	fprintf(stderr, "%s:%d: %s, in the round of seed %" PRIu64 "\n", __FILE__, line, what,
		s.seed);
	abort();
}

static bool chance(struct act *a, unsigned one_in)
{
	return hauli_random_below(&a->random, one_in) == 0;
}

static bool at_home(void)
{
	return haul_carrier_self() == haul_coro_home(haul_self());
}

static void check_end(int err)
{
	if (err && err != -EAGAIN && err != -ETIMEDOUT && err != -ECANCELED)
		WRONG("an error that the call does not have");
}

static uint64_t some_deadline(struct act *a)
{
	return chance(a, 3) ? 0 : haul_in(hauli_random_below(&a->random, 100) * HAUL_US);
}

/* Where slices are rescued, some last for as long as that takes. */
static void work(struct act *a)
{
	bool hogs = runtime_rescue_setting(HAUL_STEAL_GLOBAL) && chance(a, 20);
	uint64_t until = haul_now() + hauli_random_below(&a->random, hogs ? 400 : 10) * HAUL_US;

	while (haul_now() < until)
		;
}

static void do_some(struct act *a, unsigned depth);

static int child(void *arg)
{
	const struct act *parent = arg;
	struct act a = {.waited = true, .value = parent->value};

	hauli_random_init(&a.random, s.seed + s.children++);
	if (haul_value(&value_key) != a.value)
		WRONG("a child has not inherited the value");
	do_some(&a, DEPTH);
	if (chance(&a, 2))
		haul_yield();
	return chance(&a, 4) ? -EIO : 0;
}

static void in_scope(struct act *a, unsigned depth)
{
	struct act parent = {.value = a->value};
	enum haul_scope_policy policy = (enum haul_scope_policy)hauli_random_below(&a->random, 3);

	{
		HAUL_SCOPE(scope, chance(a, 2) ? HAUL_FOREVER : some_deadline(a), policy);

		if (!at_home())
			WRONG("a scope is entered elsewhere");
		for (; depth < DEPTH && chance(a, 2);) {
			a->waited = true; /* the block ends by a wait */
			if (haul_scope_spawn(&scope, child, &parent, NULL) != 0)
				break;
		}
		do_some(a, depth);
		if (chance(a, 8))
			haul_scope_cancel(&scope);
	}
	if (!at_home())
		WRONG("a scope is left elsewhere");
}

static void in_shield(struct act *a, unsigned depth)
{
	HAUL_SHIELD(haul_in(HAUL_S * 3600));
	if (haul_cancelled() || !at_home())
		WRONG("a shield that is none");
	do_some(a, depth);
}

static void with_value(struct act *a, unsigned depth)
{
	const void *before = a->value;

	{
		HAUL_WITH(&value_key, a);
		a->value = a;
		do_some(a, depth);
		if (haul_value(&value_key) != a)
			WRONG("another value");
	}
	a->value = before;
}

static void pinned(struct act *a, unsigned depth)
{
	if (a->pins) { /* pins do not nest */
		do_some(a, depth);
		return;
	}
	haul_pin();
	a->pins = true;
	do_some(a, depth);
	if (!at_home())
		WRONG("pinned, and elsewhere");
	a->pins = false;
	haul_unpin();
}

static void locked(struct act *a, unsigned depth)
{
	uint64_t before;

	a->waited = true;
	if (depth < DEPTH && chance(a, 2)) {
		haul_mutex_lock(&s.mutex);
	} else {
		int err = haul_mutex_lock_by(&s.mutex, some_deadline(a));

		check_end(err);
		if (err)
			return;
	}
	before = s.guarded;
	if (chance(a, 4))
		haul_yield();
	s.guarded = before + 1;
	s.locks++;
	haul_mutex_unlock(&s.mutex);
}

static void uses_sem(struct act *a)
{
	int err = haul_sem_wait(&s.sem, some_deadline(a));

	check_end(err);
	if (err)
		return;
	if (chance(a, 2))
		haul_yield();
	haul_sem_post(&s.sem);
}

static void uses_chan(struct act *a)
{
	uint64_t value = a->number;
	int err;

	if (chance(a, 2)) {
		err = haul_chan_send(s.chan, &value, some_deadline(a));
		s.in_chan += !err;
	} else {
		err = haul_chan_recv(s.chan, &value, some_deadline(a));
		s.in_chan -= !err;
	}
	check_end(err);
}

static void *joined(void *arg)
{
	struct act a = {.waited = true};

	hauli_random_init(&a.random, s.seed + s.children++);
	do_some(&a, DEPTH);
	return arg;
}

static void spawns(struct act *a)
{
	const struct haul_coro_opts opts = {
		.order_key = (uint8_t)hauli_random_below(&a->random, 3)};
	struct haul_coro *co;
	void *result = NULL;
	int err;

	err = haul_spawn(&co, joined, a, &opts);
	if (err == -ECANCELED && s.ends)
		return;
	if (err != 0)
		WRONG("no spawn");
	if (chance(a, 3)) {
		haul_detach(co);
		return;
	}
	do {
		err = haul_join(co, &result, chance(a, 2) ? HAUL_FOREVER : some_deadline(a));
		check_end(err);
		if (err)
			haul_yield();
	} while (err);
	if (result != a)
		WRONG("another result");
}

static void waits(struct act *a)
{
	a->waited = true;
	switch (hauli_random_below(&a->random, 6)) {
	case 0:
		haul_yield();
		break;
	case 1:
		check_end(haul_sleep(hauli_random_below(&a->random, 50) * HAUL_US));
		break;
	case 2:
		if (chance(a, 2))
			haul_unpark(haul_self());
		check_end(haul_park(some_deadline(a)));
		break;
	case 3:
		uses_sem(a);
		break;
	case 4:
		uses_chan(a);
		break;
	default:
		spawns(a);
		break;
	}
}

static void do_one(struct act *a, unsigned depth)
{
	switch (hauli_random_below(&a->random, depth < DEPTH ? 8 : 3)) {
	case 0:
		work(a);
		break;
	case 1:
		waits(a);
		break;
	case 2:
		locked(a, depth);
		break;
	case 3:
	case 4:
		in_scope(a, depth + 1);
		break;
	case 5:
		in_shield(a, depth + 1);
		break;
	case 6:
		with_value(a, depth + 1);
		break;
	default:
		pinned(a, depth + 1);
		break;
	}
}

static void do_some(struct act *a, unsigned depth)
{
	for (unsigned n = hauli_random_below(&a->random, 3); n > 0; n--) {
		do_one(a, depth);
		if (a->pins && !at_home())
			WRONG("pinned, and elsewhere");
	}
}

static unsigned key_of(unsigned number)
{
	return (number / 7) % (KEYS + 1);
}

static bool is_pinned(unsigned number)
{
	return number % 11 == 0;
}

static void *act(void *arg)
{
	struct rte_mbuf *pkt = arg;
	unsigned number = pkt->hash.usr;
	struct act a = {.number = number, .pins = is_pinned(number)};

	hauli_random_init(&a.random, s.seed * CROWD + number);
	s.remote += !at_home();
	do_some(&a, 0);
	if (!chance(&a, 4)) {
		s.in_order[number] = !a.waited && key_of(number) > 0 && !is_pinned(number);
		if (haul_send(&s.txq, pkt) == 0) {
			if (!at_home())
				WRONG("has sent elsewhere");
			s.sent++;
		}
		do_some(&a, 0);
	}
	s.ended++;
	return NULL;
}

static void transmit(struct hauli_random *random)
{
	for (unsigned n = hauli_random_below(random, 100); n && hauli_txq_count(&s.txq); n--) {
		unsigned number = hauli_txq_peek(&s.txq)[0]->hash.usr, key = key_of(number);

		if (s.in_order[number]) {
			if (number < s.next[key])
				WRONG("sent out of order");
			s.next[key] = number + 1;
		}
		s.out++;
		hauli_txq_pop(&s.txq, 1);
	}
}

static void spawn_one(struct hauli_random *random)
{
	unsigned number = s.spawned++;
	const struct haul_coro_opts opts = {
		.order_key = (uint8_t)key_of(number), .pinned = is_pinned(number)};
	struct haul_coro *co;

	s.pkts[number].hash.usr = number;
	if (haul_spawn(&co, act, &s.pkts[number], &opts) != 0)
		WRONG("no spawn");
	if (hauli_random_below(random, 16) == 0)
		haul_cancel(co);
	haul_detach(co);
}

/* Plays the poller. */
static void *receive(void *arg)
{
	struct hauli_random *random = arg;

	while (s.ended < CROWD || hauli_txq_count(&s.txq) > 0) {
		for (unsigned n = hauli_random_below(random, 64); n > 0; n--)
			if (s.spawned < CROWD && s.spawned - s.ended < AHEAD)
				spawn_one(random);
		haul_yield();
		transmit(random);
	}
	return NULL;
}

/* On carrier 0. */
static void *check_orders(void *arg)
{
	struct haul_carrier *c = haul_coro_home(haul_self());

	haul_pin();
	WAIT_UNTIL(!hauli_order_any_remote(c)); /* the message of the last one is under way */
	for (unsigned i = 0; i < HAUL_ORDER_KEYS; i++)
		if (c->steal.orders.of[i].remote || c->steal.orders.of[i].line.first)
			WRONG("a place is left");
	return arg;
}

static void run_round(struct haul_runtime *rt, struct hauli_random *random)
{
	const struct haul_coro_opts opts = {.pinned = true};
	struct haul_coro *co;

	memset(&s, 0, sizeof(s));
	s.rt = rt;
	s.seed = hauli_random_next(random);
	haul_sem_init(&s.sem, 2);
	ck_assert_int_eq(haul_chan_create(&s.chan, sizeof(uint64_t), 3), 0);
	hauli_txq_init(&s.txq, haul_carrier(rt, 0), &s.pending);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, receive, random, &opts), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	ck_assert_uint_eq(s.out, s.sent);
	ck_assert_uint_eq(s.guarded, s.locks);
	run_on(rt, 0, check_orders, NULL);
}

/* Of children that were detached. */
static unsigned values_left(void)
{
	uint64_t value;
	unsigned n = 0;

	while (haul_chan_recv(s.chan, &value, 0) == 0)
		n++;
	return n;
}

START_TEST(slices_go_on_at_home)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random random;
	unsigned remote = 0;

	hauli_random_init(&random, stress_seed());
	do {
		struct haul_runtime *rt = runtime_start_stealing(CARRIERS, NULL, HAUL_STEAL_GLOBAL);

		hang_watch();
		run_round(rt, &random);
		s.ends = true;
		runtime_stop(rt);
		remote += s.remote;
		ck_assert_int_eq(s.in_chan, values_left());
		haul_chan_destroy(s.chan);
	} while (haul_now() < deadline || remote == 0);
	hang_ends();
}
END_TEST

SUITE_MAIN("slices", {slices_go_on_at_home})
