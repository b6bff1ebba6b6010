/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-dns, the program itself, as a host: clients on lossy links ask it for names, and it asks
 * servers that answer late, wrongly or not at all. What is told to a client is what the servers say
 * of the name, and not for longer than they say, as addresses change with each second; and once
 * faults have stopped, each question is answered.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>

#include "../../apps/haul-dns/wire.h"
#include "clients.h"
#include "networks.h"

#define CLIENTS 5
#define SERVERS 3
#define NAMES 40
#define TROUBLE 60 /* simulated seconds */
#define CALM 80
#define LIFE 4 /* seconds of an address */
#define STALE 30 /* seconds, as haul-dns says of one that has expired */

int haul_dns_main(int argc, char **argv);
int haul_dns_main_2(int argc, char **argv); /* the same, with variables of its own */

struct server {
	unsigned number;
	struct haul_sim_node *node;
};

static struct server servers[SERVERS];
static unsigned asked_for[CLIENTS]; /* a name, by client */
static unsigned caches; /* between servers and clients */

/* Simulated seconds, modulo 256. */
static uint8_t second(void)
{
	return (uint8_t)(haul_now() / HAUL_S);
}

/* The name of a number: n17.example. Its address: 10.17.SECOND.17. */
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
	struct server *s = rx->arg;
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
	memcpy(reply + n, "\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x0a", 13);
	reply[n + 9] = LIFE;
	reply[n + 13] = reply[n + 15] = (uint8_t)name;
	reply[n + 14] = second();
	haul_udp_reply(&nif, &pkt);
	haul_udp_set_payload(&pkt, reply, n + 16);
	haul_send_or_drop(rx, rx->reply, mbuf);
}

/* When nothing delays an answer for long: it has said how long it holds, less its age. Each cache
 * counts whole seconds, and so does the address. */
static void look_at_age(const struct client *c, unsigned name, const uint8_t *record)
{
	unsigned age = (uint8_t)(second() - record[14]), ttl = dns_get32(record + 6);

	if (clients_are_still() && ttl == STALE)
		haul_sim_fail("client %u: n%u has expired, though servers answer", c->number, name);
	if (clients_are_calm() && ttl != STALE && age + ttl > LIFE + 1 + caches)
		haul_sim_fail("client %u: n%u is %u s old, and is to hold for %u more", c->number,
			name, age, ttl);
}

static void take(struct client *c, const struct haul_pkt *pkt)
{
	unsigned name = asked_for[c->number];
	const uint8_t *m = pkt->payload, *record;
	uint8_t question[64];
	size_t n = put_question(question, 0, name);

	if (pkt->payload_len < DNS_HEADER || (m[0] << 8 | m[1]) != (uint16_t)c->id ||
		!(m[2] & 0x80))
		return;
	if (name_of(m, pkt->payload_len) != name)
		haul_sim_fail("client %u asked for n%u and was told of n%u", c->number, name,
			name_of(m, pkt->payload_len));
	if (clients_are_calm() && (m[3] & 15) != 0)
		haul_sim_fail(
			"client %u: error %u for n%u, with no faults", c->number, m[3] & 15, name);
	if ((m[3] & 15) != 0 || m[7] != 1)
		return;
	record = m + n;
	if (pkt->payload_len != n + 16 || record[12] != 10 || record[13] != name ||
		record[15] != name)
		haul_sim_fail("client %u: a wrong address for n%u", c->number, name);
	look_at_age(c, name, record);
	haul_event_set(&c->came);
}

static bool ask(struct client *c)
{
	uint8_t question[64];
	unsigned *name = &asked_for[c->number];

	*name = (*name + 7 + c->number) % NAMES;
	if (clients_are_still()) /* several at once, and again */
		*name = (unsigned)(haul_now() / HAUL_S) % 5;
	return client_asks_udp(
		c, "10.0.0.1", 53, question, put_question(question, (uint16_t)c->id, *name), 5);
}

static int server(void *arg)
{
	struct server *s = arg;

	numbered_node_start(&s->node, 's', s->number, 10 + s->number, serve, s);
	sleep(TROUBLE + CALM + 30); /* simulated */
	return haul_sim_node_stop(s->node);
}

static int dns(void *unused)
{
	static const char *argv[] = {"haul-dns", "--port", "sim:dns", "--address", "10.0.0.1/24",
		"--upstream", "10.0.0.10", "--upstream", "10.0.0.11", "--upstream", "10.0.0.12",
		"--carriers", "1", NULL};

	return haul_dns_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

/* Two of them: one asks the other, which asks the servers. */
static int front(void *unused)
{
	static const char *argv[] = {"haul-dns", "--port", "sim:dns", "--address", "10.0.0.1/24",
		"--upstream", "10.0.0.2", "--carriers", "1", NULL};

	return haul_dns_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

static int upstream(void *unused)
{
	static const char *argv[] = {"haul-dns", "--port", "sim:upstream", "--address",
		"10.0.0.2/24", "--upstream", "10.0.0.10", "--upstream", "10.0.0.11", "--upstream",
		"10.0.0.12", "--carriers", "2", NULL};

	return haul_dns_main_2(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

static void start_servers(void)
{
	for (unsigned i = 0; i < SERVERS; i++) {
		char name[16];

		servers[i] = (struct server){.number = i};
		snprintf(name, sizeof(name), "s%u", i);
		haul_sim_net("link s%u s delay=%ums jitter=5ms loss=%u%%", i, 5 + 10 * i, 5 * i);
		haul_sim_host(name, server, &servers[i]);
	}
}

static const struct clients kind = {.n = CLIENTS,
	.link = "",
	.still = "link s1 s loss=0; link s2 s loss=0",
	.at_most = 600 * HAUL_MS,
	.ask = ask,
	.takes = take};

static int resolve(void)
{
	unsigned answered;

	haul_sim_faults_stop(); /* until all have started */
	caches = 1;
	haul_sim_net("switch s; link dns s delay=50us");
	haul_sim_host("dns", dns, NULL);
	start_servers();
	clients_start(&kind);
	answered = clients_run(TROUBLE, CALM, "dns");
	if (answered < CLIENTS * 20)
		haul_sim_fail("%u answers", answered);
	return 0;
}

static int chain(void)
{
	unsigned answered;

	haul_sim_faults_stop(); /* until all have started */
	caches = 2;
	haul_sim_net("switch s; link dns s delay=50us; link upstream s delay=2ms");
	haul_sim_host("dns", front, NULL);
	haul_sim_host("upstream", upstream, NULL);
	start_servers();
	clients_start(&kind);
	answered = clients_run(TROUBLE, CALM, "dns");
	program_ends("upstream");
	if (answered < CLIENTS * 10)
		haul_sim_fail("%u answers", answered);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"resolve", resolve, "all", 0},
		{"chain", chain, "all", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
