/* SPDX-License-Identifier: BSD-3-Clause */
/* The two sides of bench-wake that receive through a PMD: a haul handler, and the bare loop. */
#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>

#include <rte_ethdev.h>

#include "bench/wake.h"
#include "harness/bed.h"

#define LOOP_STACK (248 * 1024) /* burst calls need a large stack */

/* Finds the process's only socket of this domain. */
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

int wake_dpdk_find(struct wake_dpdk *d, enum wake_kind kind)
{
	struct haul_queue q = haul_port_queue(perf_bed()->port, 0);

	*d = (struct wake_dpdk){.port_id = q.port_id, .queue_id = q.queue_id};
	switch (kind) {
	case WAKE_TAP:
		d->fd = rte_eth_dev_rx_intr_ctl_q_get_fd(d->port_id, d->queue_id);
		d->signals = true;
		break;
	case WAKE_AFPACKET:
		d->fd = find_socket(AF_PACKET);
		break;
	case WAKE_AFXDP:
		d->fd = find_socket(AF_XDP);
		break;
	}
	return d->fd < 0 ? -ENOTSOCK : 0;
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
	uint64_t ns;

	perf_bed_io_start(
		&(struct haul_io_opts){.on_packet = handle, .policy = {.how = HAUL_POLL_BLOCK}});
	ns = wake_ask(asker, n);
	perf_bed_io_stop();
	return ns;
}

uint64_t wake_by_dpdk(struct wake_asker *asker, struct wake_dpdk *dpdk, uint64_t n)
{
	const struct haul_coro_opts opts = {.stack_size = LOOP_STACK};
	struct haul_coro *loop;
	uint64_t ns;
	int err;

	/* Runs on the carrier and blocks it, so that thread, CPU and caches are the same. */
	err = haul_spawn_on(haul_carrier(perf_bed()->rt, 0), &loop, wake_dpdk_loop, dpdk, &opts);
	perf_must(err, "DPDK's loop");
	ns = wake_ask(asker, n);
	wake_ask_end(asker);
	(void)haul_join(loop, NULL, HAUL_FOREVER);
	return ns;
}
