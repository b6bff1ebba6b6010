/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL, a port and a runtime with one carrier, on the case's first CPU, for benchmarks that receive
 * packets. The sides of a case share them. The harness's thread is EAL's main lcore.
 */
#ifndef PERF_BED_H
#define PERF_BED_H

#include <rte_mempool.h>

#include <haul-dpdk/io.h>
#include <haul-dpdk/port.h>
#include <haul/haul.h>

struct perf_bed {
	struct rte_mempool *pool;
	struct haul_port *port; /* with one queue, and waits */
	struct haul_port *far; /* the other end of the wire, without a poller; or NULL */
	struct haul_runtime *rt;
	struct haul_io *io; /* started by perf_bed_io_start(), or NULL */
};

/* Opens the port and the far end (or NULL), unless another side has: each side returns both. 0, or
 * -errno with a line. */
int perf_bed_hold(const char *spec, const char *far);
void perf_bed_release(void);
struct perf_bed *perf_bed(void);

/* Starts a poller; opts without ports and pool. These end the process on failure. */
void perf_bed_io_start(const struct haul_io_opts *opts);
void perf_bed_io_stop(void);
void perf_bed_io_policy(enum haul_poll_how how);

/* Binds the calling thread to the case's second CPU. */
int perf_bed_pin_to_second(void);

#endif
