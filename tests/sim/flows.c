/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of flows through a program that sends back what it gets, over links that lose, reorder
 * and change frames. With haul's own order, that is kept while handlers are stolen; faulty ones are
 * found, as planted.py expects.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/haul.h>
#include <haul/net.h>

#include "networks.h"
#include "numbered.h"

#define CARRIERS 3

static bool ends;
static atomic_uint stolen, handled;

/* Some keep their carrier, so that others are stolen meanwhile. */
static void handle(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	if (handled++ % 11 == 0)
		usleep(150); /* simulated */
	stolen += haul_carrier_self() != haul_coro_home(haul_self());
	haul_send_or_drop(rx, rx->reply, mbuf);
}

static struct rte_mbuf *aside;

/* For one packet there is no room; it is sent behind the next burst. */
static void put_aside(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *late = aside;

	aside = NULL;
	if (n > 0 && HAUL_SOMETIMES("no room"))
		aside = pkts[--n];
	haul_tx_burst(rx->reply, pkts, n);
	if (late)
		haul_tx_burst(rx->reply, &late, 1);
}

static int mirror(void *arg)
{
	struct haul_sim_node_opts opts = {.name = "mirror",
		.io = *(struct haul_io_opts *)arg,
		.carriers = CARRIERS,
		.runtime = {.steal = HAUL_STEAL_GLOBAL, .steal_min_work_ns = 1},
		.mbufs = 2048,
		.ring = 256};
	struct haul_sim_node *node;

	opts.io.policy.how = haul_sim_seed() % 2 ? HAUL_POLL_BLOCK : HAUL_POLL_SPIN;
	haul_sim_node_start(&node, &opts);
	while (!ends)
		usleep(100000); /* simulated */
	rte_pktmbuf_free(aside);
	return haul_sim_node_stop(node);
}

static unsigned pass(struct haul_io_opts io)
{
	unsigned got;

	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("link a mirror delay=200us jitter=100us");
	haul_sim_in_order(NULL);
	haul_sim_host("mirror", mirror, &io);
	numbered_start("a", NULL);
	haul_sim_net("link a mirror loss=2%% reorder=5%% duplicate=2%% flip=2%%");
	sleep(1); /* simulated */
	haul_sim_net("link a mirror loss=0 reorder=0 duplicate=0 flip=0");
	got = numbered_run(1, 17);
	ends = true;
	if (haul_sim_wait("mirror") != 0)
		haul_sim_fail("the mirror does not end well");
	return got;
}

static int in_order(void)
{
	unsigned got = pass((struct haul_io_opts){.on_packet = handle});

	if (got < 1000 || stolen == 0)
		haul_sim_fail("%u datagrams, %u stolen handlers", got, stolen);
	return 0;
}

/* Planted: */
static int any_order(void)
{
	pass((struct haul_io_opts){.on_packet = handle, .send_order = HAUL_ORDER_ANY});
	return 0;
}

static int late(void)
{
	pass((struct haul_io_opts){.on_burst = put_aside});
	return 0;
}

/* A user's own numbers: the lengths of frames grow, and then one does not. */
static bool length(const uint8_t *data, uint32_t len, struct haul_sim_number *number)
{
	number->flow = 7;
	number->number = len;
	return data[12] == 0x88 && data[13] == 0xb5; /* a type for experiments */
}

static void *send_lengths(void *arg)
{
	static const uint16_t lengths[] = {100, 100, 200, 199};
	struct haul_sim_node *node = arg;

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(node->pool);
		uint8_t *data;

		if (!m)
			haul_sim_fail("no packet buffer");
		data = (uint8_t *)rte_pktmbuf_append(m, lengths[i]);
		memset(data, 0, lengths[i]);
		data[12] = 0x88;
		data[13] = 0xb5;
		if (haul_send(haul_io_txq(node->io, 0, 0), m) != 0)
			haul_sim_fail("it cannot send");
		haul_sleep(HAUL_MS); /* simulated */
	}
	return NULL;
}

static int own(void)
{
	struct haul_sim_node_opts opts = {.name = "a", .io = {.on_burst = put_aside}};
	struct haul_sim_node *node;
	struct haul_coro *co;

	haul_sim_net("link a b");
	haul_sim_in_order(length);
	haul_sim_node_start(&node, &opts);
	if (haul_spawn_on(haul_carrier(node->rt, 0), &co, send_lengths, node, NULL) != 0)
		haul_sim_fail("no coroutine");
	haul_join(co, NULL, HAUL_FOREVER);
	return haul_sim_node_stop(node);
}

/* A row of losses that a fault has begun ends with the faults. */
static bool has_lost;

static void see(const struct haul_sim_frame *frame, void *arg)
{
	if (frame->fate != HAUL_SIM_LOST || strcmp(frame->why, "loss") != 0)
		return;
	if (has_lost)
		haul_sim_fail("a frame is lost without faults");
	has_lost = true;
	haul_sim_faults_stop();
}

static int calm(void)
{
	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("link a b");
	haul_sim_watch(see, NULL);
	numbered_start("a", "b");
	numbered_run(2, 16);
	return 0;
}

/* What is lost, and who waits for ever, has a name. */
static void must_arrive(const struct haul_sim_frame *frame, void *arg)
{
	if (frame->fate == HAUL_SIM_LOST)
		haul_sim_fail("a frame is lost: %s", frame->why);
}

static int lost(void)
{
	haul_sim_net("link a b");
	haul_sim_watch(must_arrive, NULL);
	numbered_start("a", "b");
	numbered_run(2, 16);
	return 0;
}

/* A call that fails is told with its name, and whose it was. */
static int open_pipes(void *arg)
{
	int pipes[2];

	pthread_setname_np(pthread_self(), "plumber");
	for (unsigned i = 0; i < 1000; i++) {
		if (pipe2(pipes, O_CLOEXEC) != 0)
			return errno;
		close(pipes[0]);
		close(pipes[1]);
	}
	return 0;
}

static int refused(void)
{
	haul_sim_host("house", open_pipes, NULL);
	return haul_sim_wait("house");
}

static struct haul_sem reply; /* which does not come */

static __attribute__((noinline)) void *wait_for_reply(void *arg)
{
	haul_sem_wait(&reply, HAUL_FOREVER);
	return arg;
}

static __attribute__((noinline)) int ask(void *arg)
{
	struct haul_sim_node_opts opts = {.name = "a", .io = {.on_packet = handle}};
	struct haul_sim_node *node;
	struct haul_coro *co;

	haul_sim_node_start(&node, &opts);
	haul_spawn_on(haul_carrier(node->rt, 0), &co, wait_for_reply, NULL, NULL);
	haul_join(co, NULL, HAUL_FOREVER);
	return haul_sim_node_stop(node);
}

static int forgotten(void)
{
	haul_sim_net("link a b");
	haul_sim_host("asker", ask, NULL);
	return haul_sim_wait("asker");
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"in-order", in_order, "all", 0},
		{"no-memory", in_order, "no-stack", 0},
		{"calm", calm, "burst-loss", 0},
		{"any-order", any_order, "all", 0},
		{"late", late, NULL, 0},
		{"own", own, "none", 0},
		{"lost", lost, "loss,stall", 0},
		{"refused", refused, "syscall", 0},
		{"forgotten", forgotten, "none", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
