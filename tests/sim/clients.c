/* SPDX-License-Identifier: BSD-3-Clause */
#include "clients.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>

#include "networks.h"

#define CLIENTS_MAX 16
/* Simulated seconds: what began with faults is over then, also a wrong neighbour (faults.c). */
#define RECOVERY 60

static struct clients kind;
static struct client clients[CLIENTS_MAX];
static bool calm;

static void handle(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct client *c = rx->arg;
	struct haul_net_if nif;
	struct haul_pkt pkt;

	if (haul_host_takes(c->node->host, rx, mbuf))
		return;
	if (haul_net_parse(&pkt, mbuf) == HAUL_NET_OK &&
		haul_host_for_us(c->node->host, rx, &pkt, &nif) == HAUL_NET_OK &&
		pkt.proto == HAUL_PROTO_UDP)
		kind.takes(c, &pkt);
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

bool client_asks_udp(struct client *c, const char *to, uint16_t udp_port, const void *payload,
	size_t len, unsigned tries)
{
	struct haul_addr addr;

	haul_addr_parse(&addr, to);
	for (unsigned i = 0; i < tries; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(c->node->pool);

		if (m) {
			memcpy(rte_pktmbuf_append(m, (uint16_t)len), payload, len);
			if (haul_host_send_udp(
				    c->node->host, m, &addr, 5000, udp_port, haul_in(HAUL_S)) != 0)
				rte_pktmbuf_free(m);
		}
		if (haul_event_wait(&c->came, haul_in(2 * HAUL_S)) == 0)
			return true;
	}
	return false;
}

static void *questions(void *arg)
{
	struct client *c = arg;

	while (!c->ends) {
		bool was_calm = calm;

		haul_event_reset(&c->came);
		c->id++;
		if (kind.ask(c))
			c->answered++;
		else if (was_calm)
			c->late++;
		else
			c->failed++;
		if (haul_sleep(300 * HAUL_MS) != 0) /* simulated */
			break;
	}
	return NULL;
}

static int client(void *arg)
{
	struct client *c = arg;
	char name[16], address[32], err[128];
	const struct haul_sim_node_opts opts = {.name = name,
		.address = address,
		.io = {.on_packet = handle, .arg = c, .policy = {.how = HAUL_POLL_BLOCK}}};
	struct haul_coro *co;

	snprintf(name, sizeof(name), "c%u", c->number);
	snprintf(address, sizeof(address), "10.0.0.%u/24", 100 + c->number);
	haul_sim_node_start(&c->node, &opts);
	snprintf(address, sizeof(address), "fd00::%u/64", 100 + c->number);
	if (haul_host_add_address(c->node->host, 0, address, err, sizeof(err)) != 0)
		haul_sim_fail("%s: %s", name, err);
	if (haul_spawn_on(haul_carrier(c->node->rt, 0), &co, questions, c, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	return haul_sim_node_stop(c->node);
}

void clients_start(const struct clients *which)
{
	kind = *which;
	for (unsigned i = 0; i < kind.n; i++) {
		char name[16];

		clients[i] = (struct client){.number = i};
		snprintf(name, sizeof(name), "c%u", i);
		haul_sim_net("link %s s delay=%ums %s", name, i, kind.link);
		haul_sim_host(name, client, &clients[i]);
	}
}

unsigned clients_run(unsigned trouble, unsigned calm_s)
{
	unsigned answered = 0;

	sleep(1); /* simulated, as the others */
	networks_trouble(trouble, RECOVERY);
	calm = true;
	sleep(calm_s - RECOVERY); /* simulated */
	for (unsigned i = 0; i < kind.n; i++)
		clients[i].ends = true;
	for (unsigned i = 0; i < kind.n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%u", i);
		if (haul_sim_wait(name) != 0)
			haul_sim_fail("%s does not end well", name);
		if (clients[i].late > 0)
			haul_sim_fail("%s: %u questions without an answer, with no faults", name,
				clients[i].late);
		answered += clients[i].answered;
	}
	return answered;
}

void program_ends(const char *name)
{
	const char *forgets;

	haul_sim_signal(name, SIGTERM);
	if (haul_sim_wait(name) != 0)
		haul_sim_fail("%s does not end well", name);
	forgets = networks_conserve(NULL);
	if (forgets)
		haul_sim_fail("%s", forgets);
}
