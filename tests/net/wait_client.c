/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends requests one at a time at random gaps through any port to a peer that returns frames, and
 * waits for each reply with a poller of the given kind. Each request is a submission from another
 * thread to the carrier; with "storm" further ones come meanwhile, and the policy keeps changing.
 *
 *	wait_client SPEC POLLER REQUESTS SEED [storm]	prints "answered N of REQUESTS ..."
 *
 * Ends with 0 when all were answered and nothing is missing in the pool at the end.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>

#include <haul-dpdk/io.h>
#include <haul/haul.h>

#define MBUFS 16384
#define ETHERTYPE 0x88b5 /* ethertype for experiments */
#define GAP_US 3000
#define LOST_S 5 /* a machine with busy CPUs pauses for less */
#define CONNECT_S 2 /* until another try */
#define OTHERS 3 /* submissions between two requests, in a storm */

struct frame {
	uint8_t dst[6], src[6];
	uint8_t type[2];
	uint32_t number;
	uint8_t rest[42];
} __attribute__((packed));

struct client {
	struct rte_mempool *pool;
	struct haul_runtime *rt;
	struct haul_port *port;
	struct haul_io *io;
	atomic_uint number; /* number of the request under way */
	sem_t answered;
	atomic_uint others;
	char errbuf[512];
};

static int fail(const char *line)
{
	fprintf(stderr, "wait_client: %s\n", line);
	return EXIT_FAILURE;
}

static void receive(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct client *c = rx->arg;
	const struct frame *f = rte_pktmbuf_mtod(pkt, const struct frame *);

	if (pkt->data_len >= 18 && f->type[0] == ETHERTYPE >> 8 && f->number == c->number)
		sem_post(&c->answered);
	rte_pktmbuf_free(pkt);
}

static void *send_one(void *arg)
{
	struct client *c = arg;
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(c->pool);
	struct frame *f;

	if (!pkt)
		return NULL;
	f = (struct frame *)rte_pktmbuf_append(pkt, sizeof(*f));
	if (!f)
		abort();
	memset(f, 0, sizeof(*f));
	f->dst[0] = f->src[0] = 2;
	f->src[5] = 1;
	f->type[0] = ETHERTYPE >> 8;
	f->type[1] = ETHERTYPE & 0xff;
	f->number = c->number;
	if (haul_send(haul_io_txq(c->io, 0, 0), pkt) != 0)
		rte_pktmbuf_free(pkt);
	return NULL;
}

static void *count(void *arg)
{
	struct client *c = arg;

	c->others++;
	return NULL;
}

static void storm(struct client *c, unsigned *given)
{
	static const enum haul_poll_how hows[] = {
		HAUL_POLL_SPIN, HAUL_POLL_BLOCK, HAUL_POLL_ADAPTIVE, HAUL_POLL_SLEEP};
	struct haul_poll_policy policy = {.how = hows[rand() % 4]};

	for (int i = 0; i < OTHERS; i++)
		*given += haul_spawn_on(haul_carrier(c->rt, 0), NULL, count, c, NULL) == 0;
	if (haul_io_set_policy(
		    c->io, 0, HAUL_ALL, &policy, HAUL_FOREVER, c->errbuf, sizeof(c->errbuf)) != 0)
		abort();
}

/* Returns the number of answered requests. */
static unsigned ask(struct client *c, unsigned requests, bool stormy, time_t patience)
{
	unsigned n, given = 0;

	for (n = 0; n < requests; n++) {
		struct timespec until;

		if (stormy)
			storm(c, &given);
		c->number = n + 1;
		if (haul_spawn_on(haul_carrier(c->rt, 0), NULL, send_one, c, NULL) != 0)
			return n;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += patience;
		while (sem_timedwait(&c->answered, &until) != 0)
			if (errno != EINTR)
				return n;
		usleep((useconds_t)(rand() % GAP_US)); /* the gap under test */
	}
	/* No time-out: the caller ends a test that hangs. */
	while (c->others != given)
		usleep(100); /* between looks */
	return n;
}

/* Asks until a peer has answered: some ports take time to connect. */
static bool has_peer(struct client *c)
{
	for (int i = 0; i < 100; i++) {
		if (ask(c, 1, false, CONNECT_S) == 1)
			return true;
	}
	return false;
}

static int run(struct client *c, char **argv, unsigned requests)
{
	const struct haul_port_opts port = {.queues = 1, .pool = c->pool, .waits = true};
	struct haul_io_opts io = {
		.ports = &c->port, .nb_ports = 1, .pool = c->pool, .on_packet = receive, .arg = c};
	struct haul_io_wait_stats st;
	unsigned n = 0;
	int rc;

	if (haul_poll_parse(&io.policy, argv[2], c->errbuf, sizeof(c->errbuf)) != 0 ||
		haul_port_open(&c->port, argv[1], &port, c->errbuf, sizeof(c->errbuf)) != 0 ||
		haul_port_start(c->port, c->errbuf, sizeof(c->errbuf)) != 0 ||
		haul_io_start(&c->io, c->rt, &io, c->errbuf, sizeof(c->errbuf)) != 0)
		return fail(c->errbuf);
	if (has_peer(c))
		n = ask(c, requests, argv[5] && strcmp(argv[5], "storm") == 0, LOST_S);
	haul_io_get_wait_stats(c->io, HAUL_ALL, &st);
	printf("answered %u of %u; %s; sleeps %lu, wake to handler p50 %lu ns p99 %lu ns\n", n,
		requests, haul_port_wait_source(c->port), st.sleeps,
		haul_hist_quantile(&st.latency, 0.5), haul_hist_quantile(&st.latency, 0.99));
	rc = n == requests ? EXIT_SUCCESS : EXIT_FAILURE;
	if (haul_io_stop(c->io, HAUL_S, c->errbuf, sizeof(c->errbuf)) != 0)
		rc = fail(c->errbuf);
	if (haul_stop(c->rt, HAUL_S) != 0)
		abort();
	haul_port_close(c->port);
	if (haul_io_free(c->io, c->errbuf, sizeof(c->errbuf)) != 0)
		rc = fail(c->errbuf);
	return rc;
}

int main(int argc, char **argv)
{
	const struct haul_plan_opts plan_opts = {.carriers = 1};
	struct haul_eal_opts eal = {
		.program = "wait_client", .mem_mb = haul_pool_mem_mb(MBUFS), .restartable = true};
	struct haul_runtime_opts rt = {0};
	struct client c = {0};
	struct haul_plan *plan;
	int rc;

	if (argc < 5)
		return fail("SPEC POLLER REQUESTS SEED [storm]");
	srand((unsigned)strtoul(argv[4], NULL, 10));
	sem_init(&c.answered, 0, 0);
	if (haul_plan_create(&plan, &plan_opts, c.errbuf, sizeof(c.errbuf)) != 0)
		return fail(c.errbuf);
	eal.plan = rt.plan = plan;
	if (haul_eal_init(&eal, c.errbuf, sizeof(c.errbuf)) != 0)
		return fail(c.errbuf);
	rt.launcher = haul_eal_launcher();
	c.pool = haul_pool_create(MBUFS, c.errbuf, sizeof(c.errbuf));
	if (!c.pool || haul_start(&c.rt, &rt, NULL, 0) != 0)
		return fail(c.errbuf);
	rc = run(&c, argv, (unsigned)strtoul(argv[3], NULL, 10));
	haul_eal_fini();
	haul_plan_destroy(plan);
	return rc;
}
