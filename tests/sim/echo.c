/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-echo, the program itself, as a host: clients on lossy links ping it and send it datagrams,
 * of IPv4 and IPv6. What comes back is what was sent; and once faults have stopped, all of it
 * comes.
 */
#include <string.h>

#include <haul-dpdk/flow.h>
#include <haul-sim/main.h>
#include <haul-sim/net.h>

#include "clients.h"
#include "networks.h"

#define CLIENTS 5
#define TROUBLE 60 /* simulated seconds */
#define CALM 80
#define ROOM 1400
#define TRIES 8 /* also without faults links lose */

int haul_echo_main(int argc, char **argv);

/* Bits that flip on two links may hide from the checksum of UDP, but not from this one. */
struct datagram {
	uint32_t client, id;
	uint64_t sum;
	uint8_t rest[ROOM];
};

static uint64_t sum_of(const struct datagram *d, size_t len)
{
	uint64_t sum = 14695981039346656037u ^ len; /* FNV-1a */

	sum = (sum ^ d->client) * 1099511628211u;
	sum = (sum ^ d->id) * 1099511628211u;
	for (size_t i = 0; i < len - offsetof(struct datagram, rest); i++)
		sum = (sum ^ d->rest[i]) * 1099511628211u;
	return sum;
}

/* What a client sends with an id. Returns its length. */
static size_t put_datagram(struct datagram *d, unsigned client, unsigned id)
{
	size_t n = id * 7919 % (ROOM + 1);

	d->client = client;
	d->id = id;
	for (size_t i = 0; i < n; i++)
		d->rest[i] = (uint8_t)(id + i * (client + 1));
	d->sum = sum_of(d, offsetof(struct datagram, rest) + n);
	return offsetof(struct datagram, rest) + n;
}

static void take(struct client *c, const struct haul_pkt *pkt)
{
	struct datagram got, sent;
	size_t len = pkt->payload_len;

	if (len < offsetof(struct datagram, rest) || len > sizeof(got))
		return;
	memcpy(&got, pkt->payload, len);
	if (got.sum != sum_of(&got, len))
		return;
	if (got.client != c->number || got.id > c->id)
		haul_sim_fail("client %u has sent %u datagrams, and got number %u of client %u",
			c->number, c->id, got.id, got.client);
	if (put_datagram(&sent, got.client, got.id) != len || memcmp(&sent, &got, len) != 0)
		haul_sim_fail(
			"client %u: datagram %u comes back as another one", c->number, got.id);
	if (got.id == c->id)
		haul_event_set(&c->came);
}

static bool ask(struct client *c)
{
	const char *to = c->id % 2 ? "10.0.0.1" : "fd00::1";
	struct datagram d;
	struct haul_addr addr;

	if (c->id % 4 < 2)
		return client_asks_udp(c, to, 7, &d, put_datagram(&d, c->number, c->id), TRIES);
	haul_addr_parse(&addr, to);
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t ns;

		if (haul_ping(c->node->host, &addr, &ns, haul_in(2 * HAUL_S)) == 0)
			return true;
	}
	return false;
}

static int echo(void *delay)
{
	char *argv[] = {"haul-echo", "--port", "sim:echo", "--ip", "10.0.0.1/24", "--ip6",
		"fd00::1/64", "--delay", delay, "--carriers", "2", NULL};

	return haul_echo_main(sizeof(argv) / sizeof(argv[0]) - 1, argv);
}

static int answer_after(char *delay, uint64_t at_most)
{
	const struct clients kind = {
		.n = CLIENTS, .link = "loss=1%", .at_most = at_most, .ask = ask, .takes = take};
	unsigned answered;

	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("switch s; link echo s delay=50us");
	haul_sim_host("echo", echo, delay);
	clients_start(&kind);
	answered = clients_run(TROUBLE, CALM, "echo");
	if (answered < CLIENTS * 20)
		haul_sim_fail("%u answers", answered);
	return 0;
}

static int pings(void)
{
	return answer_after("3ms", 100 * HAUL_MS);
}

/* A stop cancels some. */
static int late(void)
{
	return answer_after("1500ms", 1700 * HAUL_MS);
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"pings", pings, "all", 0},
		{"late", late, "all", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
