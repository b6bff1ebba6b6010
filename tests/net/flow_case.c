/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends of flows as cases of haul_select(), on ports of a test, in virtual time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flow_bed.h"
#include "io/state.h"
#include "net/txq.h"

#define LEN 9 /* bytes of a payload */

static char line[256];

static struct rte_mbuf *payload(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(flow_test));

	memset(rte_pktmbuf_append(m, LEN), 7, LEN);
	return m;
}

/* True if it is as it was; frees it. */
static bool is_unchanged(struct rte_mbuf *m)
{
	const char *at = rte_pktmbuf_mtod(m, const char *);
	bool same = rte_pktmbuf_pkt_len(m) == LEN && !(m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK);

	for (unsigned i = 0; i < LEN; i++)
		same = same && at[i] == 7;
	rte_pktmbuf_free(m);
	return same;
}

static unsigned waiters(void)
{
	struct haul_host_stats st;

	haul_host_get_stats(flow_host, HAUL_ALL, &st);
	return (unsigned)st.waiters;
}

/* A flow to an address that nobody has asked for yet. */
static struct haul_flow *open_to(unsigned last)
{
	struct haul_flow *flow = NULL;
	char text[16];

	snprintf(text, sizeof(text), "10.0.0.%u", last);
	(void)flow_open(&flow, text, NULL);
	return flow;
}

static const char *neighbours_on_a_carrier(unsigned carrier)
{
	struct haul_flow *flow = open_to(20 + carrier), *silent = open_to(SILENT);
	struct rte_mbuf *m = payload(), *got = NULL;
	struct haul_event event = {{0}};
	struct haul_case cases[2] = {haul_case_flow_send(flow, m)};

	if (haul_select(cases, 1, 0) != -EAGAIN)
		return "it did not have to wait";
	if (haul_select(cases, 1, HAUL_FOREVER) != 0 || cases[0].err)
		return "it was not sent";
	if (haul_flow_recv(flow, &got, haul_in(HAUL_S)) || !is_unchanged(got))
		return "no reply came";
	/* Both, until one is done. */
	m = payload();
	cases[0] = haul_case_flow_send(flow, m);
	cases[1] = haul_case_flow_recv(flow, &got);
	if (haul_select(cases, 2, HAUL_FOREVER) != 0 ||
		haul_select(&cases[1], 1, HAUL_FOREVER) != 0 || !is_unchanged(got))
		return "a flow is not in two cases";
	/* Nobody answers. */
	m = payload();
	cases[0] = haul_case_flow_send(silent, m);
	if (haul_select(cases, 1, HAUL_FOREVER) != 0 || cases[0].err != -EHOSTUNREACH)
		return "somebody is there";
	haul_sleep(10 * HAUL_S);
	cases[1] = haul_case_event(&event);
	if (haul_select(cases, 2, haul_in(HAUL_MS)) != -ETIMEDOUT)
		return "a deadline did not count";
	haul_event_set(&event);
	if (haul_select(cases, 2, HAUL_FOREVER) != 1)
		return "the other case was not done";
	if (!is_unchanged(m))
		return "a payload has changed";
	haul_flow_close(flow);
	haul_flow_close(silent);
	return NULL;
}

static void *on_carrier(void *arg)
{
	return (void *)(uintptr_t)neighbours_on_a_carrier((unsigned)(uintptr_t)arg);
}

static void neighbours(void)
{
	struct haul_coro *cos[CARRIERS];
	void *why;

	for (uintptr_t i = 0; i < CARRIERS; i++)
		FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), (unsigned)i),
				    &cos[i], on_carrier, (void *)i, NULL) == 0);
	for (unsigned i = 0; i < CARRIERS; i++) {
		haul_join(cos[i], &why, HAUL_FOREVER);
		if (why)
			fprintf(stderr, "%s\n", (const char *)why);
		FAIL_UNLESS(!why);
	}
	FAIL_UNLESS(waiters() == 0);
}

START_TEST(a_case_waits_for_the_neighbour)
{
	flow_run(neighbours, _i);
}
END_TEST

/* The transmit queue. */

static struct haul_txq *queue(void)
{
	return haul_io_txq(haul_test_io(flow_test), 0, 0);
}

/* With what the network answers nothing to. */
static void fill(struct haul_flow *flow)
{
	const struct order nothing = {.what = NOTHING};

	for (;;) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(flow_test));

		memcpy(rte_pktmbuf_append(m, sizeof(nothing)), &nothing, sizeof(nothing));
		if (haul_flow_send(flow, m, 0)) {
			rte_pktmbuf_free(m);
			return;
		}
	}
}

static unsigned sequence, sent_by_wait, sent_by_case;

static void *send_and_wait(void *arg)
{
	struct rte_mbuf *m = payload();

	if (haul_flow_send(arg, m, HAUL_FOREVER))
		rte_pktmbuf_free(m);
	else
		sent_by_wait = ++sequence;
	return NULL;
}

static void *set(void *event)
{
	haul_event_set(event);
	return NULL;
}

/* An event is set while a case waits for room. If a poll makes room before the coroutine that sets
 * it runs, as in slow builds after a long slice, once more. Returns the packet that was not
 * sent. */
static struct rte_mbuf *another_first(struct haul_flow *flow)
{
	for (unsigned tries = 0; tries < 100; tries++) {
		struct haul_event event = {{0}};
		struct rte_mbuf *m = payload();
		struct haul_case cases[2] = {haul_case_flow_send(flow, m), haul_case_event(&event)};
		struct haul_coro *setter;
		int first;

		for (unsigned i = 0; i < 64; i++) /* short slices: a batch has more of them */
			haul_yield();
		fill(flow);
		if (haul_spawn(&setter, set, &event, NULL))
			return NULL;
		first = haul_select(cases, 2, HAUL_FOREVER);
		haul_join(setter, NULL, HAUL_FOREVER);
		if (first == 1)
			return m;
		if (haul_flow_recv(flow, &m, HAUL_FOREVER))
			return NULL;
		rte_pktmbuf_free(m);
	}
	return NULL;
}

static void full(void)
{
	struct haul_flow *flow = open_to(30);
	struct rte_mbuf *m = payload(), *got;
	struct haul_case cases[1] = {haul_case_flow_send(flow, m)};

	sequence = 0;
	FAIL_UNLESS(haul_select(cases, 1, HAUL_FOREVER) == 0 && cases[0].err == 0);
	FAIL_UNLESS(haul_flow_recv(flow, &got, HAUL_FOREVER) == 0 && is_unchanged(got));
	for (unsigned k = 0; k < 3; k++) {
		m = payload();
		cases[0] = haul_case_flow_send(flow, m);
		fill(flow);
		FAIL_UNLESS(haul_select(cases, 1, 0) == -EAGAIN);
		FAIL_UNLESS(haul_select(cases, 1, HAUL_FOREVER) == 0 && cases[0].err == 0);
		FAIL_UNLESS(haul_flow_recv(flow, &got, HAUL_FOREVER) == 0 && is_unchanged(got));
	}
	/* Somebody is there before. */
	m = payload();
	cases[0] = haul_case_flow_send(flow, m);
	fill(flow);
	FAIL_UNLESS(haul_spawn(NULL, send_and_wait, flow, NULL) == 0);
	haul_yield();
	FAIL_UNLESS(haul_select(cases, 1, HAUL_FOREVER) == 0 && cases[0].err == 0);
	sent_by_case = ++sequence;
	for (unsigned i = 0; i < 2; i++)
		FAIL_UNLESS(haul_flow_recv(flow, &got, HAUL_FOREVER) == 0 && is_unchanged(got));
	FAIL_UNLESS(sent_by_wait > 0 && sent_by_case > 0);
	m = another_first(flow);
	FAIL_UNLESS(m != NULL);
	FAIL_UNLESS(!queue()->waiters.first);
	FAIL_UNLESS(is_unchanged(m));
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	haul_flow_close(flow);
}

START_TEST(a_case_waits_for_room)
{
	flow_run(full, _i);
}
END_TEST

/* Ends of waits. */

static void *select_for_ever(void *arg)
{
	struct rte_mbuf *m = payload();
	struct haul_case cs = haul_case_flow_send(arg, m);
	int err = haul_select(&cs, 1, HAUL_FOREVER);

	err = err < 0 ? err : cs.err;
	return (void *)(intptr_t)(is_unchanged(m) ? err : -EBADMSG);
}

static void ends(void)
{
	struct haul_flow *flow = open_to(SILENT);
	struct haul_coro *co;
	void *result;

	FAIL_UNLESS(haul_spawn(&co, select_for_ever, flow, NULL) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(waiters() == 1);
	haul_cancel(co);
	haul_join(co, &result, HAUL_FOREVER);
	FAIL_UNLESS((intptr_t)result == -ECANCELED && waiters() == 0);
	for (unsigned c = 0; c < CARRIERS; c++) {
		FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), c), &co,
				    select_for_ever, flow, NULL) == 0);
		FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
		haul_host_stop(flow_host);
		haul_join(co, &result, HAUL_FOREVER);
		FAIL_UNLESS((intptr_t)result == -ECANCELED);
		haul_flow_close(flow);
		FAIL_UNLESS(haul_host_start(
				    flow_host, haul_test_io(flow_test), line, sizeof(line)) == 0);
		flow = open_to(SILENT);
	}
	haul_flow_close(flow);
}

START_TEST(cancels_and_the_stop_end_the_wait_of_a_case)
{
	flow_run(ends, _i);
}
END_TEST

SUITE_MAIN("flow_case", {a_case_waits_for_the_neighbour, 2}, {a_case_waits_for_room, 2},
	{cancels_and_the_stop_end_the_wait_of_a_case, 2})
