/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that wait in mailboxes, on ports of a test, in virtual time: how many all flows may have,
 * and that none is left when the host has stopped. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flow_bed.h"

#define PORT 7
#define STRANGERS 300u
#define MAILBOX 16u /* by default */
#define PART 4u /* of the pool waits at most */

static struct haul_event may_return;
static unsigned received;

static struct haul_addr stranger(unsigned i)
{
	uint8_t bytes[4] = {10, 1, (uint8_t)(i >> 8), (uint8_t)i};

	return haul_addr_from(4, bytes);
}

static int feed(unsigned i)
{
	struct haul_addr from = stranger(i);

	return flow_begin(&from, 9, PORT, "x", 1, HAUL_ANY);
}

static unsigned buffers(void)
{
	return rte_mempool_avail_count(haul_test_pool(flow_test));
}

/* All but those that the host keeps for itself until its stop. */
static unsigned buffers_of_others(void)
{
	return haul_sleep(2 * HAUL_S) ? 0 : buffers(); /* virtual time */
}

static void receive(struct rte_mbuf *m)
{
	__atomic_add_fetch(&received, 1, __ATOMIC_RELAXED);
	rte_pktmbuf_free(m);
}

/* Stranger 0 is heard; the functions of the others wait for something else. */
static void hear_one(struct haul_flow *flow, void *arg)
{
	struct haul_addr peer = haul_flow_peer_address(flow), first = stranger(0);
	struct rte_mbuf *m;

	(void)arg;
	if (haul_addr_equal(&peer, &first))
		while (haul_flow_recv(flow, &m, HAUL_FOREVER) == 0)
			receive(m);
	else
		(void)haul_event_wait(&may_return, HAUL_FOREVER);
	haul_flow_close(flow);
}

static void flood(void)
{
	unsigned all = buffers_of_others();

	received = 0;
	haul_event_reset(&may_return);
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, hear_one, NULL, NULL) == 0);
	for (unsigned k = 0; k < MAILBOX + 1; k++) {
		for (unsigned i = 0; i < STRANGERS; i++) {
			FAIL_UNLESS(feed(i) == 0);
			if (i % 12 == 0)
				FAIL_UNLESS(haul_sleep(HAUL_US) == 0); /* virtual time */
		}
		FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
		FAIL_UNLESS(received == k + 1);
		FAIL_UNLESS(buffers() >= all - haul_test_pool(flow_test)->size / PART);
	}
	FAIL_UNLESS(flow_stats().full > 0 && flow_stats().evicted == 0);
	FAIL_UNLESS(flow_stats().received + flow_stats().full + flow_stats().refused ==
		(MAILBOX + 1) * STRANGERS);
	haul_event_set(&may_return);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(flow_stats().open == 1 && buffers() == all);
	/* There is room again. */
	for (unsigned i = 1; i < STRANGERS; i++)
		FAIL_UNLESS(feed(i) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(flow_stats().accepted == flow_stats().opened);
	FAIL_UNLESS(flow_stats().open == 1);
}

START_TEST(mailboxes_leave_buffers_for_others)
{
	flow_run(flood, _i);
}
END_TEST

/* Receives all that has come, now and then. */
static void hear_later(struct haul_flow *flow, void *arg)
{
	struct rte_mbuf *m;
	int err;

	(void)arg;
	do {
		err = haul_sleep(HAUL_MS); /* virtual time */
		while (!err && haul_flow_recv(flow, &m, 0) == 0)
			receive(m);
	} while (!err);
	haul_flow_close(flow);
}

#define MANY 1200u
#define AT_ONCE 100u
#define ROUNDS 3u

static void later(void)
{
	received = 0;
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, hear_later, NULL, NULL) == 0);
	for (unsigned i = 0; i < ROUNDS * MANY; i++) {
		FAIL_UNLESS(feed(i % MANY) == 0 && feed(i % MANY) == 0);
		if (i % AT_ONCE == 0)
			FAIL_UNLESS(haul_sleep(3 * HAUL_MS) == 0); /* virtual time */
	}
	FAIL_UNLESS(haul_sleep(3 * HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(received == 2 * ROUNDS * MANY && flow_stats().open == MANY);
	FAIL_UNLESS(flow_stats().full + flow_stats().refused == 0);
}

START_TEST(what_was_received_makes_room)
{
	flow_run(later, _i);
}
END_TEST

/* The end. */

static void *close_it(void *flow)
{
	haul_flow_close(flow);
	return NULL;
}

/* Another carrier closes the flow, when the stop has begun. */
static void close_elsewhere(struct haul_flow *flow, void *arg)
{
	unsigned here = haul_carrier_id(haul_carrier_self());
	struct haul_coro *co;

	if (haul_event_wait(&may_return, HAUL_FOREVER) != -ECANCELED)
		flow_wrong = "a function is not cancelled";
	if (haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), (here + 1) % CARRIERS),
		    arg ? &co : NULL, close_it, flow, NULL)) {
		flow_wrong = "no coroutine";
	} else if (arg) {
		HAUL_SHIELD(haul_in(HAUL_S));

		haul_join(co, NULL, HAUL_FOREVER);
	}
}

static void closed_elsewhere(void *joins)
{
	unsigned all = buffers_of_others();

	haul_event_reset(&may_return);
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, close_elsewhere, joins, NULL) == 0);
	for (unsigned i = 0; i < STRANGERS; i++)
		FAIL_UNLESS(feed(i) == 0 && feed(i) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(flow_stats().open == STRANGERS && buffers() < all);
	haul_host_stop(flow_host);
	if (joins)
		FAIL_UNLESS(flow_stats().open == 0);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(buffers() >= all);
}

static void joined(void)
{
	closed_elsewhere(&may_return);
}

static void not_joined(void)
{
	closed_elsewhere(NULL);
}

START_TEST(no_packet_is_left_after_the_stop)
{
	flow_run(_i / 2 ? joined : not_joined, _i % 2);
}
END_TEST

static void closed_late(void)
{
	unsigned all = buffers_of_others();
	struct haul_flow *flow;
	struct haul_coro *co;

	FAIL_UNLESS(flow_open(&flow, flow_peers[0], NULL) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.times = 3, .carrier = HAUL_ANY}) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	haul_host_stop(flow_host);
	all += buffers() > all ? buffers() + 3 - all : 0; /* the host has given back its own */
	FAIL_UNLESS(buffers() == all - 3);
	FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), 1), &co, close_it,
			    flow, NULL) == 0);
	haul_join(co, NULL, HAUL_FOREVER);
	FAIL_UNLESS(buffers() == all);
}

START_TEST(a_flow_that_is_closed_after_the_stop_gives_packets_back)
{
	flow_run(closed_late, _i);
}
END_TEST

SUITE_MAIN("mailboxes of flows", {mailboxes_leave_buffers_for_others, 2},
	{what_was_received_makes_room, 2}, {no_packet_is_left_after_the_stop, 4},
	{a_flow_that_is_closed_after_the_stop_gives_packets_back, 2})
