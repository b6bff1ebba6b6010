/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-dns, the program itself, as a host: clients on lossy links ask it for names, and it asks
 * servers that answer late, wrongly or not at all. What is told to a client is what the servers say
 * of the name; and once faults have stopped, each question is answered.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/haul.h>
#include <haul/net.h>

#include "../../apps/haul-dns/wire.h"

#define CLIENTS 5
#define SERVERS 3
#define NAMES 40
#define TROUBLE 60 /* simulated seconds */
#define CALM 40

int haul_dns_main(int argc, char **argv);

struct machine {
	unsigned number;
	struct haul_sim_node *node;
	struct haul_event came;
	uint16_t id;
	unsigned name, answered, failed, late;
	bool ends;
};

static struct machine clients[CLIENTS], servers[SERVERS];
static bool calm;

/* The name and the address of a number: n17.example, 10.17.0.17. */
static size_t put_question(uint8_t *msg, uint16_t id, unsigned name)
{
	char label[8];
	size_t n = (size_t)snprintf(label, sizeof(label), "n%u", name);

	memset(msg, 0, DNS_HEADER);
	dns_put16(msg, id);
	msg[2] = 1; /* recursion desired */
	msg[5] = 1;
	msg[DNS_HEADER] = (uint8_t)n;
	memcpy(msg + DNS_HEADER + 1, label, n);
	memcpy(msg + DNS_HEADER + 1 + n,
		"\x07"
		"example\0\0\1\0\1",
		13);
	return DNS_HEADER + 1 + n + 13;
}

/* The number of the name asked for; NAMES: another name. */
static unsigned name_of(const uint8_t *msg, size_t n)
{
	uint8_t like[64];

	for (unsigned name = 0; name < NAMES; name++) {
		size_t len = put_question(like, 0, name);
		bool is_same = n >= len;

		for (size_t i = DNS_HEADER; is_same && i < len; i++)
			is_same = (msg[i] | 32) == (like[i] | 32); /* its case may be changed */
		if (is_same)
			return name;
	}
	return NAMES;
}

static void serve(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct machine *s = rx->arg;
	uint8_t reply[512];
	struct haul_net_if nif;
	struct haul_pkt pkt;
	unsigned name;
	size_t n;

	if (haul_host_takes(s->node->host, rx, mbuf))
		return;
	if (haul_net_parse(&pkt, mbuf) != HAUL_NET_OK ||
		haul_host_for_us(s->node->host, rx, &pkt, &nif) != HAUL_NET_OK ||
		pkt.proto != HAUL_PROTO_UDP || pkt.payload_len < DNS_HEADER + 5 ||
		(name = name_of(pkt.payload, pkt.payload_len)) == NAMES ||
		haul_sleep(HAUL_MS * (1 + 50 * s->number)) != 0) { /* simulated */
		haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
		return;
	}
	n = put_question(reply, 0, name);
	memcpy(reply, pkt.payload, n); /* with its case */
	reply[2] = 0x81;
	reply[3] = 0x80;
	memset(reply + 6, 0, 6);
	reply[7] = 1;
	memcpy(reply + n, "\xc0\x0c\0\1\0\1\0\0\0\4\0\4\x0a", 13); /* for four seconds */
	reply[n + 13] = reply[n + 15] = (uint8_t)name;
	reply[n + 14] = 0;
	haul_udp_reply(&nif, &pkt);
	haul_udp_set_payload(&pkt, reply, n + 16);
	haul_send_or_drop(rx, rx->reply, mbuf);
}

static void take(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct machine *c = rx->arg;
	struct haul_net_if nif;
	struct haul_pkt pkt;
	const uint8_t *m;

	if (haul_host_takes(c->node->host, rx, mbuf))
		return;
	if (haul_net_parse(&pkt, mbuf) == HAUL_NET_OK &&
		haul_host_for_us(c->node->host, rx, &pkt, &nif) == HAUL_NET_OK &&
		pkt.proto == HAUL_PROTO_UDP && pkt.payload_len >= DNS_HEADER) {
		m = pkt.payload;
		if ((m[0] << 8 | m[1]) == c->id && m[2] & 0x80) {
			if (name_of(m, pkt.payload_len) != c->name)
				haul_sim_fail("client %u asked for n%u and was told of n%u",
					c->number, c->name, name_of(m, pkt.payload_len));
			if ((m[3] & 15) == 0 && m[7] == 1 && m[pkt.payload_len - 1] != c->name &&
				memmem(m, pkt.payload_len,
					(uint8_t[]){10, (uint8_t)c->name, 0, (uint8_t)c->name},
					4) == NULL)
				haul_sim_fail(
					"client %u: a wrong address for n%u", c->number, c->name);
			if ((m[3] & 15) == 0 && m[7] == 1)
				haul_event_set(&c->came);
		}
	}
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

static bool ask(struct machine *c, const struct haul_addr *to)
{
	for (unsigned tries = 0; tries < 5; tries++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(c->node->pool);

		if (m) {
			uint8_t question[64];
			size_t n = put_question(question, c->id, c->name);

			memcpy(rte_pktmbuf_append(m, (uint16_t)n), question, n);
			if (haul_host_send_udp(c->node->host, m, to, 5000, 53, haul_in(HAUL_S)) !=
				0)
				rte_pktmbuf_free(m);
		}
		if (haul_event_wait(&c->came, haul_in(2 * HAUL_S)) == 0)
			return true;
	}
	return false;
}

static void *questions(void *arg)
{
	struct machine *c = arg;
	struct haul_addr to;

	haul_addr_parse(&to, "10.0.0.1");
	while (!c->ends) {
		bool was_calm = calm;

		haul_event_reset(&c->came);
		c->id++;
		c->name = (c->name + 7 + c->number) % NAMES;
		if (ask(c, &to))
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

static int machine(void *arg)
{
	struct machine *m = arg;
	bool is_client = m < servers || m >= servers + SERVERS;
	char name[16], address[32];
	const struct haul_sim_node_opts opts = {.name = name,
		.address = address,
		.io = {.on_packet = is_client ? take : serve,
			.arg = m,
			.policy = {.how = HAUL_POLL_BLOCK}}};
	struct haul_coro *co;

	snprintf(name, sizeof(name), is_client ? "c%u" : "s%u", m->number);
	snprintf(address, sizeof(address), "10.0.0.%u/24", (is_client ? 100 : 10) + m->number);
	haul_sim_node_start(&m->node, &opts);
	if (!is_client)
		sleep(TROUBLE + CALM + 30); /* simulated */
	else if (haul_spawn_on(haul_carrier(m->node->rt, 0), &co, questions, m, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	return haul_sim_node_stop(m->node);
}

static int dns(void *unused)
{
	static char *argv[] = {"haul-dns", "--port", "sim:dns", "--address", "10.0.0.1/24",
		"--upstream", "10.0.0.10", "--upstream", "10.0.0.11", "--upstream", "10.0.0.12",
		"--carriers", "1", NULL};

	return haul_dns_main(sizeof(argv) / sizeof(argv[0]) - 1, argv);
}

static int resolve(void)
{
	unsigned answered = 0;

	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("switch s; link dns s delay=50us");
	haul_sim_host("dns", dns, NULL);
	for (unsigned i = 0; i < SERVERS; i++) {
		char name[16];

		servers[i] = (struct machine){.number = i};
		snprintf(name, sizeof(name), "s%u", i);
		haul_sim_net("link s%u s delay=%ums jitter=5ms loss=%u%%", i, 5 + 10 * i, 5 * i);
		haul_sim_host(name, machine, &servers[i]);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		char name[16];

		clients[i] = (struct machine){.number = i};
		snprintf(name, sizeof(name), "c%u", i);
		haul_sim_net("link c%u s delay=%ums", i, i);
		haul_sim_host(name, machine, &clients[i]);
	}
	sleep(1); /* simulated, as the others */
	haul_sim_faults_start();
	sleep(TROUBLE); /* simulated */
	haul_sim_faults_stop();
	haul_sim_net("heal");
	sleep(20); /* simulated */
	calm = true;
	sleep(CALM - 20); /* simulated */
	for (unsigned i = 0; i < CLIENTS; i++)
		clients[i].ends = true;
	for (unsigned i = 0; i < CLIENTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%u", i);
		if (haul_sim_wait(name) != 0)
			haul_sim_fail("%s does not end well", name);
		if (clients[i].late > 0)
			haul_sim_fail("%s: %u questions without an answer, with no faults", name,
				clients[i].late);
		answered += clients[i].answered;
	}
	haul_sim_signal("dns", SIGTERM);
	if (haul_sim_wait("dns") != 0)
		haul_sim_fail("haul-dns does not end well");
	if (answered < CLIENTS * 20)
		haul_sim_fail("%u answers", answered);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"resolve", resolve, "all", 0},
		{NULL, NULL, NULL, 0},
	};
	char err[256];

	if (haul_sim_net_init(err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return 4;
	}
	return haul_sim_main(argc, argv, tests);
}
