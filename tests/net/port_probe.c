/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports by hand, for the scripts beside it: starts EAL, then does what it reads, a command a line,
 * and answers each with one line, "ok ..." or "error NUMBER TEXT".
 *
 *	port_probe [-m MB] [-n POOL] [-c CPUS] [-v] [-p] [-o] [-- EAL ARGUMENTS...]
 *
 * -o: it must not begin anew without huge pages (haul_eal_opts.restartable).
 *
 *	open QUEUES SPEC	ok PORT queues=N mac=ADDR ids=ID.Q,... nic=NAME notice=TEXT
 *	start PORT		ok
 *	send PORT Q HEX N	ok TAKEN; N times the same frame
 *	recv PORT N MS		ok HEX.Q HEX.Q ...; up to N frames of all queues, for MS
 *	count PORT N MS		ok TOTAL per-queue ...; the same, frames are dropped
 *	bounce PORT N MS	ok N; sends each frame back where it came from
 *	fault PORT		ok TEXT
 *	close PORT		ok
 *	...			port_probe_config.h
 *	pool			ok AVAILABLE SIZE
 *	hugepages		ok 0|1 NOTICE
 *	quit			ok; ends EAL
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>
#include <haul-dpdk/port.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include "port_probe_config.h"

#define PORTS 64
#define QUEUES 64
#define BURST 32
#define FRAME 2048

static struct haul_port *ports[PORTS];
static struct rte_mempool *pool;

static void say_error(int err, const char *line)
{
	printf("error %d %s\n", -err, line);
}

static void open_port(const char *args)
{
	struct haul_port_opts opts = {.pool = pool};
	struct rte_ether_addr mac;
	char err[1024];
	unsigned p = 0;
	int used, rc;

	if (sscanf(args, "%u %n", &opts.queues, &used) != 1)
		abort();
	while (ports[p])
		p++;
	rc = haul_port_open(&ports[p], args + used, &opts, err, sizeof(err));
	if (rc < 0) {
		ports[p] = NULL;
		say_error(rc, err);
		return;
	}
	mac = haul_port_mac(ports[p]);
	printf("ok %u queues=%u mac=" RTE_ETHER_ADDR_PRT_FMT " ids=", p, haul_port_queues(ports[p]),
		RTE_ETHER_ADDR_BYTES(&mac));
	for (unsigned q = 0; q < haul_port_queues(ports[p]); q++) {
		struct haul_queue id = haul_port_queue(ports[p], q);

		printf("%s%u.%u", q ? "," : "", id.port_id, id.queue_id);
	}
	printf(" nic=%s", haul_port_nic(ports[p]));
	printf(" notice=%s\n", haul_port_notice(ports[p]));
}

static void start_port(struct haul_port *port)
{
	char err[1024];
	int rc = haul_port_start(port, err, sizeof(err));

	if (rc < 0) {
		say_error(rc, err);
		return;
	}
	for (unsigned q = 0; q < haul_port_queues(port); q++)
		haul_port_queue_adopt(port, q);
	printf("ok\n");
}

static struct rte_mbuf *make(const char *hex)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	size_t n = strlen(hex) / 2;
	uint8_t *data;

	if (!m || n > FRAME)
		abort();
	data = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)n);
	for (size_t i = 0; i < n; i++)
		sscanf(hex + 2 * i, "%2hhx", &data[i]);
	return m;
}

static void send_frames(struct haul_port *port, unsigned q, const char *hex, unsigned n)
{
	struct haul_queue id = haul_port_queue(port, q);
	unsigned sent = 0;

	while (sent < n) {
		struct rte_mbuf *m = make(hex);
		unsigned tries = 0;

		while (rte_eth_tx_burst(id.port_id, id.queue_id, &m, 1) == 0 && ++tries < 1000000)
			;
		if (tries == 1000000) {
			rte_pktmbuf_free(m);
			break;
		}
		sent++;
	}
	printf("ok %u\n", sent);
}

static void print_frame(const struct rte_mbuf *m, unsigned q)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

	putchar(' ');
	for (unsigned i = 0; i < m->data_len; i++)
		printf("%02x", data[i]);
	printf(".%u", q);
}

enum what {
	SHOW,
	COUNT,
	BOUNCE,
};

static void bounce(struct haul_queue id, struct rte_mbuf *m)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ether_addr from = eth->src_addr;

	eth->src_addr = eth->dst_addr;
	eth->dst_addr = from;
	while (rte_eth_tx_burst(id.port_id, id.queue_id, &m, 1) == 0)
		;
}

static void receive(struct haul_port *port, unsigned n, unsigned ms, enum what what)
{
	uint64_t end = haul_now() + ms * HAUL_MS;
	unsigned per_queue[QUEUES] = {0};
	struct rte_mbuf *pkts[BURST];
	unsigned got = 0;

	printf("ok");
	while (got < n && haul_now() < end) {
		for (unsigned q = 0; q < haul_port_queues(port); q++) {
			struct haul_queue id = haul_port_queue(port, q);
			uint16_t k = rte_eth_rx_burst(
				id.port_id, id.queue_id, pkts, RTE_MIN(n - got, (unsigned)BURST));

			got += k;
			per_queue[q] += k;
			for (uint16_t i = 0; i < k; i++) {
				if (what == SHOW)
					print_frame(pkts[i], q);
				if (what == BOUNCE)
					bounce(id, pkts[i]);
				else
					rte_pktmbuf_free(pkts[i]);
			}
		}
	}
	if (what != SHOW)
		printf(" %u", got);
	for (unsigned q = 0; what == COUNT && q < haul_port_queues(port); q++)
		printf(" %u", per_queue[q]);
	printf("\n");
}

/* False when it was the last. */
static bool run(char *line)
{
	static char hex[2 * FRAME + 1];
	char verb[16];
	unsigned p = 0, q, n, ms;
	int used = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%15s %n", verb, &used) < 1)
		return true;
	if (strcmp(verb, "open") == 0) {
		open_port(line + used);
		return true;
	}
	if (isdigit((unsigned char)line[used]))
		p = (unsigned)atoi(line + used);
	if (strcmp(verb, "start") == 0)
		start_port(ports[p]);
	else if (sscanf(line, "send %u %u %4096s %u", &p, &q, hex, &n) == 4)
		send_frames(ports[p], q, hex, n);
	else if (sscanf(line, "recv %u %u %u", &p, &n, &ms) == 3)
		receive(ports[p], n, ms, SHOW);
	else if (sscanf(line, "count %u %u %u", &p, &n, &ms) == 3)
		receive(ports[p], n, ms, COUNT);
	else if (sscanf(line, "bounce %u %u %u", &p, &n, &ms) == 3)
		receive(ports[p], n, ms, BOUNCE);
	else if (strcmp(verb, "fault") == 0)
		printf("ok %s\n", haul_port_fault(ports[p]));
	else if (strcmp(verb, "pool") == 0)
		printf("ok %u %u\n", rte_mempool_avail_count(pool), pool->size);
	else if (strcmp(verb, "hugepages") == 0)
		printf("ok %d %s\n", rte_eal_has_hugepages(), haul_eal_notice());
	else if (strcmp(verb, "close") == 0) {
		haul_port_close(ports[p]);
		ports[p] = NULL;
		printf("ok\n");
	} else if (strcmp(verb, "quit") == 0)
		return false;
	else if (!probe_config(ports[p], verb, line + used))
		abort();
	return true;
}

static int serve(unsigned mbufs)
{
	static char line[3 * FRAME];
	char err[256];

	pool = haul_pool_create(mbufs, err, sizeof(err));
	if (!pool) {
		say_error(-ENOMEM, err);
		return 1;
	}
	printf("ok\n");
	while (fgets(line, sizeof(line), stdin) && run(line))
		;
	rte_mempool_free(pool);
	return 0;
}

int main(int argc, char **argv)
{
	struct haul_eal_opts eal = {.program = "port_probe", .restartable = true};
	struct haul_plan_opts plan_opts = {.carriers = 1};
	struct haul_plan *plan;
	unsigned mbufs = 16384;
	char err[512];
	int opt, rc;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((opt = getopt(argc, argv, "m:n:c:vpo")) != -1) {
		if (opt == 'm')
			eal.mem_mb = (unsigned)atoi(optarg);
		else if (opt == 'n')
			mbufs = (unsigned)atoi(optarg);
		else if (opt == 'c')
			plan_opts.carriers = (unsigned)atoi(optarg);
		else if (opt == 'v')
			eal.verbose = true;
		else if (opt == 'p')
			eal.pci = true;
		else if (opt == 'o')
			eal.restartable = false;
		else
			return 2;
	}
	eal.args = argv + optind;
	eal.nb_args = argc - optind;
	if (haul_plan_create(&plan, &plan_opts, err, sizeof(err)) < 0) {
		say_error(-EINVAL, err);
		return 1;
	}
	eal.plan = plan;
	rc = haul_eal_init(&eal, err, sizeof(err));
	if (rc < 0) {
		say_error(rc, err);
		haul_plan_destroy(plan);
		return 1;
	}
	rc = serve(mbufs);
	haul_eal_fini();
	haul_plan_destroy(plan);
	if (rc == 0)
		printf("ok\n");
	return rc;
}
