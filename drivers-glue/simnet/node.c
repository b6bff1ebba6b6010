/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <haul-sim/node.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>
#include <haul/topo.h>

#include "base/assert.h"
#include "sim/memory.h"
#include "sim/real.h"
#include "simnet/pool.h"

#define CARRIERS_MAX 64u
#define EAL_MB 256
#define MBUFS 512
#define RING 64
#define TIMEOUT (10 * HAUL_S)

/* EAL's memory without huge pages is a file that children of the process would share. Where there
 * are no such files, it is the process's own, and a child gets a copy. */
static bool starts_eal;

HAULI_SIM_REPLACED int memfd_create(const char *name, unsigned flags)
{
	if (!starts_eal)
		return HAULI_SIM_REAL(memfd_create)(name, flags);
	errno = ENOSYS;
	return -1;
}

/* Of carriers that float. Nodes share them: to look at the machine takes milliseconds. */
static struct haul_plan *plan_of(unsigned carriers, char *errbuf, size_t errlen)
{
	static struct haul_plan *plans[CARRIERS_MAX + 1];
	const struct haul_plan_opts opts = {.carriers = carriers};
	struct haul_plan *plan;
	int err;

	HAUL_MISUSE_IF(carriers > CARRIERS_MAX, "at most %u carriers", CARRIERS_MAX);
	if (plans[carriers])
		return plans[carriers];
	hauli_sim_shared_begin();
	err = haul_plan_create(&plan, &opts, errbuf, errlen);
	hauli_sim_shared_end();
	if (err)
		return NULL;
	for (unsigned i = 0; i < plan->carriers; i++)
		plan->places[i].cpu = plan->places[i].core = plan->places[i].node = -1;
	plans[carriers] = plan;
	return plan;
}

int haul_sim_net_init(char *errbuf, size_t errlen)
{
	static char no_huge[] = "--no-huge";
	static char *const args[] = {no_huge};
	struct haul_eal_opts opts = {
		.program = "simulation", .mem_mb = EAL_MB, .args = args, .nb_args = 1};
	struct haul_plan *plan = plan_of(1, errbuf, errlen);
	int err;

	if (!plan)
		return -ENOMEM;
	opts.plan = plan;
	starts_eal = true;
	err = haul_eal_init(&opts, errbuf, errlen);
	starts_eal = false;
	if (err == -EALREADY)
		return 0;
	if (err == 0 && (err = hauli_simnet_pools_init()) < 0)
		snprintf(errbuf, errlen, "haul_sim_net_init: %s", strerror(-err));
	return err;
}

static __attribute__((format(printf, 2, 3), noreturn)) void fail(
	const char *name, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "haul_sim_node_start: %s: ", name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

static void start_host(struct haul_sim_node *node, const struct haul_sim_node_opts *opts)
{
	char err[256];

	if (haul_host_create(&node->host, &opts->host, err, sizeof(err)) != 0 ||
		haul_host_add_address(node->host, 0, opts->address, err, sizeof(err)) != 0)
		fail(opts->name, "%s", err);
	if (opts->gateway &&
		haul_host_add_route(node->host, "0.0.0.0/0", opts->gateway, 0, err, sizeof(err)) !=
			0)
		fail(opts->name, "%s", err);
}

void haul_sim_node_start(struct haul_sim_node **out, const struct haul_sim_node_opts *opts)
{
	unsigned carriers, mbufs;
	struct haul_sim_node *node = hauli_sim_calloc(1, sizeof(*node));
	struct haul_runtime_opts rt;
	struct haul_io_opts io;
	char spec[64], err[256] = "";
	struct haul_plan *plan;

	HAUL_MISUSE_IF(!out || !opts || !opts->name, "NULL is given, or no name");
	if (!node)
		fail(opts->name, "no memory");
	*out = node;
	carriers = opts->carriers ? opts->carriers : 1;
	mbufs = opts->mbufs ? opts->mbufs : MBUFS * carriers;
	plan = plan_of(carriers, err, sizeof(err));
	node->pool = plan ? haul_pool_create(mbufs, err, sizeof(err)) : NULL;
	if (!node->pool)
		fail(opts->name, "%s", err);
	rt = opts->runtime;
	rt.plan = plan;
	rt.launcher = NULL;
	if (haul_start(&node->rt, &rt, err, sizeof(err)) != 0)
		fail(opts->name, "%s", err);
	snprintf(spec, sizeof(spec), "sim:%s", opts->name);
	if (haul_port_open(&node->port, spec,
		    &(struct haul_port_opts){.queues = carriers,
			    .pool = node->pool,
			    .rx_ring = opts->ring ? opts->ring : RING,
			    .tx_ring = opts->ring ? opts->ring : RING,
			    .waits = true},
		    err, sizeof(err)) != 0 ||
		haul_port_start(node->port, err, sizeof(err)) != 0)
		fail(opts->name, "%s", err);
	if (opts->address)
		start_host(node, opts);
	io = opts->io;
	io.ports = &node->port;
	io.nb_ports = 1;
	io.pool = node->pool;
	io.arg = io.arg ? io.arg : node;
	if (haul_io_start(&node->io, node->rt, &io, err, sizeof(err)) != 0)
		fail(opts->name, "%s", err);
	if (node->host && haul_host_start(node->host, node->io, err, sizeof(err)) != 0)
		fail(opts->name, "%s", err);
}

int haul_sim_node_stop(struct haul_sim_node *node)
{
	char line[256] = "";
	int err, later;

	HAUL_MISUSE_IF(!node, "the node is NULL");
	if (node->host)
		haul_host_stop(node->host);
	err = haul_io_stop(node->io, HAUL_S, line, sizeof(line));
	later = haul_stop(node->rt, TIMEOUT);
	if (!err && later)
		snprintf(line, sizeof(line), "haul_stop: coroutines do not end");
	err = err ? err : later;
	haul_port_close(node->port);
	later = haul_io_free(node->io, err ? (char[256]){""} : line, sizeof(line));
	err = err ? err : later;
	if (node->host)
		haul_host_free(node->host);
	rte_mempool_free(node->pool);
	hauli_sim_free(node);
	if (err)
		fprintf(stderr, "haul_sim_node_stop: %s\n", line);
	return err;
}
