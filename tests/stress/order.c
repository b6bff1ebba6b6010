/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of many flows on one overloaded carrier; all other carriers steal its handlers. Each flow
 * leaves in the order of arrival, and nothing is lost. Handlers are short, hog, end without
 * sending, or find the queue full.
 */
#include <stdatomic.h>

#include <rte_mbuf.h>

#include <haul/net.h>

#include "net/txq.h"
#include "sched/state/carrier.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 4
#define FLOWS 20
#define PACKETS 20000
#define AHEAD 600 /* handlers under way: more than the queue holds */

static struct {
	struct rte_mbuf pkts[PACKETS];
	uint32_t next[FLOWS]; /* least number of the flow's next packet */
	struct haul_txq txq;
	bool pending;
	atomic_uint ended;
	unsigned sent, out, failed;
	atomic_uint remote; /* slices that ran away from home */
} s;

static unsigned flow_of(unsigned number)
{
	return number % 3 ? number % FLOWS : 0; /* flow 0 is a third of all */
}

static void work(uint64_t ns)
{
	uint64_t until = haul_now() + ns;

	while (haul_now() < until)
		;
}

static void *handle(void *arg)
{
	struct rte_mbuf *pkt = arg;
	unsigned chance = pkt->hash.usr * 2654435761u >> 22; /* 0 to 1023 */

	s.remote += haul_carrier_self() != haul_coro_home(haul_self());
	if (chance < 4)
		work(300 * HAUL_US);
	else if (chance < 300)
		work(5 * HAUL_US);
	if (chance % 16 == 15) { /* dropped */
		s.ended++;
		return NULL;
	}
	if (haul_send(&s.txq, pkt) == 0)
		s.sent++; /* it is at home now */
	else
		s.failed++;
	s.ended++;
	return NULL;
}

/* The NIC: takes a random number of packets. */
static void transmit(struct hauli_random *random)
{
	unsigned n = hauli_random_below(random, 100);

	for (; n > 0 && hauli_txq_count(&s.txq) > 0; n--) {
		const struct rte_mbuf *pkt = hauli_txq_peek(&s.txq)[0];
		unsigned number = pkt->hash.usr, flow = flow_of(number);

		ck_assert_msg(number >= s.next[flow], "packet %u of flow %u after %u", number, flow,
			s.next[flow] - 1);
		s.next[flow] = number + 1;
		s.out++;
		hauli_txq_pop(&s.txq, 1);
	}
}

/* Plays the poller. */
static void *receive(void *arg)
{
	struct hauli_random *random = arg;
	unsigned in = 0;

	while (s.ended < PACKETS || hauli_txq_count(&s.txq) > 0) {
		unsigned burst = hauli_random_below(random, 64);

		for (; burst > 0 && in < PACKETS && in - s.ended < AHEAD; burst--, in++) {
			const struct haul_coro_opts opts = {
				.order_key = (uint8_t)(1 + flow_of(in) % 16)};

			s.pkts[in].hash.usr = in;
			ck_assert_int_eq(haul_spawn(NULL, handle, &s.pkts[in], &opts), 0);
		}
		haul_yield();
		transmit(random);
	}
	return NULL;
}

START_TEST(flows_keep_their_order)
{
	const struct haul_coro_opts pinned = {.pinned = true};
	uint64_t deadline = stress_deadline();
	struct hauli_random random;
	struct haul_runtime *rt;

	hauli_random_init(&random, stress_seed());
	rt = runtime_start_stealing(CARRIERS, NULL, HAUL_STEAL_GLOBAL);
	/* As after that number of thefts, which are even: ranks wrap. */
	hauli_u32_published_set(&haul_carrier(rt, 0)->steal.orders.taken, UINT32_MAX - 101);
	do {
		struct haul_coro *co;

		memset(&s, 0, sizeof(s));
		hauli_txq_init(&s.txq, haul_carrier(rt, 0), &s.pending);
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 0), &co, receive, &random, &pinned), 0);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
		ck_assert_uint_eq(s.out, s.sent);
		ck_assert_uint_eq(s.failed, 0);
		ck_assert_uint_gt(s.sent, PACKETS * 9 / 10);
	} while (haul_now() < deadline || s.remote == 0);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("order", {flows_keep_their_order})
