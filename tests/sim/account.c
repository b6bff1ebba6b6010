/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An account on a server, to which a client adds: it asks again until it gets an answer, and the
 * server knows by the number of a request whether it has done it already. With a bug, which
 * docs/guide/simulated-networks.md finds.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/haul.h>
#include <haul/net.h>

static struct haul_sim_node *server_node, *client_node;
static uint32_t account, asked_for; /* at the server; by the client */
static uint32_t last_done; /* the number of the last request */
static uint32_t number; /* of the client's request */
static struct haul_event answered;

/* The account never has more than was asked for. */
static const char *no_more(void *arg)
{
	return account <= asked_for ? NULL : "the account has more than was asked for";
}

static bool is_for(struct haul_sim_node *node, struct haul_rx *rx, struct haul_pkt *pkt,
	struct haul_net_if *nif, struct rte_mbuf *mbuf)
{
	if (haul_host_takes(node->host, rx, mbuf))
		return false;
	if (haul_net_parse(pkt, mbuf) == HAUL_NET_OK &&
		haul_host_for_us(node->host, rx, pkt, nif) == HAUL_NET_OK &&
		pkt->proto == HAUL_PROTO_UDP && pkt->payload_len == sizeof(uint32_t))
		return true;
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
	return false;
}

static void add(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_net_if nif;
	struct haul_pkt pkt;
	uint32_t n;

	if (!is_for(server_node, rx, &pkt, &nif, mbuf))
		return;
	memcpy(&n, pkt.payload, sizeof(n));
	if (n != last_done) { /* it is asked for again if the answer was lost */
		account++;
		last_done = n;
	}
	haul_udp_reply(&nif, &pkt);
	haul_send_or_drop(rx, rx->reply, mbuf);
}

static void take(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_net_if nif;
	struct haul_pkt pkt;
	uint32_t n;

	if (!is_for(client_node, rx, &pkt, &nif, mbuf))
		return;
	memcpy(&n, pkt.payload, sizeof(n));
	if (n == number)
		haul_event_set(&answered);
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

static void ask(const struct haul_addr *server)
{
	haul_event_reset(&answered);
	number++;
	asked_for++;
	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(client_node->pool);

		if (!m)
			continue;
		memcpy(rte_pktmbuf_append(m, sizeof(number)), &number, sizeof(number));
		if (haul_host_send_udp(client_node->host, m, server, 4000, 4000, haul_in(HAUL_S)) !=
			0)
			rte_pktmbuf_free(m);
	} while (haul_event_wait(&answered, haul_in(200 * HAUL_MS)) != 0);
}

static void *additions(void *arg)
{
	struct haul_addr server;

	haul_addr_parse(&server, "10.0.0.1");
	for (unsigned i = 0; i < 100; i++)
		ask(&server);
	return NULL;
}

static int serve(void *arg)
{
	const struct haul_sim_node_opts opts = {
		.name = "server", .address = "10.0.0.1/24", .io = {.on_packet = add}};

	haul_sim_node_start(&server_node, &opts);
	sleep(600); /* simulated */
	return haul_sim_node_stop(server_node);
}

static int ask_it(void *arg)
{
	const struct haul_sim_node_opts opts = {
		.name = "client", .address = "10.0.0.2/24", .io = {.on_packet = take}};
	struct haul_coro *co;

	haul_sim_node_start(&client_node, &opts);
	if (haul_spawn_on(haul_carrier(client_node->rt, 0), &co, additions, NULL, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	return haul_sim_node_stop(client_node);
}

static int add_100(void)
{
	haul_sim_always(no_more, NULL);
	haul_sim_net("link client server delay=1ms");
	haul_sim_host("server", serve, NULL);
	haul_sim_host("client", ask_it, NULL);
	return haul_sim_wait("client");
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"account", add_100, "loss,burst-loss,duplicate,reorder,delay,clog", 0},
		{NULL, NULL, NULL, 0},
	};
	char err[256];

	if (haul_sim_net_init(err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return 4;
	}
	return haul_sim_main(argc, argv, tests);
}
