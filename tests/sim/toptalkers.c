/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The example toptalkers, the program itself, as a host with two ports: hosts that die now and then
 * send it frames from many addresses over bad links. What it prints is what has arrived at its
 * ports, address by address, the busiest first. With more addresses than its tables hold a count
 * may be too large, but none that is busier than the last that it prints is missing.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/haul.h>

#include "base/random.h"

#include "clients.h"
#include "networks.h"
#include "printed.h"

#define TROUBLE 12 /* simulated seconds */
#define RECOVERY 14 /* and what is clogged, and a period */
#define TOP 10
#define KNOWN 8192 /* addresses, with those that flipped bits make */
#define FEW 30
#define MANY 6000
#define BUSY 6 /* of the many */

int haul_toptalkers_main(int argc, char **argv);

struct talker {
	uint32_t ip; /* in network byte order */
	unsigned arrived, printed; /* printed: the last time */
};

static struct talker talkers[KNOWN];
static unsigned nb_talkers, all_arrived;
static unsigned addresses; /* that hosts send from */
static unsigned line, lines_at_all; /* of a report, of which the figures never grow */
static struct talker *top[TOP];
static unsigned long before, sum;
static bool ends;

static struct talker *talker(uint32_t ip)
{
	unsigned at = ip * 2654435761u >> 19;

	static_assert(KNOWN == 1 << 13, "the shift");
	while (talkers[at].ip != ip && talkers[at].ip != 0)
		at = (at + 1) % KNOWN;
	if (talkers[at].ip == 0) {
		if (++nb_talkers == KNOWN)
			haul_sim_fail("too many addresses");
		talkers[at].ip = ip;
	}
	return &talkers[at];
}

static void see(const struct haul_sim_frame *frame, void *arg)
{
	uint32_t ip;

	if (frame->fate != HAUL_SIM_ARRIVED || frame->len < 34 || frame->data[12] != 8 ||
		frame->data[13] != 0 ||
		(strcmp(frame->to, "left") != 0 && strcmp(frame->to, "right") != 0))
		return;
	memcpy(&ip, frame->data + 26, sizeof(ip));
	talker(ip)->arrived++;
	all_arrived++;
}

static bool is_many(void)
{
	return addresses == MANY;
}

static void look_at(struct talker *t, unsigned long packets, const char *text)
{
	if (line == TOP)
		haul_sim_fail("line %u of a report: %s", line + 1, text);
	if (line > 0 && packets > before)
		haul_sim_fail("behind %lu packets of another address: %s", before, text);
	for (unsigned i = 0; i < line; i++)
		if (top[i] == t)
			haul_sim_fail("once more: %s", text);
	sum += packets;
	if (t->arrived == 0 || sum > all_arrived || (!is_many() && packets > t->arrived))
		haul_sim_fail("of that address %u have arrived, of all %u: %s", t->arrived,
			all_arrived, text);
	if (!is_many() && packets < t->printed)
		haul_sim_fail("there were %u before: %s", t->printed, text);
	t->printed = (unsigned)packets;
	top[line++] = t;
	before = packets;
	lines_at_all++;
}

static void see_line(const char *text)
{
	unsigned long packets;
	char ip[32];
	uint32_t address;

	if (sscanf(text, "%lu packets from %31s", &packets, ip) != 2) {
		line = 0;
		sum = 0;
		return;
	}
	if (inet_pton(AF_INET, ip, &address) != 1)
		haul_sim_fail("no address: %s", text);
	look_at(talker(address), packets, text);
}

static int toptalkers(void *unused)
{
	const char *carriers[] = {"1", "2", "3"};
	/* Of carriers that do not share a table, the same address may be left out by each. */
	char *argv[] = {"toptalkers", "--port", "sim:left", "--port", "sim:right", "--carriers",
		(char *)carriers[is_many() ? 0 : haul_sim_seed() % 3], "--period", "2s", "--screen",
		"off", NULL};
	int rc;

	printed_begin(see_line);
	rc = haul_toptalkers_main(sizeof(argv) / sizeof(argv[0]) - 1, argv);
	printed_end();
	return rc;
}

/* The address of a number; some are much busier than others. */
static void put_frame(uint8_t *data, uint64_t random)
{
	uint32_t n = (uint32_t)(random % addresses);

	if (is_many())
		n = random >> 32 & 1 ? n : (uint32_t)(random >> 33) % BUSY;
	else
		n = (uint32_t)(n * (random >> 32 & 255) / 256);
	memset(data, 0, 60);
	data[0] = data[6] = 2;
	data[12] = 8;
	data[26] = 10;
	data[27] = (uint8_t)(1 + n % 7);
	data[28] = (uint8_t)(n >> 8);
	data[29] = (uint8_t)n;
	if (random >> 60 == 0)
		data[13] = 6; /* ARP */
}

static void drop(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void *send_frames(void *arg)
{
	struct haul_sim_node *node = arg;
	struct hauli_random random;

	hauli_random_init(&random, haul_sim_seed() + haul_now());
	while (!ends) {
		for (unsigned n = hauli_random_below(&random, 24); n > 0; n--) {
			struct rte_mbuf *m = rte_pktmbuf_alloc(node->pool);
			bool is_short = hauli_random_below(&random, 64) == 0;

			if (!m)
				break;
			put_frame((uint8_t *)rte_pktmbuf_append(m, 60), hauli_random_next(&random));
			if (is_short)
				rte_pktmbuf_trim(m, 60 - 33);
			if (haul_send(haul_io_txq(node->io, 0, 0), m) != 0)
				rte_pktmbuf_free(m);
		}
		haul_sleep(HAUL_MS * (1 + hauli_random_below(&random, 40))); /* simulated */
	}
	return NULL;
}

static int sender(void *name)
{
	const struct haul_sim_node_opts opts = {.name = name, .io = {.on_packet = drop}};
	struct haul_sim_node *node;
	struct haul_coro *co;

	haul_sim_node_start(&node, &opts);
	if (haul_spawn_on(haul_carrier(node->rt, 0), &co, send_frames, node, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	sleep(1); /* simulated: its queue is empty by then */
	return haul_sim_node_stop(node);
}

/* The last report: exactly what has arrived, and nobody is left out. */
static void look_at_last(void)
{
	unsigned least = line == TOP ? top[line - 1]->printed : 0;

	for (struct talker *t = talkers; t < talkers + KNOWN; t++) {
		bool is_there = false;

		for (unsigned i = 0; i < line; i++)
			is_there |= top[i] == t;
		if (is_there && t->printed < t->arrived)
			haul_sim_fail(
				"%08x: %u of %u packets", ntohl(t->ip), t->printed, t->arrived);
		if (is_there && !is_many() && t->printed > t->arrived)
			haul_sim_fail("%08x: %u packets, but %u have arrived", ntohl(t->ip),
				t->printed, t->arrived);
		if (!is_there && t->arrived > least)
			haul_sim_fail(
				"%08x is not there, with %u packets", ntohl(t->ip), t->arrived);
	}
}

static int talk(unsigned of)
{
	static char *const senders[] = {"a", "b"};

	addresses = of;
	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("link a left delay=1ms jitter=1ms; link b right rate=100M loss=1%%");
	haul_sim_watch(see, NULL);
	haul_sim_host("program", toptalkers, NULL);
	for (unsigned i = 0; i < 2; i++) {
		haul_sim_host(senders[i], sender, senders[i]);
		haul_sim_may_die(senders[i]);
	}
	sleep(1); /* simulated, as the others */
	networks_trouble(TROUBLE, RECOVERY);
	ends = true;
	for (unsigned i = 0; i < 2; i++)
		if (haul_sim_wait(senders[i]) != 0)
			haul_sim_fail("%s does not end well", senders[i]);
	sleep(1); /* simulated */
	program_ends("program");
	if (all_arrived < 2000 || lines_at_all < 5 * TOP)
		haul_sim_fail("%u packets, %u lines", all_arrived, lines_at_all);
	look_at_last();
	return 0;
}

static int few(void)
{
	return talk(FEW);
}

static int many(void)
{
	return talk(MANY);
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		/* A host that starts without memory or descriptors does not start. */
		{"few", few, NETWORKS_FAULTS ",flip", 0},
		{"many", many, NETWORKS_FAULTS, 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
