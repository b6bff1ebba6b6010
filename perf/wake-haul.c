/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL, a port and one carrier; and the two that receive there in turn. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_ethdev.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/io.h>
#include <haul-dpdk/pool.h>
#include <haul-dpdk/port.h>
#include <haul/haul.h>

#include "wake.h"

#define MBUFS 8192
#define RUNS_MAX 256
#define LOOP_STACK (248 * 1024) /* burst calls take some */

static struct {
	unsigned holders;
	struct haul_plan *plan; /* for good, as EAL */
	struct rte_mempool *pool;
	struct haul_port *port;
	struct haul_runtime *rt;
	struct haul_io *ios[RUNS_MAX]; /* to be freed after the port is closed */
	unsigned nb_ios;
	struct wake_dpdk dpdk;
	char why[256];
} bed;

static int say(int err)
{
	if (err)
		fprintf(stderr, "%s\n", bed.why);
	return err;
}

static void must(int err)
{
	if (say(err))
		exit(1);
}

static int start_eal(void)
{
	struct haul_eal_opts eal = {.program = "bench-wake", .mem_mb = haul_pool_mem_mb(MBUFS)};
	char cpu[16];
	int err;

	if (bed.plan)
		return 0;
	snprintf(cpu, sizeof(cpu), "%u-%u", perf_cpu(0), perf_cpu(0));
	err = haul_plan_create(
		&bed.plan, &(struct haul_plan_opts){.cpus = cpu}, bed.why, sizeof(bed.why));
	if (err)
		return err;
	eal.plan = bed.plan;
	return haul_eal_init(&eal, bed.why, sizeof(bed.why));
}

/* The process's socket of that domain, of which there is one. */
static int find_socket(int domain)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name), is = -1;
		socklen_t len = sizeof(is);

		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &is, &len) == 0 && is == domain)
			found = fd;
	}
	if (dir)
		closedir(dir);
	return found;
}

static struct wake_dpdk find_queue(enum wake_kind kind)
{
	struct haul_queue q = haul_port_queue(bed.port, 0);
	struct wake_dpdk d = {.port_id = q.port_id, .queue_id = q.queue_id};

	switch (kind) {
	case WAKE_TAP:
		d.fd = rte_eth_dev_rx_intr_ctl_q_get_fd(d.port_id, d.queue_id);
		d.signals = true;
		break;
	case WAKE_AFPACKET:
		d.fd = find_socket(AF_PACKET);
		break;
	case WAKE_AFXDP:
		d.fd = find_socket(AF_XDP);
		break;
	}
	return d;
}

static int open_port(enum wake_kind kind)
{
	static const char *const specs[] = {"tap:t0", "afpacket:v0", "afxdp:v0"};
	struct haul_port_opts opts = {.queues = 1, .waits = true};
	int err;

	bed.pool = haul_pool_create(MBUFS, bed.why, sizeof(bed.why));
	if (!bed.pool)
		return -ENOMEM;
	opts.pool = bed.pool;
	err = haul_port_open(&bed.port, specs[kind], &opts, bed.why, sizeof(bed.why));
	return err ? err : haul_port_start(bed.port, bed.why, sizeof(bed.why));
}

int wake_port_hold(enum wake_kind kind)
{
	struct haul_runtime_opts opts = {0};
	int err;

	if (bed.holders++ > 0)
		return 0;
	err = start_eal();
	if (!err)
		err = open_port(kind);
	if (err)
		return say(err);
	bed.dpdk = find_queue(kind);
	opts = (struct haul_runtime_opts){.plan = bed.plan, .launcher = haul_eal_launcher()};
	err = haul_start(&bed.rt, &opts);
	if (err)
		fprintf(stderr, "haul_start: %s\n", strerror(-err));
	return err;
}

void wake_port_release(void)
{
	if (--bed.holders > 0)
		return;
	snprintf(bed.why, sizeof(bed.why), "the carrier does not end");
	must(haul_stop(bed.rt, HAUL_S));
	haul_port_close(bed.port);
	while (bed.nb_ios > 0)
		must(haul_io_free(bed.ios[--bed.nb_ios], bed.why, sizeof(bed.why)));
	rte_mempool_free(bed.pool);
}

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (wake_take(rte_pktmbuf_mtod(pkt, void *), pkt->data_len) == WAKE_ANSWER)
		if (haul_send(rx->reply, pkt) == 0)
			return;
	rte_pktmbuf_free(pkt);
}

uint64_t wake_by_haul(struct wake_asker *asker, uint64_t n)
{
	const struct haul_io_opts opts = {
		.ports = &bed.port,
		.nb_ports = 1,
		.pool = bed.pool,
		.on_packet = handle,
		.policy = {.how = HAUL_POLL_BLOCK},
	};
	struct haul_io **io = &bed.ios[bed.nb_ios];
	uint64_t ns;

	snprintf(bed.why, sizeof(bed.why), "more than %u runs", RUNS_MAX);
	must(bed.nb_ios == RUNS_MAX ? -EINVAL : 0);
	must(haul_io_start(io, bed.rt, &opts, bed.why, sizeof(bed.why)));
	bed.nb_ios++;
	ns = wake_ask(asker, n);
	must(haul_io_stop(*io, HAUL_S, bed.why, sizeof(bed.why)));
	return ns;
}

uint64_t wake_by_dpdk(struct wake_asker *asker, uint64_t n)
{
	const struct haul_coro_opts opts = {.stack_size = LOOP_STACK};
	struct haul_coro *loop;
	uint64_t ns;

	/* On the carrier, so that thread, CPU and caches are the same; it blocks it. */
	snprintf(bed.why, sizeof(bed.why), "the loop cannot be started");
	must(haul_spawn_on(haul_carrier(bed.rt, 0), &loop, wake_dpdk_loop, &bed.dpdk, &opts));
	ns = wake_ask(asker, n);
	wake_ask_end(asker);
	must(haul_join(loop, NULL));
	return ns;
}
