/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a flow's packets: the neighbour that they are sent to. In virtual time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flow_bed.h"

static char line[256];

static enum haul_neighbour_state neighbour(const char *of)
{
	struct haul_addr a = flow_addr(of);
	uint8_t mac[6];

	return haul_host_look(flow_host, 0, &a, mac);
}

static uint64_t questions(void)
{
	struct haul_host_stats st;

	haul_host_get_stats(flow_host, 0, &st);
	return st.asked;
}

/* A reply comes when the neighbour, which may be a gateway, is STALE. */
static void confirm(const char *to, const char *neigh)
{
	struct order o = {.carrier = 1}, got;
	struct haul_addr a = flow_addr(to);
	struct haul_flow *flow;
	uint64_t before;

	FAIL_UNLESS(flow_open(&flow, to, NULL) == 0);
	FAIL_UNLESS(flow_say(flow, o) == 0 && flow_number(flow, haul_in(HAUL_S)) == 0);
	for (unsigned i = 0; i < 2; i++) {
		FAIL_UNLESS(haul_sleep(100 * HAUL_S) == 0);
		FAIL_UNLESS(neighbour(neigh) == HAUL_NEIGHBOUR_STALE);
		before = questions();
		if (i == 0)
			FAIL_UNLESS(
				flow_say(flow, o) == 0 && flow_number(flow, haul_in(HAUL_S)) == 0);
		else
			FAIL_UNLESS(haul_request(flow_host, &a, SERVER, &o, sizeof(o), &got,
					    sizeof(got), NULL, HAUL_FOREVER) == sizeof(got));
		FAIL_UNLESS(neighbour(neigh) == HAUL_NEIGHBOUR_REACHABLE);
		FAIL_UNLESS(haul_sleep(10 * HAUL_S) == 0 && questions() == before);
	}
	/* No reply: it is asked. */
	FAIL_UNLESS(haul_sleep(100 * HAUL_S) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.what = NOTHING}) == 0);
	FAIL_UNLESS(haul_sleep(10 * HAUL_S) == 0 && questions() == before + 1);
	/* The second reply says nothing new. */
	FAIL_UNLESS(flow_say(flow, (struct order){.delay = 200 * HAUL_S}) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.delay = 100 * HAUL_S}) == 0);
	FAIL_UNLESS(flow_number(flow, haul_in(101 * HAUL_S)) == 0);
	FAIL_UNLESS(neighbour(neigh) == HAUL_NEIGHBOUR_REACHABLE);
	FAIL_UNLESS(flow_number(flow, haul_in(101 * HAUL_S)) == 0);
	FAIL_UNLESS(neighbour(neigh) == HAUL_NEIGHBOUR_STALE);
	haul_flow_close(flow);
}

/* The reply to a packet that left by one gateway does not speak for another one. */
static void confirm_no_other(void)
{
	struct haul_addr other = flow_addr("10.0.0.78");
	struct haul_flow *flow;
	uint8_t mac[6];

	FAIL_UNLESS(flow_open(&flow, "192.0.2.7", NULL) == 0);
	FAIL_UNLESS(haul_host_neighbour(flow_host, 0, &other, mac, haul_in(HAUL_S)) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.delay = 100 * HAUL_S}) == 0);
	FAIL_UNLESS(haul_host_remove_route(flow_host, "0.0.0.0/0", line, sizeof(line)) == 0);
	FAIL_UNLESS(haul_host_add_route(
			    flow_host, "0.0.0.0/0", "10.0.0.78", 0, line, sizeof(line)) == 0);
	FAIL_UNLESS(flow_number(flow, haul_in(101 * HAUL_S)) == 0);
	FAIL_UNLESS(neighbour("10.0.0.78") == HAUL_NEIGHBOUR_STALE);
	haul_flow_close(flow);
}

static void confirms(void)
{
	for (unsigned v = 0; v < 2; v++)
		confirm(flow_peers[v], flow_peers[v]);
	FAIL_UNLESS(haul_host_add_route(
			    flow_host, "0.0.0.0/0", "10.0.0.77", 0, line, sizeof(line)) == 0);
	confirm("192.0.2.7", "10.0.0.77");
	confirm_no_other();
}

START_TEST(a_reply_confirms_the_neighbour)
{
	flow_run(confirms, _i);
}
END_TEST

/* What was sent has arrived. */
static bool is_done(void)
{
	return haul_sleep(HAUL_MS) == 0; /* of virtual time, which waits until nothing moves */
}

/* A neighbour says that it has another Ethernet address, which ends in that byte. */
static bool announce(const char *from, uint8_t last)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(flow_test));
	struct haul_head head = {.src_mac = {2, 0, 0, 0, 0, last}, .src = flow_addr(from)};
	struct haul_pkt pkt;
	int err = (head.src.version == 4 ? haul_arp_announce : haul_nd_announce)(&pkt, m, &head);

	return !err && haul_test_feed_pkt(flow_test, 0, HAUL_ANY, m) == 0 && is_done();
}

/* True if a packet of the flow goes to the Ethernet address that ends in that byte. */
static bool goes_to(struct haul_flow *flow, uint8_t last)
{
	return flow_say(flow, (struct order){.what = NOTHING}) == 0 && is_done() &&
		flow_sent_to[5] == last;
}

static bool is_from(struct haul_flow *flow, const char *text)
{
	struct haul_addr from = haul_flow_address(flow), a = flow_addr(text);

	return haul_addr_equal(&from, &a);
}

static void follow(unsigned v)
{
	static const char *const to[] = {"10.0.0.7/32", "fd00::7/128"},
				 *const via[] = {"10.0.0.77", "fd00::77"},
				 *const own[] = {"10.0.0.1/24", "fd00::1/64"},
				 *const nearer[] = {"10.0.0.2/28", "fd00::2/120"};
	struct haul_flow *flow, *other;
	struct haul_addr gateway = flow_addr(via[v]);
	uint8_t mac[6];

	FAIL_UNLESS(flow_open(&flow, flow_peers[v], NULL) == 0);
	FAIL_UNLESS(goes_to(flow, 9) && goes_to(flow, 9));
	FAIL_UNLESS(announce(flow_peers[v], 8));
	FAIL_UNLESS(goes_to(flow, 8) && goes_to(flow, 8));
	FAIL_UNLESS(haul_host_neighbour(flow_host, 0, &gateway, mac, haul_in(HAUL_S)) == 0);
	FAIL_UNLESS(announce(via[v], 5));
	FAIL_UNLESS(haul_host_add_route(flow_host, to[v], via[v], 0, line, sizeof(line)) == 0);
	FAIL_UNLESS(goes_to(flow, 5) && goes_to(flow, 5));
	FAIL_UNLESS(haul_host_remove_route(flow_host, to[v], line, sizeof(line)) == 0);
	FAIL_UNLESS(goes_to(flow, 8));
	/* An address that comes, which is the source of new flows only. */
	FAIL_UNLESS(haul_host_add_address(flow_host, 0, nearer[v], line, sizeof(line)) == 0);
	for (unsigned i = 0; i < 2; i++) {
		FAIL_UNLESS(flow_open(&other, flow_peers[v], NULL) == 0);
		FAIL_UNLESS(is_from(other, v ? "fd00::2" : "10.0.0.2"));
		FAIL_UNLESS(is_from(flow, v ? "fd00::1" : "10.0.0.1"));
		FAIL_UNLESS(goes_to(i ? other : flow, 8) && goes_to(flow, 8));
		haul_flow_close(other);
	}
	/* Own addresses that go, and come back. */
	FAIL_UNLESS(haul_host_remove_address(flow_host, 0, nearer[v], line, sizeof(line)) == 0);
	FAIL_UNLESS(goes_to(flow, 8));
	FAIL_UNLESS(haul_host_remove_address(flow_host, 0, own[v], line, sizeof(line)) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.what = NOTHING}) == -ENETUNREACH);
	FAIL_UNLESS(haul_host_add_address(flow_host, 0, nearer[v], line, sizeof(line)) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.what = NOTHING}) == -EADDRNOTAVAIL);
	FAIL_UNLESS(haul_host_add_address(flow_host, 0, own[v], line, sizeof(line)) == 0);
	FAIL_UNLESS(goes_to(flow, 8));
	haul_flow_close(flow);
}

static void changes(void)
{
	follow(0);
	follow(1);
}

START_TEST(packets_follow_changes)
{
	flow_run(changes, _i);
}
END_TEST

/* Requests use flows that others have used before. */
#define MANY 300

static struct haul_addr peer;

static int ask(void *arg)
{
	struct order o = {.number = (uint32_t)(uintptr_t)arg,
			     .delay = HAUL_MS,
			     .carrier = HAUL_ANY},
		     got = {0};
	int n = haul_request(
		flow_host, &peer, SERVER, &o, sizeof(o), &got, sizeof(got), NULL, haul_in(HAUL_S));

	return n == sizeof(got) && got.number == o.number ? 0 : -EBADMSG;
}

/* The number of the reply, or an error. */
static int request(enum what what, uint32_t number, uint64_t idle_ns)
{
	struct order o = {.what = what, .number = number, .carrier = 0}, got = {0};
	const struct haul_request_opts opts = {.tries = 1, .flow = {.idle_ns = idle_ns}};
	int n = haul_request(flow_host, &peer, SERVER, &o, sizeof(o), &got, sizeof(got), &opts,
		haul_in(10 * HAUL_S));

	return n < 0 ? n : (int)got.number;
}

static void spares(void)
{
	peer = flow_addr(flow_peers[0]);
	for (unsigned round = 0; round < 3; round++) {
		HAUL_SCOPE(s, haul_in(10 * HAUL_S), HAUL_SCOPE_ALL);

		for (uintptr_t i = 0; i < MANY; i++)
			FAIL_UNLESS(haul_scope_spawn(&s, ask, (void *)(i + round), NULL) == 0);
		FAIL_UNLESS(haul_scope_join(&s) == 0);
	}
	/* A second reply, an ICMP message and the end of an idle flow are of one request. */
	for (uint32_t i = 1; i < 10; i++) {
		FAIL_UNLESS(request(TWICE, 2 * i, 0) == (int)(2 * i));
		FAIL_UNLESS(request(REPLY, 2 * i + 1, 0) == (int)(2 * i + 1));
		FAIL_UNLESS(request(BOTH, i, 0) == (int)i);
		FAIL_UNLESS(request(REFUSED, i, 0) == -ECONNREFUSED);
		FAIL_UNLESS(request(NOTHING, i, 0) == -ETIMEDOUT);
		FAIL_UNLESS(request(NOTHING, i, HAUL_S / 10) == -EPIPE);
		FAIL_UNLESS(request(REPLY, i, 0) == (int)i);
	}
	FAIL_UNLESS(flow_stats().open == 0);
}

START_TEST(requests_leave_nothing_to_the_next_one)
{
	flow_run(spares, _i);
}
END_TEST

SUITE_MAIN("flow_way", {a_reply_confirms_the_neighbour, 2}, {packets_follow_changes, 2},
	{requests_leave_nothing_to_the_next_one, 2})
