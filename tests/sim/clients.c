/* SPDX-License-Identifier: BSD-3-Clause */
#include "clients.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <haul-dpdk/flow.h>
#include <haul-sim/main.h>
#include <haul-sim/net.h>

#include "networks.h"

#define CLIENTS_MAX 16
/* Simulated seconds: what began with faults is over then, also a wrong neighbour (faults.c). */
#define RECOVERY 60
#define STILL 8 /* simulated seconds */
#define MEETING (200 * HAUL_MS) /* the longest first question to a neighbour, and its answer */

static struct clients kind;
static struct client clients[CLIENTS_MAX];
static bool calm, still, over;

bool clients_are_calm(void)
{
	return calm && !over;
}

bool clients_are_still(void)
{
	return still && !over;
}

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

static void send_udp(struct client *c, const struct haul_addr *to, uint16_t udp_port,
	const void *payload, size_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(c->node->pool);

	if (!m)
		return;
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), payload, len);
	if (haul_host_send_udp(c->node->host, m, to, 5000, udp_port, haul_in(HAUL_S)) != 0)
		rte_pktmbuf_free(m);
}

bool client_asks_udp(struct client *c, const char *to, uint16_t udp_port, const void *payload,
	size_t len, unsigned tries)
{
	struct haul_addr addr;

	haul_addr_parse(&addr, to);
	/* Less than a question, which has no answer. */
	if (c->id % 4 == 0)
		send_udp(c, &addr, udp_port, payload, c->id / 4 % 12);
	for (unsigned i = 0; i < tries; i++) {
		send_udp(c, &addr, udp_port, payload, len);
		if (haul_event_wait(&c->came, haul_in(2 * HAUL_S)) == 0)
			return true;
	}
	return false;
}

/* Asks the next client, whose link-layer address it does not know. */
static void meet(const struct client *c, const char *network)
{
	uint64_t began = haul_now(), round_trip;
	struct haul_addr to;
	char text[32];

	snprintf(text, sizeof(text), "%s%u", network, 100 + (c->number + 1) % kind.n);
	haul_addr_parse(&to, text);
	if (haul_ping(c->node->host, &to, &round_trip, haul_in(10 * HAUL_S)) != 0 ||
		haul_now() - began > MEETING)
		haul_sim_fail("c%u meets %s after %" PRIu64 " us, though nothing is lost",
			c->number, text, (haul_now() - began) / HAUL_US);
}

static void see_in_time(const struct client *c, uint64_t began)
{
	if (haul_now() - began > kind.at_most)
		haul_sim_fail("c%u: question %u took %" PRIu64 " us, though nothing is lost",
			c->number, c->id, (haul_now() - began) / HAUL_US);
}

static void ask(struct client *c)
{
	bool was_calm = calm, was_still = still;
	uint64_t began = haul_now();
	bool answered = kind.ask(c);

	if (answered)
		c->answered++;
	else if (was_calm && !over)
		c->late++;
	else
		c->failed++;
	if (was_still && !over)
		see_in_time(c, began);
}

static void *questions(void *arg)
{
	struct client *c = arg;

	while (!c->ends) {
		if (c->meets) {
			c->meets = false;
			meet(c, "10.0.0.");
			meet(c, "fd00::");
		}
		haul_event_reset(&c->came);
		c->id++;
		ask(c);
		if (haul_sleep(over ? HAUL_MS : 300 * HAUL_MS) != 0) /* simulated */
			break;
	}
	return NULL;
}

void numbered_node_start(struct haul_sim_node **node, char letter, unsigned number, unsigned last,
	haul_packet_fn *on_packet, void *arg)
{
	char name[16], address[32];
	const struct haul_sim_node_opts opts = {.name = name,
		.address = address,
		.io = {.on_packet = on_packet, .arg = arg, .policy = {.how = HAUL_POLL_BLOCK}}};

	snprintf(name, sizeof(name), "%c%u", letter, number);
	snprintf(address, sizeof(address), "10.0.0.%u/24", last);
	haul_sim_node_start(node, &opts);
}

static int client(void *arg)
{
	struct client *c = arg;
	char address[32], err[128];
	struct haul_coro *co;

	numbered_node_start(&c->node, 'c', c->number, 100 + c->number, handle, c);
	snprintf(address, sizeof(address), "fd00::%u/64", 100 + c->number);
	if (haul_host_add_address(c->node->host, 0, address, err, sizeof(err)) != 0)
		haul_sim_fail("c%u: %s", c->number, err);
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

static void be_still(void)
{
	for (unsigned i = 0; i < kind.n; i++)
		haul_sim_net("link c%u s loss=0", i);
	if (kind.still)
		haul_sim_net("%s", kind.still);
	sleep(8); /* simulated: what was lost before is asked for again */
	still = true;
	for (unsigned i = 0; i < kind.n; i++)
		clients[i].meets = true;
	sleep(STILL); /* simulated */
}

static unsigned end_clients(void)
{
	unsigned answered = 0;

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

unsigned clients_run(unsigned trouble, unsigned calm_s, const char *program)
{
	unsigned answered;

	sleep(1); /* simulated, as the others */
	networks_trouble(trouble, RECOVERY);
	calm = true;
	sleep(calm_s - RECOVERY); /* simulated */
	be_still();
	if (haul_sim_seed() % 2) {
		answered = end_clients();
		program_ends(program);
	} else {
		over = true; /* and there is much to end */
		sleep(1); /* simulated */
		program_ends(program);
		answered = end_clients();
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
