/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows that others begin, on ports of a test, in virtual time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_udp.h>

#include "flow_bed.h"

#define PORT 7
#define CLIENTS 40u

static char line[256];

/* The clients: of both versions, with the same addresses and other ports, and the other way
 * round. */

static struct client {
	struct haul_addr addr;
	uint16_t port;
	unsigned sent, answered, begun; /* datagrams, answers, functions */
	unsigned carrier; /* where the function began */
} clients[CLIENTS];

static void make_clients(void)
{
	memset(clients, 0, sizeof(clients));
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i].addr = flow_addr(flow_peers[i % 2]);
		clients[i].addr.bytes[i % 2 ? 15 : 3] = (uint8_t)(10 + i / 8);
		clients[i].port = (uint16_t)(2000 + i / 2 % 4);
	}
}

static struct client *client_of(const struct haul_addr *addr, uint16_t port)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (clients[i].port == port && haul_addr_equal(&clients[i].addr, addr))
			return &clients[i];
	return NULL;
}

static int say(unsigned i, uint32_t carrier)
{
	struct client *c = &clients[i];

	c->sent++;
	return flow_begin(&c->addr, c->port, PORT, &c->sent, sizeof(c->sent), carrier);
}

static void on_answer(struct rte_mbuf *m, const struct haul_pkt *pkt)
{
	struct haul_addr to = haul_pkt_dst(pkt);
	struct client *c = client_of(&to, rte_be_to_cpu_16(pkt->udp->dst_port));

	if (!c || pkt->udp->src_port != rte_cpu_to_be_16(PORT))
		flow_wrong = "an answer went to nobody";
	else
		c->answered++;
	rte_pktmbuf_free(m);
}

static struct client *client_of_flow(const struct haul_flow *flow)
{
	struct haul_addr peer = haul_flow_peer_address(flow);

	return client_of(&peer, haul_flow_peer_port(flow));
}

/* The functions. */

static unsigned ended; /* all; those with -EPIPE */
static int last_error;

static void note_end(int err)
{
	__atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&last_error, err, __ATOMIC_RELAXED);
}

static void echo(struct haul_flow *flow, void *arg)
{
	struct client *c = client_of_flow(flow);
	struct rte_mbuf *m;
	int err;

	if (!c || arg != &clients || haul_flow_port(flow) != PORT) {
		flow_wrong = "a flow is not what it should be";
		haul_flow_close(flow);
		return;
	}
	c->begun++;
	c->carrier = haul_carrier_id(haul_carrier_self());
	while ((err = haul_flow_recv(flow, &m, HAUL_FOREVER)) == 0)
		if (haul_flow_send(flow, m, haul_in(HAUL_S)))
			rte_pktmbuf_free(m);
	note_end(err);
	haul_flow_close(flow);
}

static int begin(haul_flow_fn *fn, const struct haul_listen_opts *opts)
{
	make_clients();
	ended = 0;
	last_error = 0;
	flow_on_datagram = on_answer;
	return haul_flow_listen(flow_host, PORT, fn, clients, opts);
}

#define ROUNDS 12u

static void one_each(void)
{
	FAIL_UNLESS(begin(echo, NULL) == 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < CLIENTS; i++)
			FAIL_UNLESS(say(i,
					    (i + round) % (CARRIERS + 1) ? (i + round) % CARRIERS
									 : HAUL_ANY) == 0);
		FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		FAIL_UNLESS(clients[i].begun == 1);
		FAIL_UNLESS(clients[i].answered == ROUNDS);
	}
	FAIL_UNLESS(flow_stats().accepted == CLIENTS && flow_stats().open == CLIENTS);
	FAIL_UNLESS(flow_stats().received == CLIENTS * ROUNDS && flow_stats().handed_over > 0);
	FAIL_UNLESS(flow_stats().refused + flow_stats().evicted + flow_stats().lost == 0);
	/* A minute, and an eighth of it. */
	FAIL_UNLESS(haul_sleep(48 * HAUL_S) == 0 && ended == 0);
	FAIL_UNLESS(haul_sleep(20 * HAUL_S) == 0 && ended == CLIENTS && last_error == -EPIPE);
	FAIL_UNLESS(flow_stats().open == 0 && flow_stats().idle == CLIENTS);
	/* Again. */
	FAIL_UNLESS(say(0, 0) == 0 && say(0, 1) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	FAIL_UNLESS(clients[0].begun == 2 && clients[0].answered == ROUNDS + 2);
}

START_TEST(packets_from_an_end_reach_one_flow_on_whatever_carrier)
{
	flow_run(one_each, _i);
}
END_TEST

/* Bursts that come at once, before the function has begun. */
static void at_once(void)
{
	const struct haul_listen_opts opts = {.flow.mailbox = 5};

	FAIL_UNLESS(begin(echo, &opts) == 0);
	for (unsigned i = 0; i < 8; i++)
		FAIL_UNLESS(say(0, 0) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	FAIL_UNLESS(clients[0].begun == 1 && flow_stats().accepted == 1);
	FAIL_UNLESS(flow_stats().full + clients[0].answered == 8 && clients[0].answered >= 5);
}

START_TEST(a_burst_begins_one_flow)
{
	flow_run(at_once, _i);
}
END_TEST

/* Flows that stay. */

static struct haul_addr stranger(unsigned i)
{
	uint8_t bytes[4] = {10, 1, (uint8_t)(i >> 8), (uint8_t)i};

	return haul_addr_from(4, bytes);
}

/* Takes packets and answers none: there is no route to strangers. */
static void sink(struct haul_flow *flow, void *arg)
{
	struct rte_mbuf *m;
	int err;

	(void)arg;
	while ((err = haul_flow_recv(flow, &m, HAUL_FOREVER)) == 0) {
		struct client *c = client_of_flow(flow);

		if (c)
			c->answered++;
		rte_pktmbuf_free(m);
	}
	if (err == -EPIPE)
		note_end(err);
	haul_flow_close(flow);
}

static void flood(void)
{
	const struct haul_listen_opts opts = {.flows_max = 64};
	unsigned old;

	FAIL_UNLESS(begin(sink, &opts) == 0);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < CLIENTS; i++)
			FAIL_UNLESS(say(i, HAUL_ANY) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(flow_stats().open == CLIENTS);
	for (unsigned i = 0; i < 20000; i++) {
		struct haul_addr from = stranger(i);

		FAIL_UNLESS(flow_begin(&from, 9, PORT, "x", 1, HAUL_ANY) == 0);
		if (i % 12 == 0)
			FAIL_UNLESS(haul_sleep(HAUL_US) == 0); /* virtual time */
		FAIL_UNLESS(flow_stats().open <= 64 * CARRIERS);
	}
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	old = ended;
	FAIL_UNLESS(old == flow_stats().evicted && old > 19000);
	FAIL_UNLESS(flow_stats().accepted == CLIENTS + 20000 - flow_stats().refused);
	FAIL_UNLESS(flow_stats().refused < 1000);
	/* Clients that converse are where they were. */
	for (unsigned i = 0; i < CLIENTS; i++)
		FAIL_UNLESS(say(i, HAUL_ANY) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	for (unsigned i = 0; i < CLIENTS; i++)
		FAIL_UNLESS(clients[i].answered == 3);
}

START_TEST(a_flood_of_new_ends_leaves_conversations)
{
	flow_run(flood, true);
}
END_TEST

static struct haul_event may_return;

static void stay(struct haul_flow *flow, void *arg)
{
	(void)arg;
	if (haul_event_wait(&may_return, HAUL_FOREVER) == -ECANCELED)
		note_end(-ECANCELED);
	haul_flow_close(flow);
}

/* Functions that do not return: there is no place, and what comes is dropped. */
static void places(void)
{
	const struct haul_listen_opts opts = {.flows_max = 4};

	haul_event_reset(&may_return);
	FAIL_UNLESS(begin(stay, &opts) == 0);
	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < CLIENTS; i++)
			FAIL_UNLESS(say(i, k) == 0);
		FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	}
	FAIL_UNLESS(flow_stats().open == 4 * CARRIERS);
	FAIL_UNLESS(flow_stats().refused > 2 * (CLIENTS - 4 * CARRIERS));
	FAIL_UNLESS(flow_stats().evicted == 4 * CARRIERS);
	FAIL_UNLESS(flow_stats().received + flow_stats().refused + flow_stats().strangers ==
		3 * CLIENTS);
	haul_event_set(&may_return);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	FAIL_UNLESS(flow_stats().open == 0);
	FAIL_UNLESS(say(0, 0) == 0 && say(0, 0) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	FAIL_UNLESS(flow_stats().accepted >= 4 * CARRIERS + 1 && flow_stats().open == 0);
}

START_TEST(a_listener_has_no_more_flows_than_it_may)
{
	flow_run(places, _i);
}
END_TEST

static void refusals(void)
{
	const struct haul_listen_opts many = {.flows_max = HAUL_LISTEN_FLOWS_MAX + 1},
				      large = {.flow.mailbox = HAUL_FLOW_MAILBOX_MAX + 1};
	struct haul_flow *flow;
	struct haul_addr to = flow_addr(flow_peers[0]);

	FAIL_UNLESS(haul_flow_listen(flow_host, 0, echo, NULL, NULL) == -EINVAL);
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, echo, NULL, &many) == -EINVAL);
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, echo, NULL, &large) == -EINVAL);
	FAIL_UNLESS(begin(echo, NULL) == 0);
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, echo, NULL, NULL) == -EADDRINUSE);
	FAIL_UNLESS(haul_flow_reserve(flow_host, PORT) == -EBUSY);
	/* The ports of flows, and those of listeners, which flows do not get. */
	for (unsigned p = 1024; p < 65536; p++)
		if (p % 8192 != 0)
			FAIL_UNLESS(haul_flow_reserve(flow_host, (uint16_t)p) == 0);
	FAIL_UNLESS(haul_flow_listen(flow_host, 24576, echo, NULL, NULL) == 0);
	FAIL_UNLESS(haul_flow_open(&flow, flow_host, &to, SERVER, NULL) == 0);
	FAIL_UNLESS(haul_flow_port(flow) == 49152);
	FAIL_UNLESS(haul_flow_peer_port(flow) == SERVER);
	FAIL_UNLESS(haul_flow_listen(flow_host, 49152, echo, NULL, NULL) == -EADDRINUSE);
	haul_flow_close(flow);
	FAIL_UNLESS(haul_flow_listen(flow_host, 49152, echo, NULL, NULL) == 0);
	FAIL_UNLESS(haul_flow_open(&flow, flow_host, &to, SERVER, NULL) == -EADDRINUSE);
	for (unsigned p = 1; p <= 61; p++)
		FAIL_UNLESS(
			haul_flow_listen(flow_host, (uint16_t)(100 + p), echo, NULL, NULL) == 0);
	FAIL_UNLESS(haul_flow_listen(flow_host, 99, echo, NULL, NULL) == -ENOSPC);
	/* Not from a port, to nobody. */
	FAIL_UNLESS(flow_begin(&clients[0].addr, 0, PORT, "x", 1, HAUL_ANY) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	FAIL_UNLESS(flow_stats().strangers == 1 && flow_stats().accepted == 0);
	haul_host_stop(flow_host);
	FAIL_UNLESS(haul_flow_listen(flow_host, 99, echo, NULL, NULL) == -ECANCELED);
}

START_TEST(a_port_is_a_listeners_or_of_flows)
{
	flow_run(refusals, _i);
}
END_TEST

/* A listener that does not get its port gets no packets either. */
static void late(void)
{
	struct haul_flow *flow;

	FAIL_UNLESS(flow_open(&flow, flow_peers[0], NULL) == 0);
	make_clients();
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &clients[i];

		for (unsigned k = 0; k < CARRIERS; k++)
			FAIL_UNLESS(flow_begin(&c->addr, c->port, haul_flow_port(flow), "x", 1,
					    k) == 0);
		FAIL_UNLESS(haul_flow_listen(flow_host, haul_flow_port(flow), sink, NULL, NULL) ==
			-EADDRINUSE);
	}
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(flow_stats().accepted == 0 && flow_stats().open == 1);
	FAIL_UNLESS(flow_stats().strangers == CLIENTS * CARRIERS);
	haul_flow_close(flow);
	/* They have left their places. */
	for (uint16_t p = 1; p <= 64; p++)
		FAIL_UNLESS(haul_flow_listen(flow_host, p, sink, NULL, NULL) == 0);
	FAIL_UNLESS(haul_flow_listen(flow_host, 65, sink, NULL, NULL) == -ENOSPC);
}

START_TEST(a_listener_without_its_port_gets_nothing)
{
	flow_run(late, _i);
}
END_TEST

/* What functions do when the host stops: each waits for something else. */
static void wait_somehow(struct haul_flow *flow, void *arg)
{
	struct client *c = client_of_flow(flow);
	struct rte_mbuf *m;
	struct haul_flow *other;
	struct haul_addr to;
	uint64_t ns;
	int err;

	(void)arg;
	c->begun++;
	switch ((c - clients) % 4) {
	case 0:
		while ((err = haul_flow_recv(flow, &m, HAUL_FOREVER)) == 0)
			rte_pktmbuf_free(m);
		break;
	case 1:
		err = haul_sleep(HAUL_FOREVER);
		break;
	case 2:
		err = flow_open(&other, flow_peers[0], NULL);
		if (!err) {
			err = haul_flow_recv(other, &m, HAUL_FOREVER);
			haul_flow_close(other);
		}
		break;
	default:
		to = flow_addr("10.0.0.250");
		err = haul_ping(flow_host, &to, &ns, HAUL_FOREVER);
	}
	note_end(err);
	haul_flow_close(flow);
}

static void stops(void)
{
	for (unsigned k = 0; k < 3; k++) {
		unsigned begun = 0;

		FAIL_UNLESS(begin(k == 2 ? stay : wait_somehow, NULL) == 0);
		haul_event_reset(&may_return);
		for (unsigned i = 0; i < CLIENTS; i++)
			FAIL_UNLESS(say(i, HAUL_ANY) == 0);
		/* With and without functions that have begun. */
		if (k != 1)
			FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
		haul_host_stop(flow_host);
		for (unsigned i = 0; i < CLIENTS; i++)
			begun += clients[i].begun;
		FAIL_UNLESS(k == 2 ? ended == CLIENTS : ended == begun);
		FAIL_UNLESS(k == 1 || last_error == -ECANCELED);
		FAIL_UNLESS(flow_stats().open == 0);
		FAIL_UNLESS(haul_host_start(
				    flow_host, haul_test_io(flow_test), line, sizeof(line)) == 0);
	}
}

START_TEST(the_stop_ends_functions)
{
	flow_run(stops, _i);
}
END_TEST

/* ICMP. */

static int errors[2];

static void expect_errors(struct haul_flow *flow, void *arg)
{
	struct rte_mbuf *m;

	(void)arg;
	if (haul_flow_recv(flow, &m, HAUL_FOREVER) == 0 &&
		haul_flow_send(flow, m, HAUL_FOREVER) == 0)
		errors[0] = haul_flow_recv(flow, &m, haul_in(HAUL_S));
	errors[1]++;
	haul_flow_close(flow);
}

static void refuse(struct rte_mbuf *m, const struct haul_pkt *pkt)
{
	(void)pkt;
	flow_icmp(m, REFUSED, (uint32_t)errors[1] % CARRIERS);
}

static void icmp(void)
{
	FAIL_UNLESS(begin(expect_errors, NULL) == 0);
	flow_on_datagram = refuse;
	for (int i = 0; i < 12; i++) {
		errors[0] = 0;
		errors[1] = i;
		FAIL_UNLESS(say((unsigned)i, HAUL_ANY) == 0);
		FAIL_UNLESS(haul_sleep(5 * HAUL_S) == 0);
		FAIL_UNLESS(errors[0] == -ECONNREFUSED && errors[1] == i + 1);
	}
	FAIL_UNLESS(flow_stats().errors == 12);
}

START_TEST(icmp_errors_reach_the_function)
{
	flow_run(icmp, _i);
}
END_TEST

SUITE_MAIN("listen", {packets_from_an_end_reach_one_flow_on_whatever_carrier, 2},
	{a_burst_begins_one_flow, 2}, {a_flood_of_new_ends_leaves_conversations, 1},
	{a_listener_has_no_more_flows_than_it_may, 2}, {a_port_is_a_listeners_or_of_flows, 2},
	{a_listener_without_its_port_gets_nothing, 2}, {the_stop_ends_functions, 2},
	{icmp_errors_reach_the_function, 2})
