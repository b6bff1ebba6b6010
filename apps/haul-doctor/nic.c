/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>
#include <haul-dpdk/port.h>
#include <haul-dpdk/port_info.h>

#define PATIENCE 60 /* seconds */

static unsigned fewer(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void look(struct nic *nic, const struct haul_port *port)
{
	struct haul_port_info info;
	struct haul_queue_info queue;

	if (haul_port_get_info(port, &info) < 0) {
		snprintf(nic->error, sizeof(nic->error), "the device does not answer");
		return;
	}
	snprintf(nic->pmd, sizeof(nic->pmd), "%s", info.dev.driver_name);
	nic->queues = haul_port_queues(port);
	nic->queues_most = fewer(info.dev.max_rx_queues, info.dev.max_tx_queues);
	nic->rss = info.dev.flow_type_rss_offloads != 0;
	nic->rss_table = info.dev.reta_size;
	nic->rx_ring_most = info.dev.rx_desc_lim.nb_max;
	if (haul_port_get_queue_info(port, 0, true, &queue) == 0)
		nic->rx_ring = queue.rx.nb_desc;
	nic->link = info.link.link_status == RTE_ETH_LINK_UP;
	if (info.link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		nic->speed = info.link.link_speed;
	nic->waits = haul_port_wait_source(port)[0] != '\0';
}

static void open_and_look(struct nic *nic, const char *spec, const struct haul_port_opts *opts)
{
	struct haul_port *port;

	if (haul_port_open(&port, spec, opts, nic->error, sizeof(nic->error)) < 0)
		return;
	if (haul_port_start(port, nic->error, sizeof(nic->error)) == 0)
		look(nic, port);
	haul_port_close(port);
}

static void ask_here(struct nic *nic, const struct haul_plan *plan, const char *spec)
{
	const struct haul_pool_need need = {
		.specs = &spec, .nb_specs = 1, .carriers = plan->carriers};
	unsigned mbufs = haul_pool_size(&need);
	struct haul_eal_opts eal = {.program = "haul-doctor",
		.plan = plan,
		.pci = true,
		.mem_mb = haul_pool_mem_mb(mbufs)};
	struct haul_port_opts opts = {.queues = plan->carriers, .waits = true};

	if (haul_eal_init(&eal, nic->error, sizeof(nic->error)) < 0)
		return;
	opts.pool = haul_pool_create(mbufs, nic->error, sizeof(nic->error));
	if (opts.pool)
		open_and_look(nic, spec, &opts);
	rte_mempool_free(opts.pool);
	haul_eal_fini();
}

/* What the PMD and EAL print is of no use: the line of an error is in nic->error. */
static void be_silent(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i <= STDERR_FILENO; i++)
		(void)dup2(fd, i);
}

static bool take(struct nic *nic, int fd)
{
	char *at = (char *)nic;
	size_t left = sizeof(*nic);
	ssize_t n;

	do {
		n = read(fd, at, left);
		at += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	} while (left > 0 && (n > 0 || (n < 0 && errno == EINTR)));
	return left == 0;
}

void nic_ask(struct nic *nic, const struct haul_plan *plan, const char *spec)
{
	int ends[2], status = 0;
	pid_t child;

	memset(nic, 0, sizeof(*nic));
	if (pipe2(ends, O_CLOEXEC) < 0) {
		snprintf(nic->error, sizeof(nic->error), "pipe: %s", strerror(errno));
		return;
	}
	(void)fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(PATIENCE);
		be_silent();
		ask_here(nic, plan, spec);
		_exit(write(ends[1], nic, sizeof(*nic)) == sizeof(*nic) ? 0 : 1);
	}
	close(ends[1]);
	if (child < 0) {
		snprintf(nic->error, sizeof(nic->error), "fork: %s", strerror(errno));
	} else if (!take(nic, ends[0])) {
		(void)waitpid(child, &status, 0);
		child = 0;
		memset(nic, 0, sizeof(*nic));
		snprintf(nic->error, sizeof(nic->error), "its PMD ended the program%s%s",
			WIFSIGNALED(status) ? ": " : "",
			WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
	}
	close(ends[0]);
	if (child > 0)
		(void)waitpid(child, &status, 0);
}
