/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed of tests of haul-dpdk/io.h: EAL, two carriers, ring ports (a packet sent on a queue comes
 * back on it), and numbered packets. */
#ifndef IO_BED_H
#define IO_BED_H

#include <check.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include <haul-dpdk/io.h>
#include <haul-dpdk/port.h>
#include <haul/haul.h>

#include "support/suite.h"

#define BED_CARRIERS 2
#define BED_PORTS_MAX 4
#define BED_RING 1023 /* capacity of a ring port's queue */
#define BED_BUFFER 512 /* capacity of the transmit queue before it */

struct bed {
	struct rte_mempool *pool;
	struct haul_port *ports[BED_PORTS_MAX];
	unsigned nb_ports;
	struct haul_runtime *rt;
	struct haul_io *io;
	char errbuf[512]; /* handlers of lost packets stand at the end */
};

/* Call once per process. An exit code for main() without EAL here (a skip), else -1. */
int bed_init(void);
void bed_fini(void);

/* Opens the ports of these specs (NULL ends them) and starts the carriers. */
void bed_open(struct bed *bed, const char *const *specs);

void bed_open_with(
	struct bed *bed, const char *const *specs, unsigned queues, enum haul_steal steal);

/* The same with other options of the runtime, whose plan and launcher are ignored. */
void bed_open_opts(struct bed *bed, const char *const *specs, unsigned queues,
	const struct haul_runtime_opts *opts);

/* Options with ports and pool filled in. */
struct haul_io_opts bed_io_opts(const struct bed *bed);

/* Starts the pollers; must succeed. */
void bed_start(struct bed *bed, const struct haul_io_opts *opts);

/* Stops the pollers, then everything else; ledger and pool must be right. */
void bed_close(struct bed *bed, uint64_t timeout_ns);

/* Stops everything but the pollers; returns haul_io_free()'s result. */
int bed_take_down(struct bed *bed);

/* The same, if the runtime has stopped. */
int bed_put_down(struct bed *bed);

/* A packet with this number, of 60 + number % 1000 bytes. For any thread of EAL. */
struct rte_mbuf *bed_packet(struct bed *bed, uint32_t number);
uint32_t bed_number(const struct rte_mbuf *pkt);

/* Sends packets numbered from first on through a carrier's queue, by a coroutine there that waits
 * for room; returns when the queue has taken all of them. */
void bed_send(struct bed *bed, unsigned port, unsigned carrier, uint32_t first, uint32_t n);

/* The port's statistics. */
struct haul_io_stats bed_stats(const struct bed *bed, unsigned port, unsigned carrier);

/* Waits without a time-out: meson kills a test that hangs. */
#define WAIT_UNTIL(cond)                                            \
	do {                                                        \
		while (!(cond))                                     \
			rte_delay_us_sleep(50); /* between looks */ \
	} while (0)

/* The main function of a program of these tests: struct suite_test for each. */
#define BED_MAIN(name, ...)                                                    \
	int main(void)                                                         \
	{                                                                      \
		const struct suite_test tests[] = {__VA_ARGS__};               \
		int rc = bed_init();                                           \
                                                                               \
		if (rc >= 0)                                                   \
			return rc;                                             \
		rc = suite_run(name, tests, sizeof(tests) / sizeof(tests[0])); \
		if (rc == 0)                                                   \
			bed_fini(); /* it would wait for what has failed */    \
		return rc;                                                     \
	}

#endif
