/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usual program of a simulated host, in one call: a runtime, a port "sim:NODE", pollers with
 * handlers, and a host with an address. What a program of one's own makes by haul_start(),
 * haul_port_open() and haul_io_start() works as well.
 *
 *	static int server(void *arg)
 *	{
 *		struct haul_sim_node_opts opts = {
 *			.name = "a", .address = "10.0.0.1/24", .io = {.on_packet = answer}};
 *		struct haul_sim_node *node;
 *
 *		haul_sim_node_start(&node, &opts);
 *		sleep(3600);
 *		return haul_sim_node_stop(node);
 *	}
 */
#ifndef HAUL_SIM_NODE_H
#define HAUL_SIM_NODE_H

#include <haul-dpdk/host.h>
#include <haul-dpdk/io.h>
#include <haul/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Starts EAL, without huge pages, and what simulated ports need: once in a process, before the
 * first simulation, and before it forks. Its packet buffers are memory of the process. Returns 0,
 * or an error of haul_eal_init(), with one line in errbuf.
 */
HAUL_API int haul_sim_net_init(char *errbuf, size_t errlen);

/* 0 or NULL in each field but the name and a handler: the default. */
struct haul_sim_node_opts {
	const char *name; /* of the node */
	const char *address; /* "10.0.0.1/24", for a haul_host; NULL: none */
	const char *gateway; /* for all other destinations; NULL: none */
	/* ports, nb_ports and pool are filled in. arg: NULL: the struct haul_sim_node */
	struct haul_io_opts io;
	struct haul_host_opts host;
	/* plan and launcher are filled in */
	struct haul_runtime_opts runtime;
	unsigned carriers; /* 1 to 64; 0: 1 */
	unsigned mbufs; /* packet buffers; 0: 512 for each carrier */
	uint16_t ring; /* descriptors of a queue; 0: 64 */
};

/* They belong to the node. */
struct haul_sim_node {
	struct haul_runtime *rt;
	struct haul_io *io;
	struct haul_port *port;
	struct haul_host *host; /* NULL: no address was given */
	struct rte_mempool *pool;
};

/* On a thread of the host that is no carrier. A failure ends the process, with one line: options
 * are the test's own. *node is set before the first call of a handler; the caller owns it until
 * haul_sim_node_stop(). */
HAUL_API void haul_sim_node_start(
	struct haul_sim_node **node, const struct haul_sim_node_opts *opts);
/* Ends handlers, pollers and the runtime, and checks that all packets are back. Returns 0, or the
 * error of haul_io_stop(), haul_stop() or haul_io_free(), and prints its line. Same thread. */
HAUL_API int haul_sim_node_stop(struct haul_sim_node *node);

#ifdef __cplusplus
}
#endif

#endif
