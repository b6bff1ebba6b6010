/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends by coroutines of which some are stolen: in their order, or from where they run. */
#include <errno.h>
#include <stdatomic.h>

#include <rte_mbuf.h>

#include <haul/net.h>
#include <haul/scope.h>

#include "net/txq.h"
#include "sched/spawn/spawn.h"
#include "sched/state/group.h"
#include "sched/state/self.h"
#include "sched/wait/order.h"
#include "support/runtime.h"
#include "support/suite.h"

static struct {
	struct haul_runtime *rt;
	struct haul_txq txq, there; /* of carrier 0 and of carrier 1 */
	struct haul_txq *of_carriers[2];
	bool pending;
	struct rte_mbuf pkts[8];
	atomic_bool let_go;
	atomic_uint remote; /* first ones that were stolen and run */
	int tried; /* result of the second one's haul_try_send() */
	bool asks; /* order keys are asked for only when they are needed */
	uint8_t numbers[8];
	atomic_uint asked;
	atomic_bool begun, began_remote, dropped, asked_late; /* a packet that was sent */
} s;

static unsigned here(void)
{
	return haul_carrier_id(haul_carrier_self());
}

/* The first one of its order: stolen, and blocked at the thief. */
static void be_remote(void)
{
	ck_assert_uint_eq(here(), 1);
	s.remote++;
	while (!s.let_go)
		sched_yield();
}

static void *send_first(void *arg)
{
	be_remote();
	ck_assert_int_eq(haul_send(&s.txq, arg), 0);
	return NULL;
}

static void *drop_first(void *arg)
{
	be_remote();
	return NULL;
}

static void *yield_first(void *arg)
{
	be_remote();
	haul_yield();
	ck_assert_int_eq(haul_send(&s.txq, arg), 0);
	return NULL;
}

static uint8_t number_of(const void *arg)
{
	s.asked++;
	s.asked_late |= s.dropped;
	return s.numbers[(const struct rte_mbuf *)arg - s.pkts];
}

static void *send(void *arg)
{
	hauli_order_begins(haul_carrier(s.rt, 0));
	ck_assert_int_eq(haul_send(&s.txq, arg), 0);
	ck_assert_uint_eq(here(), 0);
	return NULL;
}

static void *try_then_send(void *arg)
{
	hauli_order_begins(haul_carrier(s.rt, 0));
	s.tried = haul_try_send(&s.txq, arg);
	return send(arg);
}

static void spawn(haul_fn *fn, unsigned pkt, uint8_t order, bool pinned)
{
	const struct haul_coro_opts opts = {
		.order_key = s.asks ? HAULI_ORDER_KEY_ASK : order, .pinned = pinned};

	s.numbers[pkt] = order;
	ck_assert_int_eq(hauli_spawn_own(fn, &s.pkts[pkt], &opts), 0);
}

static void expect(struct haul_txq *txq, unsigned n, const unsigned *pkts)
{
	WAIT_UNTIL(hauli_txq_count(txq) == n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_ptr_eq(hauli_txq_peek(txq)[0], &s.pkts[pkts[i]]);
		hauli_txq_pop(txq, 1);
	}
}

/* Runs on carrier 0, pinned, as after that number of thefts from it; carrier 1 only steals from
 * carrier 0. */
static void on_carrier_0_after(uint32_t thefts, haul_fn *fn, void *arg)
{
	const struct haul_coro_opts opts = {.pinned = true};
	struct haul_coro *co;

	memset(&s, 0, sizeof(s));
	s.rt = runtime_start_stealing(2, NULL, HAUL_STEAL_GLOBAL);
	hauli_u32_published_set(&haul_carrier(s.rt, 0)->steal.orders.taken, thefts);
	hauli_txq_init(&s.txq, haul_carrier(s.rt, 0), &s.pending);
	hauli_txq_init(&s.there, haul_carrier(s.rt, 1), &s.pending);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, 0), &co, fn, arg, &opts), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	runtime_stop(s.rt);
}

static void on_carrier_0(haul_fn *fn, void *arg)
{
	on_carrier_0_after(0, fn, arg);
}

/* Offers the coroutine to thieves all the time: where one has only yielded, nobody has. */
static void hog_until_remote(unsigned n)
{
	while (s.remote < n) {
		hauli_steal_offer_here(haul_carrier(s.rt, 0));
		sched_yield();
	}
}

static void *coroutines_behind_wait(void *arg)
{
	s.asks = arg != NULL;
	hauli_order_set_key_fn(haul_carrier_self(), number_of);
	if (s.asks) { /* nothing is remote: neither needs its key */
		spawn(send, 5, 1, true);
		spawn(send, 6, 1, true);
		expect(&s.txq, 2, (unsigned[]){5, 6});
		ck_assert_uint_eq(s.asked, 0);
	}
	spawn(send_first, 0, 1, false);
	hog_until_remote(1);
	spawn(try_then_send, 1, 1, true);
	spawn(send, 2, 2, true); /* of another order key */
	spawn(send, 3, 0, true); /* without an order key */
	spawn(send, 4, 1, true);
	expect(&s.txq, 2, (unsigned[]){2, 3});
	ck_assert_int_eq(s.tried, -EAGAIN);
	s.let_go = true;
	expect(&s.txq, 3, (unsigned[]){0, 1, 4});
	ck_assert_uint_eq(s.asked, s.asks ? 5 : 0);
	return NULL;
}

START_TEST(coroutines_behind_a_remote_one_wait)
{
	/* The place number wraps: the next one would be 0, which means none. */
	on_carrier_0_after(_i / 2 ? UINT32_MAX : 0, coroutines_behind_wait, _i % 2 ? &s : NULL);
}
END_TEST

/* Begins while no coroutine is remote, so it needs no key; its packet is gone. */
static void *begin_and_drop(void *arg)
{
	hauli_order_begins(haul_carrier(s.rt, 0));
	s.dropped = true;
	s.began_remote = here() == 1;
	s.begun = true;
	haul_yield();
	s.remote++;
	return NULL;
}

/* Until it is stolen, after it has begun. */
static void *is_stolen_later(void *arg)
{
	s.asks = true;
	hauli_order_set_key_fn(haul_carrier_self(), number_of);
	do {
		s.dropped = s.begun = false;
		s.remote = 0;
		spawn(begin_and_drop, 0, 1, false);
		WAIT_UNTIL(s.begun);
		if (!s.began_remote)
			hog_until_remote(1);
		WAIT_UNTIL(s.remote);
	} while (s.began_remote);
	return NULL;
}

START_TEST(a_begun_coroutine_is_not_asked_for_its_key)
{
	on_carrier_0(is_stolen_later, NULL);
	ck_assert(!s.asked_late);
}
END_TEST

static haul_fn *first;

/* A coroutine that does not send lets the next ones go on when its slice ends. */
static void *nothing_to_send(void *arg)
{
	spawn(first, 0, 7, false);
	hog_until_remote(1);
	spawn(send, 1, 7, true);
	for (unsigned i = 0; i < 100; i++)
		haul_yield();
	ck_assert_uint_eq(hauli_txq_count(&s.txq), 0);
	s.let_go = true;
	if (first == drop_first)
		expect(&s.txq, 1, (unsigned[]){1});
	else /* without order: it may be stolen again before it is back */
		WAIT_UNTIL(hauli_txq_count(&s.txq) == 2);
	return NULL;
}

START_TEST(a_coroutine_that_does_not_send_holds_up_none)
{
	first = _i ? yield_first : drop_first;
	on_carrier_0(nothing_to_send, NULL);
}
END_TEST

/* Two packets in one slice. */
static void *send_two(void *arg)
{
	struct rte_mbuf *pkt = arg;

	if (pkt == &s.pkts[0])
		be_remote();
	ck_assert_int_eq(haul_send(&s.txq, pkt), 0);
	ck_assert_int_eq(haul_send(&s.txq, pkt + 1), 0);
	return NULL;
}

/* The first one is stolen, or waits at home for one that is. */
static void *two_of_each(void *arg)
{
	spawn(send_two, 0, 5, false);
	hog_until_remote(1);
	spawn(send_two, 2, 5, true);
	spawn(send_two, 4, 5, true);
	for (unsigned i = 0; i < 100; i++)
		haul_yield();
	s.let_go = true;
	expect(&s.txq, 6, (unsigned[]){0, 1, 2, 3, 4, 5});
	return NULL;
}

START_TEST(a_slice_sends_all_before_the_next_one)
{
	on_carrier_0(two_of_each, NULL);
}
END_TEST

static void *send_and_send_later(void *arg)
{
	struct rte_mbuf *pkt = arg;

	ck_assert_int_eq(haul_send(&s.txq, pkt), 0);
	WAIT_UNTIL(s.remote == 2);
	ck_assert_int_eq(haul_send(&s.txq, pkt + 1), 0);
	return NULL;
}

/* One is stolen between the two sends. */
static void *sends_in_two_slices(void *arg)
{
	spawn(send_first, 0, 5, false);
	hog_until_remote(1);
	spawn(send_and_send_later, 1, 5, true);
	haul_yield();
	s.let_go = true;
	expect(&s.txq, 2, (unsigned[]){0, 1});
	s.let_go = false;
	spawn(send_first, 3, 5, false);
	hog_until_remote(2);
	for (unsigned i = 0; i < 100; i++)
		haul_yield();
	ck_assert_uint_eq(hauli_txq_count(&s.txq), 0);
	s.let_go = true;
	expect(&s.txq, 2, (unsigned[]){3, 2});
	return NULL;
}

START_TEST(a_later_slice_has_a_later_place)
{
	on_carrier_0(sends_in_two_slices, NULL);
}
END_TEST

static void *a_waiter_is_cancelled(void *arg)
{
	const struct haul_coro_opts opts = {.order_key = 3, .pinned = true};
	struct haul_coro *second;

	spawn(send_first, 0, 3, false);
	hog_until_remote(1);
	ck_assert_int_eq(haul_spawn(&second, send, &s.pkts[1], &opts), 0);
	haul_yield();
	haul_cancel(second);
	for (unsigned i = 0; i < 100; i++)
		haul_yield();
	ck_assert_uint_eq(hauli_txq_count(&s.txq), 0); /* ordered all the same */
	s.let_go = true;
	ck_assert_int_eq(haul_join(second, NULL, HAUL_FOREVER), 0);
	expect(&s.txq, 2, (unsigned[]){0, 1});
	return NULL;
}

START_TEST(a_cancel_does_not_break_the_order)
{
	on_carrier_0(a_waiter_is_cancelled, NULL);
}
END_TEST

/* More than run between two checks of the mail. */
#define OTHERS 200
static unsigned counted, counted_before[3];

static void *count(void *arg)
{
	counted++;
	return NULL;
}

static void *send_and_look(void *arg)
{
	struct rte_mbuf *pkt = arg;

	if (pkt == &s.pkts[0])
		be_remote();
	ck_assert_int_eq(haul_send(&s.txq, pkt), 0);
	counted_before[pkt - s.pkts] = counted;
	return NULL;
}

/* A returned coroutine runs before coroutines that have not begun, and so do those in its line. */
static void *others_wait(void *arg)
{
	counted = 0;
	spawn(send_and_look, 0, 5, false);
	hog_until_remote(1);
	spawn(send_and_look, 1, 5, true);
	spawn(send_and_look, 2, 5, true);
	haul_yield();
	for (unsigned i = 0; i < OTHERS; i++)
		spawn(count, 0, 0, true);
	s.let_go = true;
	while (hauli_inbox_is_empty(&hauli_self()->mail.inbox))
		sched_yield();
	expect(&s.txq, 3, (unsigned[]){0, 1, 2});
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_lt(counted_before[i], OTHERS / 2);
	return NULL;
}

START_TEST(a_returned_coroutine_goes_first)
{
	on_carrier_0(others_wait, NULL);
}
END_TEST

enum { SCOPE, SHIELD, VALUE, PIN, AT_HOME };
enum { SEND, END, YIELD, SLEEP, REST };

static struct {
	int needs, then;
} slice;

/* Goes on at home if the caller is stolen, and never waits. */
static void need_home(void)
{
	switch (slice.needs) {
	case SCOPE: {
		HAUL_SCOPE(nobody, HAUL_FOREVER, HAUL_SCOPE_ALL);
		break;
	}
	case SHIELD: {
		HAUL_SHIELD(haul_in(HAUL_S));
		break;
	}
	case VALUE: {
		HAUL_WITH(&slice, &s);
		break;
	}
	case PIN:
		haul_pin();
		haul_unpin();
		break;
	}
}

static void *go_on_at_home(void *arg)
{
	be_remote();
	need_home();
	ck_assert_uint_eq(here(), 0);
	switch (slice.then) {
	case SEND:
		ck_assert_int_eq(haul_send(&s.txq, arg), 0);
		break;
	case YIELD:
		haul_yield();
		break;
	case SLEEP:
		haul_sleep(1);
		break;
	}
	s.remote++;
	return NULL;
}

/* The one behind it sends after it, or when its slice has ended; both at home by then. */
static void *slices_go_on(void *arg)
{
	spawn(go_on_at_home, 0, 9, false);
	hog_until_remote(1);
	spawn(send, 1, 9, true);
	for (unsigned i = 0; i < 100; i++)
		haul_yield();
	ck_assert_uint_eq(hauli_txq_count(&s.txq), 0);
	s.let_go = true;
	if (slice.then == SEND)
		expect(&s.txq, 2, (unsigned[]){0, 1});
	else
		expect(&s.txq, 1, (unsigned[]){1});
	WAIT_UNTIL(s.remote == 2);
	WAIT_UNTIL(!hauli_order_any_remote(haul_carrier_self()));
	return NULL;
}

START_TEST(a_slice_that_goes_on_at_home_keeps_its_place)
{
	slice.needs = _i / REST;
	slice.then = _i % REST;
	on_carrier_0(slices_go_on, NULL);
}
END_TEST

static void *send_from_there(void *arg)
{
	ck_assert_uint_eq(here(), 1);
	ck_assert_int_eq(haul_try_send(&s.txq, arg), 0);
	ck_assert_int_eq(haul_send(&s.txq, &s.pkts[1]), 0);
	ck_assert_uint_eq(here(), 1);
	s.remote++;
	return NULL;
}

static void *anywhere(void *arg)
{
	s.of_carriers[0] = &s.txq;
	s.of_carriers[1] = &s.there;
	s.txq.of_carriers = s.of_carriers;
	s.txq.nb_of_carriers = 2;
	spawn(send_from_there, 0, 0, false);
	hog_until_remote(1);
	ck_assert_uint_eq(hauli_txq_count(&s.txq), 0);
	return NULL;
}

START_TEST(any_order_sends_from_where_it_runs)
{
	on_carrier_0(anywhere, NULL);
	expect(&s.there, 2, (unsigned[]){0, 1});
}
END_TEST

static void *try_remote(void *arg)
{
	s.tried = haul_try_send(&s.txq, arg);
	s.remote++;
	return NULL;
}

static void *tries_remote(void *arg)
{
	spawn(try_remote, 0, 0, false);
	hog_until_remote(1);
	ck_assert_int_eq(s.tried, -EAGAIN);
	ck_assert_uint_eq(hauli_txq_count(&s.txq), 0);
	return NULL;
}

START_TEST(a_stolen_coroutine_goes_home_to_send)
{
	on_carrier_0(tries_remote, NULL);
}
END_TEST

SUITE_MAIN("order", {coroutines_behind_a_remote_one_wait, 4},
	{a_begun_coroutine_is_not_asked_for_its_key},
	{a_coroutine_that_does_not_send_holds_up_none, 2}, {a_cancel_does_not_break_the_order},
	{a_returned_coroutine_goes_first}, {a_slice_sends_all_before_the_next_one},
	{a_later_slice_has_a_later_place},
	{a_slice_that_goes_on_at_home_keeps_its_place, AT_HOME *REST},
	{any_order_sends_from_where_it_runs}, {a_stolen_coroutine_goes_home_to_send})
