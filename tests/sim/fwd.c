/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-fwd and the example l2switch, the programs themselves, as a host with two ports, between two
 * hosts that send each other numbered datagrams: all of them pass, and those of a flow in their
 * order. The seed says in which mode, by which handlers, and on how many carriers; a NIC does
 * not take all of a burst at once, and where its link is slow at the beginning, some not at all.
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/haul.h>

#include "clients.h"
#include "networks.h"
#include "numbered.h"

#define TROUBLE 5 /* simulated seconds */
#define CALM 17
#define AT_LEAST 200 /* frames of a queue for 512 */

int haul_fwd_main(int argc, char **argv);
int haul_l2switch_main(int argc, char **argv);

static const char *const carriers[] = {"1", "2", "3"};
static const char *const modes[] = {"io", "mac"};

/* To testpmd's addresses: --eth-peer. */
static void see_macs(const struct haul_sim_frame *frame, void *arg)
{
	uint8_t to[6] = {2};

	to[5] = strcmp(frame->from, "right") == 0;
	if (frame->fate == HAUL_SIM_SENT && (to[5] || strcmp(frame->from, "left") == 0) &&
		memcmp(frame->data, to, sizeof(to)) != 0)
		haul_sim_fail("%s sends to another address", frame->from);
}

static bool sends_by_coroutines(void)
{
	return haul_sim_seed() / 2 % 2;
}

static int fwd(void *unused)
{
	uint64_t seed = haul_sim_seed();
	const char *argv[] = {"haul-fwd", "--port", "sim:left", "--port", "sim:right", "--mode",
		modes[seed % 2], "--handler", sends_by_coroutines() ? "coroutine" : "burst",
		"--carriers", carriers[seed / 4 % 3], "--steal", "global", "--txd", "64", NULL};

	return haul_fwd_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

static int l2switch(void *unused)
{
	const char *argv[] = {"l2switch", "--port", "sim:left", "--port", "sim:right", "--carriers",
		carriers[haul_sim_seed() % 3], "--txd", "64", NULL};

	return haul_l2switch_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

/* waits: the program drops nothing for lack of room. */
static void be_slow(bool waits)
{
	struct haul_sim_link_stats in, out;

	haul_sim_net("link right b rate=1M");
	usleep(400000); /* simulated */
	haul_sim_net("link right b rate=1G");
	haul_sim_link_get_stats("a", "left", &in);
	usleep(600000); /* simulated: the NIC's queue is empty by then */
	haul_sim_link_get_stats("right", "b", &out);
	if (waits && out.sent < in.arrived)
		haul_sim_fail(
			"of %" PRIu64 " frames only %" PRIu64 " are sent on", in.arrived, out.sent);
}

/* The same of the NIC of a, whose coroutines wait, some of them with a deadline. */
static void be_slow_before(void)
{
	haul_sim_net("link a left rate=1M");
	usleep(800000); /* simulated */
	haul_sim_net("link a left rate=1G");
	sleep(2); /* simulated: its queue is empty by then */
}

static unsigned sent_on(void)
{
	struct haul_sim_link_stats st;

	haul_sim_link_get_stats("right", "b", &st);
	return (unsigned)st.sent;
}

/* A stop under load, behind a NIC that takes nothing: what the program has queued is sent as soon
 * as the NIC takes it, and nothing is left. Or the NIC stays slow, and handlers are cancelled. */
static int stops(int (*program)(void *arg), bool stays_slow)
{
	unsigned before;

	haul_sim_net("link a left; link right b rate=%s", stays_slow ? "2M" : "5M");
	haul_sim_host("program", program, NULL);
	numbered_start("a", "b");
	sleep(2); /* simulated: its queue is full */
	before = sent_on();
	haul_sim_signal("program", SIGTERM);
	usleep(10000); /* simulated */
	if (!stays_slow)
		haul_sim_net("link right b rate=1G");
	if (haul_sim_wait("program") != 0)
		haul_sim_fail("the program does not end well");
	if (sent_on() - before < AT_LEAST)
		haul_sim_fail("%u frames are sent on after a stop", sent_on() - before);
	numbered_stop();
	return 0;
}

static int pass(int (*program)(void *arg), bool waits)
{
	unsigned got;

	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("link a left delay=1ms jitter=1ms; link right b rate=1G delay=100us");
	haul_sim_in_order(NULL);
	haul_sim_host("program", program, NULL);
	numbered_start("a", "b");
	if (haul_sim_seed() % 5 == 0)
		be_slow(waits);
	else if (haul_sim_seed() % 5 == 1)
		be_slow_before();
	got = numbered_run(TROUBLE, CALM);
	program_ends("program");
	if (got < 1000)
		haul_sim_fail("%u datagrams", got);
	return 0;
}

static int forward(void)
{
	if (strcmp(modes[haul_sim_seed() % 2], "mac") == 0)
		haul_sim_watch(see_macs, NULL);
	return pass(fwd, sends_by_coroutines());
}

static int ends_forward(void)
{
	return stops(fwd, sends_by_coroutines() && haul_sim_seed() % 2);
}

static int ends_switch(void)
{
	return stops(l2switch, false);
}

static int switches(void)
{
	return pass(l2switch, false);
}

/* A host that sends frames to one address, one in 100 ms. */
struct station {
	const char *name;
	uint8_t from, to; /* the last bytes of the addresses */
	unsigned n;
	struct haul_sim_node *node;
};

static void drop(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void *send_frames(void *arg)
{
	const struct station *s = arg;
	const uint8_t head[14] = {2, 0, 0, 0, 0, s->to, 2, 0, 0, 0, 0, s->from, 0x88, 0xb5};

	for (unsigned i = 0; i < s->n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(s->node->pool);
		char *data = m ? rte_pktmbuf_append(m, 60) : NULL;

		if (!data)
			haul_sim_fail("no packet buffer");
		memset(data, 0, 60);
		memcpy(data, head, sizeof(head));
		if (haul_send(haul_io_txq(s->node->io, 0, 0), m) != 0)
			haul_sim_fail("%s cannot send", s->name);
		haul_sleep(100 * HAUL_MS); /* simulated */
	}
	return NULL;
}

static int station(void *arg)
{
	struct station *s = arg;
	const struct haul_sim_node_opts opts = {.name = s->name, .io = {.on_packet = drop}};
	struct haul_coro *co;

	haul_sim_node_start(&s->node, &opts);
	if (haul_spawn_on(haul_carrier(s->node->rt, 0), &co, send_frames, s, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
	sleep(1); /* simulated: what was sent to it arrives */
	return haul_sim_node_stop(s->node);
}

static unsigned to_all; /* frames that the third port gets, too */

static void see_third(const struct haul_sim_frame *frame, void *arg)
{
	to_all += frame->fate == HAUL_SIM_SENT && strcmp(frame->from, "third") == 0;
}

static int switch_of_three(void *unused)
{
	const char *argv[] = {"l2switch", "--port", "sim:left", "--port", "sim:right", "--port",
		"sim:third", "--max-age", "2s", "--carriers", carriers[haul_sim_seed() % 3], NULL};

	return haul_l2switch_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

/* Where an address is that has been silent for two seconds, l2switch knows no more. */
static int silent(void)
{
	struct station b = {.name = "b", .from = 2, .to = 1, .n = 1},
		       a = {.name = "a", .from = 1, .to = 2, .n = 60};

	haul_sim_net("link a left; link b right; link c third");
	haul_sim_watch(see_third, NULL);
	haul_sim_host("program", switch_of_three, NULL);
	sleep(1); /* simulated, as the others */
	haul_sim_host("b", station, &b);
	usleep(500000); /* simulated */
	haul_sim_host("a", station, &a);
	sleep(1); /* simulated */
	if (to_all != 1)
		haul_sim_fail("%u frames to all, and 1 address that was not known", to_all);
	if (haul_sim_wait("a") != 0 || haul_sim_wait("b") != 0)
		haul_sim_fail("a or b does not end well");
	if (to_all < 20)
		haul_sim_fail("%u frames to all, though b is silent", to_all);
	program_ends("program");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"forward", forward, "all", 0},
		{"switch", switches, "all", 0},
		{"end-forward", ends_forward, "late,slow,stall", 0},
		{"end-switch", ends_switch, "late,slow,stall", 0},
		{"silent", silent, "late,slow,stall", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
