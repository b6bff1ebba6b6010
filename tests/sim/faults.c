/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients, servers and bad links: whatever the environment does, a client never takes a wrong reply
 * for its own; and once it has recovered, each question is answered.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-dpdk/flow.h>
#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/haul.h>
#include <haul/net.h>

#include "networks.h"

#define CLIENTS 6
#define TROUBLE 60 /* seconds with faults */
/* Until all is well again: a wrong address that a flipped bit has brought is believed for 45 s
 * (RFC 4861, 6.3.2: 1.5 times 30 s), and then it is asked about for 8 s. */
#define RECOVERY 60
#define CALM 15
#define SERVER_PORT 7
#define TRIES 12 /* a link may lose a twentieth */

struct question {
	uint32_t client, number;
	uint64_t secret;
};

struct client {
	uint32_t number;
	unsigned carriers;
	enum haul_poll_how how;
	struct haul_sim_node *node;
	struct haul_event came;
	struct question asked;
	uint64_t answered, given_up;
	unsigned old; /* replies to earlier questions */
	bool ends;
};

static struct client clients[CLIENTS];
static bool calm; /* no faults any more */
static uint64_t late; /* questions of the calm that were not answered */

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
	/* Simulated: a server that takes its time. */
	if (v == HAUL_NET_OK && haul_sleep((haul_sim_seed() % 7) * HAUL_MS) != 0) {
		haul_drop(rx, &mbuf, 1, HAUL_DROP_STOPPING);
		return;
	}
	if (v == HAUL_NET_OK)
		v = haul_udp_reply(&nif, &pkt);
	if (v != HAUL_NET_OK)
		haul_drop_verdict(rx, mbuf, v);
	else
		haul_send_or_drop(rx, rx->reply, mbuf);
}

static int server(void *arg)
{
	const struct haul_sim_node_opts opts = {.name = "server",
		.address = "10.0.0.1/24",
		.io = {.on_packet = answer, .policy = {.how = HAUL_POLL_BLOCK}},
		.carriers = 1 + haul_sim_seed() % 2};
	struct haul_sim_node *node;

	haul_sim_node_start(&node, &opts);
	sleep(TROUBLE + RECOVERY + CALM + 20); /* simulated */
	return haul_sim_node_stop(node);
}

static void judge(const struct client *c, const struct question *q)
{
	if (q->client != c->number)
		haul_sim_fail("client %u got a reply to %u", c->number, q->client);
	if (q->number > c->asked.number)
		haul_sim_fail("client %u got a reply to what it has not asked", c->number);
	if (q->number == c->asked.number && q->secret != c->asked.secret)
		haul_sim_fail("client %u: a reply is wrong", c->number);
}

static void take(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct client *c = rx->arg;
	struct haul_net_if nif;
	struct haul_pkt pkt;
	struct question q;

	if (haul_host_takes(c->node->host, rx, mbuf))
		return;
	/* A server may send a reply to the wrong host: a flipped bit in ARP goes unnoticed. */
	if (haul_net_parse(&pkt, mbuf) == HAUL_NET_OK &&
		haul_host_for_us(c->node->host, rx, &pkt, &nif) == HAUL_NET_OK &&
		pkt.proto == HAUL_PROTO_UDP && pkt.payload_len == sizeof(q)) {
		memcpy(&q, pkt.payload, sizeof(q));
		judge(c, &q);
		if (q.number == c->asked.number)
			haul_event_set(&c->came);
	}
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

static bool is_reply(void *arg, const struct rte_mbuf *pkt)
{
	struct client *c = arg;
	struct question q;

	if (rte_pktmbuf_data_len(pkt) != sizeof(q))
		return false;
	memcpy(&q, rte_pktmbuf_mtod(pkt, const void *), sizeof(q));
	judge(c, &q);
	/* Each question has a port of its own, and one in 16,000 has the port of another one. */
	c->old += q.number != c->asked.number;
	return q.number == c->asked.number;
}

/* By a call that asks again by itself. */
static bool request(struct client *c, const struct haul_addr *to)
{
	const struct haul_request_opts opts = {
		.tries = 7, .first_ns = 100 * HAUL_MS, .is_reply = is_reply, .arg = c};
	struct question q;

	return haul_request(c->node->host, to, SERVER_PORT, &c->asked, sizeof(c->asked), &q,
		       sizeof(q), &opts, HAUL_FOREVER) == sizeof(q);
}

static bool ask(struct client *c, const struct haul_addr *to)
{
	for (unsigned tries = 0; tries < TRIES; tries++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(c->node->pool);

		if (m) {
			memcpy(rte_pktmbuf_append(m, sizeof(c->asked)), &c->asked,
				sizeof(c->asked));
			if (haul_host_send_udp(c->node->host, m, to, (uint16_t)(4000 + c->number),
				    SERVER_PORT, haul_in(HAUL_S)) != 0)
				rte_pktmbuf_free(m);
		}
		if (haul_event_wait(&c->came, haul_in(HAUL_S)) == 0)
			return true;
	}
	return false;
}

static void *questions(void *arg)
{
	struct client *c = arg;
	struct haul_addr to;

	haul_addr_parse(&to, "10.0.0.1");
	while (!c->ends) {
		bool was_calm = calm;

		haul_event_reset(&c->came);
		c->asked.client = c->number;
		c->asked.number++;
		c->asked.secret = haul_sim_seed() * c->asked.number;
		if (c->number % 2 ? request(c, &to) : ask(c, &to))
			c->answered++;
		else if (was_calm)
			late++;
		else
			c->given_up++;
		if (haul_sleep(200 * HAUL_MS) != 0) /* simulated */
			break;
	}
	return NULL;
}

static int client(void *arg)
{
	struct client *c = arg;
	char name[16], address[32];
	struct haul_sim_node_opts opts = {.name = name,
		.address = address,
		.io = {.on_packet = take, .arg = c, .policy = {.how = c->how}},
		.carriers = c->carriers};
	struct haul_coro *co;

	snprintf(name, sizeof(name), "c%u", c->number);
	snprintf(address, sizeof(address), "10.0.0.%u/24", 10 + c->number);
	haul_sim_node_start(&c->node, &opts);
	if (haul_spawn_on(haul_carrier(c->node->rt, 0), &co, questions, c, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	return haul_sim_node_stop(c->node);
}

/* Faults, then calm; kills: the server dies now and then. */
static int run(bool kills)
{
	uint64_t seed = haul_sim_seed(), answered = 0;

	haul_sim_always(networks_conserve, NULL);
	if (!kills)
		haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("switch s; link server s delay=%uus", (unsigned)(seed % 1000));
	haul_sim_host("server", server, NULL);
	if (kills)
		haul_sim_may_die("server");
	for (uint32_t i = 0; i < CLIENTS; i++) {
		char name[16];

		clients[i] = (struct client){.number = i,
			.carriers = 1 + (seed + i) % 3 / 2,
			.how = (seed + i) % 2 ? HAUL_POLL_BLOCK : HAUL_POLL_SPIN};
		snprintf(name, sizeof(name), "c%u", i);
		haul_sim_net("link c%u s delay=%ums jitter=%ums rate=%uM loss=%u%%", i, i % 4,
			i % 3, 1 + 10 * i, i);
		haul_sim_host(name, client, &clients[i]);
	}
	usleep(1000); /* simulated */
	/* Then a server starts again, and neighbours are asked again. */
	networks_trouble(TROUBLE, RECOVERY);
	calm = true;
	sleep(CALM); /* simulated */
	for (uint32_t i = 0; i < CLIENTS; i++)
		clients[i].ends = true;
	for (uint32_t i = 0; i < CLIENTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%u", i);
		if (haul_sim_wait(name) != 0)
			haul_sim_fail("%s does not end well", name);
		answered += clients[i].answered;
		if (clients[i].old > 2)
			haul_sim_fail("%s: %u replies to earlier questions", name, clients[i].old);
	}
	if (late > 0)
		haul_sim_fail("%" PRIu64 " questions without an answer, with no faults", late);
	if (answered < CLIENTS * CALM)
		haul_sim_fail("%" PRIu64 " answers", answered);
	return kills ? 0 : haul_sim_wait("server");
}

static int links(void)
{
	return run(false);
}

static int deaths(void)
{
	return run(true);
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"links", links, "all", 0},
		/* A host that starts without memory or descriptors does not start. */
		{"deaths", deaths, NETWORKS_FAULTS ",flip", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
