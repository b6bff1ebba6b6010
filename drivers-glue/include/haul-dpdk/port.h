/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: a NIC, a kernel interface or a file behind one short text, the port spec, with one queue
 * per carrier. What a PMD needs to make that true (several vdevs for one interface, pairs,
 * signal owners) is handled here and seen nowhere else.
 */
#ifndef HAUL_DPDK_PORT_H
#define HAUL_DPDK_PORT_H

#include <stdio.h>

#include <rte_ether.h>
#include <rte_mempool.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_port;

/* An ethdev queue pair: rx and tx queue of the same number. */
struct haul_queue {
	uint16_t port_id;
	uint16_t queue_id;
};

struct haul_port_opts {
	unsigned queues; /* wished: one per carrier; at least 1 */
	struct rte_mempool *pool; /* where received packets live; must outlive the port */
	uint16_t rx_ring; /* descriptors; 0: 512, or what the PMD prefers */
	uint16_t tx_ring;
	bool waits; /* its pollers may block: have NICs offer interrupts */
};

/*
 * Opens and configures the port that spec describes; it does not receive yet. A thread of EAL's,
 * before the runtime starts, one at a time. What other threads print to stdout and stderr meanwhile
 * is lost. The port may get fewer queues than wished: haul_port_notice() says why.
 * 0, -EINVAL (malformed spec), -ENODEV, -EPERM, -ENOMEM and others: errbuf gets one line that names
 * the spec, what is wrong and what to do.
 */
HAUL_API int haul_port_open(struct haul_port **port, const char *spec,
	const struct haul_port_opts *opts, char *errbuf, size_t errlen);

/* Begins to receive, waits up to 2 s for the link where there is one. Same errors. */
HAUL_API int haul_port_start(struct haul_port *port, char *errbuf, size_t errlen);

/*
 * Called by the thread that polls queue q, once, before its first burst and after each move to
 * another thread (TAP delivers its receive signal to a thread).
 */
HAUL_API void haul_port_queue_adopt(struct haul_port *port, unsigned q);

/* Stops and frees the port. Gives back all mbufs it held. Its pollers must have ended: under those
 * of haul_io_start() it ends the program with a line. */
HAUL_API void haul_port_close(struct haul_port *port);

/* Facts. Any thread while the port is open. The spec is as given, except that the value of secret=
 * is hidden, as in all error lines and notices. */
HAUL_API const char *haul_port_spec(const struct haul_port *port);
HAUL_API unsigned haul_port_queues(const struct haul_port *port);
HAUL_API struct haul_queue haul_port_queue(const struct haul_port *port, unsigned q);
HAUL_API struct rte_ether_addr haul_port_mac(const struct haul_port *port);
/* The interface or PCI address behind the port, as haul_plan_opts.near_nic and haul_carrier_near()
 * take it; "" if there is none. */
HAUL_API const char *haul_port_nic(const struct haul_port *port);
HAUL_API const char *haul_port_notice(const struct haul_port *port); /* "" or one line */
/*
 * In words, what wakes a poller that waits for a queue of the port: "AF_XDP socket", "queue
 * interrupt". "" if nothing does: then its pollers can spin or sleep, but not block. Valid once the
 * port is started.
 */
HAUL_API const char *haul_port_wait_source(const struct haul_port *port);
/*
 * haul_port_alive() is false once the interface behind the port is gone or down, the device is
 * unplugged, afxdp's XDP program is taken off, or a capture file is shorter than what was sent (a
 * full disk). It never becomes true again. It asks the kernel: call it in a control thread, about
 * once a second and after the last packet, and not for each packet. haul_port_fault() is "" while
 * the port is alive, else one line that says what happened and what to do.
 */
HAUL_API bool haul_port_alive(const struct haul_port *port);
HAUL_API const char *haul_port_fault(const struct haul_port *port);

/*
 * The name of the i-th kind of port spec ("tap"), and in *waits_on what wakes its pollers, as
 * haul_port_wait_source() says it. NULL beyond the last. Any thread, before EAL too.
 */
HAUL_API const char *haul_port_kind(unsigned i, const char **waits_on);

/* Prints each kind of port spec and what it means, a line each, for a program's --help. */
HAUL_API void haul_port_print_specs(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
