/* SPDX-License-Identifier: BSD-3-Clause */
/* HOSTS clients ask servers by UDP over lossy links for SECONDS, both from the environment, and ask
 * again if no answer comes. Fifty clients share a switch with a server. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>

#include <haul/haul.h>
#include <haul/net.h>

#include "networks.h"

static unsigned nb_hosts, seconds;
static uint64_t asked, answered, given_up;

static void answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_sim_node *node = rx->arg;
	struct haul_net_if nif;
	struct haul_pkt pkt;
	enum haul_verdict v;

	if (haul_host_takes(node->host, rx, mbuf))
		return;
	v = haul_net_parse(&pkt, mbuf);
	if (v == HAUL_NET_OK)
		v = haul_host_for_us(node->host, rx, &pkt, &nif);
	if (v == HAUL_NET_OK)
		v = haul_udp_reply(&nif, &pkt);
	if (v != HAUL_NET_OK)
		haul_drop_verdict(rx, mbuf, v);
	else
		haul_send_or_drop(rx, rx->reply, mbuf);
}

static int server(void *arg)
{
	struct haul_sim_node_opts opts = {.name = arg,
		.address = "10.0.0.1/16",
		.io = {.on_packet = answer, .policy = {.how = HAUL_POLL_SPIN}},
		.host = {.neighbours_max = 256},
		.mbufs = 1024};
	struct haul_sim_node *node;

	haul_sim_node_start(&node, &opts);
	sleep(seconds + 10); /* simulated */
	return haul_sim_node_stop(node);
}

struct client {
	unsigned number;
	char name[16], address[32];
	struct haul_sim_node *node;
	struct haul_event came;
	uint32_t next;
};

static void take(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct client *c = rx->arg;
	struct haul_pkt pkt;

	if (haul_host_takes(c->node->host, rx, mbuf))
		return;
	if (haul_net_parse(&pkt, mbuf) == HAUL_NET_OK && pkt.proto == HAUL_PROTO_UDP &&
		pkt.payload_len >= 4) {
		uint32_t n;

		memcpy(&n, pkt.payload, 4);
		if (n == c->next)
			haul_event_set(&c->came);
	}
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

static bool ask(struct client *c)
{
	struct haul_addr to;

	haul_addr_parse(&to, "10.0.0.1");
	c->next++;
	asked++;
	for (unsigned tries = 0; tries < 4; tries++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(c->node->pool);

		if (!m)
			return false;
		memcpy(rte_pktmbuf_append(m, 4), &c->next, 4);
		haul_event_reset(&c->came);
		if (haul_host_send_udp(c->node->host, m, &to, 4000, 7, haul_in(HAUL_S)) != 0)
			rte_pktmbuf_free(m);
		else if (haul_event_wait(&c->came, haul_in(HAUL_S)) == 0)
			return true;
	}
	return false;
}

static void *questions(void *arg)
{
	struct client *c = arg;
	uint64_t end = haul_now() + seconds * HAUL_S;

	while (haul_now() < end) {
		if (ask(c))
			answered++;
		else
			given_up++;
		/* Simulated; they do not ask all at once. */
		if (haul_sleep(5 * HAUL_S + c->number * HAUL_MS) != 0)
			break;
	}
	return NULL;
}

static int client(void *arg)
{
	struct client *c = arg;
	struct haul_sim_node_opts opts = {.name = c->name,
		.address = c->address,
		.io = {.on_packet = take, .arg = c, .policy = {.how = HAUL_POLL_SPIN}},
		.host = {.neighbours_max = 64},
		.mbufs = 64};
	struct haul_coro *co;

	haul_sim_node_start(&c->node, &opts);
	if (haul_spawn_on(haul_carrier(c->node->rt, 0), &co, questions, c, NULL) != 0)
		return 1;
	haul_join(co, NULL, HAUL_FOREVER);
	return haul_sim_node_stop(c->node);
}

static int test(void)
{
	struct haul_sim_link_stats st;
	int wrong = 0;

	haul_sim_net("switch s0; link server s0 delay=100us rate=1G");
	haul_sim_host("server", server, (void *)"server");
	for (unsigned i = 50; i < nb_hosts; i += 50) {
		char *name = malloc(16);

		snprintf(name, 16, "server%u", i / 50);
		haul_sim_net("switch s%u; link server%u s%u delay=100us rate=1G", i / 50, i / 50,
			i / 50);
		haul_sim_host(name, server, name);
	}
	for (unsigned i = 0; i < nb_hosts; i++) {
		struct client *c = calloc(1, sizeof(*c));

		c->number = i;
		snprintf(c->name, sizeof(c->name), "c%u", i);
		snprintf(c->address, sizeof(c->address), "10.0.%u.%u/16", 1 + i / 200, 1 + i % 200);
		haul_sim_net("link c%u s%u delay=%ums jitter=1ms loss=2%% rate=10M", i, i / 50,
			1 + i % 50);
		haul_sim_host(c->name, client, c);
	}
	wrong |= haul_sim_wait("server");
	for (unsigned i = 0; i < nb_hosts; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%u", i);
		wrong |= haul_sim_wait(name);
	}
	haul_sim_net_get_stats(&st);
	fprintf(stderr,
		"asked %" PRIu64 " answered %" PRIu64 " given up %" PRIu64 "; frames %" PRIu64
		" arrived %" PRIu64 " lost %" PRIu64 " in flight %" PRIu64 "\n",
		asked, answered, given_up, st.sent, st.arrived, st.lost, st.in_flight);
	return wrong;
}

static unsigned number(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"hosts", test, "none", 48 * 3600 * HAUL_S},
		{NULL, NULL, NULL, 0},
	};

	nb_hosts = number("HOSTS", 20);
	seconds = number("SECONDS", 60);
	return networks_main(argc, argv, tests);
}
