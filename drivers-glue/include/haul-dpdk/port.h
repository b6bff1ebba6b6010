/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: NICs, kernel interfaces and files, each named by a short text, the port spec, and opened
 * with one queue per carrier. Differences between PMDs (several vdevs for one interface, owners of
 * signals) are hidden behind this interface.
 */
#ifndef HAUL_DPDK_PORT_H
#define HAUL_DPDK_PORT_H

#include <stdio.h>

#include <rte_ether.h>
#include <rte_mempool.h>

#include <haul-dpdk/port_config.h>
#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_port;
struct haul_port_offer;

/* A queue of a port: the rx and the tx queue queue_id of the ethdev port_id. */
struct haul_queue {
	uint16_t port_id;
	uint16_t queue_id;
};

struct haul_port_opts {
	unsigned queues; /* requested, one per carrier; at least 1. The port may get fewer */
	struct rte_mempool *pool; /* for received packets; must outlive the port */
	uint16_t rx_ring; /* descriptors; 0: 512, or the default of the PMD */
	uint16_t tx_ring; /* the same */
	/* It may be handed over (haul-dpdk/hand_over.h): the kernel is to keep more packets that
	 * nobody polls. */
	bool hand_over;
	bool waits; /* pollers may block: sets up the interrupts of NICs */
	const struct haul_port_config *config; /* copied; NULL: the defaults */
	/* What the device lacks of config is left out, and haul_port_notice() tells it; else such a
	 * port is not opened. */
	bool leave_out;
	/* Of another process, whose port this was: haul-dpdk/hand_over.h. It outlives the port */
	const struct haul_port_offer *offer;
};

/*
 * Opens and configures the port that spec describes; it does not receive yet. Called on a thread of
 * EAL, before the runtime starts; one call at a time. Output of other threads to stdout and stderr
 * during the call is lost. If the port has fewer queues than requested, haul_port_notice() gives
 * the reason. Returns 0, and the caller owns *port until haul_port_close(); or -EINVAL (malformed
 * spec), -ENODEV, -EPERM, -ENOMEM and others, with one line in errbuf: the spec, the error, the
 * remedy.
 */
HAUL_API int haul_port_open(struct haul_port **port, const char *spec,
	const struct haul_port_opts *opts, char *errbuf, size_t errlen);

/* Starts reception, and waits up to 2 s for the link of a NIC; of a port without a device (empty:)
 * there is nothing to start. Same context and errors. */
HAUL_API int haul_port_start(struct haul_port *port, char *errbuf, size_t errlen);

/*
 * Gives a port that has no device another spec, which haul_io_attach_port() opens: a port is opened
 * as "empty:" with as many queues as its device will have, and one that was detached may get
 * another device. From the thread that starts and stops. If the device cannot be opened, the port
 * has the spec before again. Returns 0; or with one line in errbuf, and the spec is the one before:
 *	-EINVAL	malformed spec
 *	-EBUSY	it has a device: haul_io_detach_port() first
 *	-ENOMEM	no memory
 */
HAUL_API int haul_port_set_spec(
	struct haul_port *port, const char *spec, char *errbuf, size_t errlen);

/*
 * Prepares queue q for polling by the calling thread. Call it before the first burst, and again
 * after another thread takes over. Does not suspend.
 *
 * A tap port receives only after a real-time signal, which this call sends to the calling thread;
 * before, any thread of the process may get it. Its handler has SA_RESTART, which leaves out
 * poll(), epoll_wait(), nanosleep(), sigtimedwait() and others: they end with EINTR. A thread that
 * polls must not block the signal.
 */
HAUL_API void haul_port_queue_adopt(struct haul_port *port, unsigned q);

/* Stops and frees the port, and returns all its mbufs to the pool. Called on a thread of EAL, after
 * the port's pollers have ended: while those of haul_io_start() run, the call aborts with a
 * line. */
HAUL_API void haul_port_close(struct haul_port *port);

/* Properties. Any thread, while the port is open; the port owns the strings. The spec is the one
 * given, with the value of secret= hidden, as in error lines and notices. */
HAUL_API const char *haul_port_spec(const struct haul_port *port);
HAUL_API unsigned haul_port_queues(const struct haul_port *port);
/* True for a port that was opened as "empty:" and has been given no device. */
HAUL_API bool haul_port_is_empty(const struct haul_port *port);
/* Without a device: port_id is RTE_MAX_ETHPORTS. */
HAUL_API struct haul_queue haul_port_queue(const struct haul_port *port, unsigned q);
HAUL_API struct rte_ether_addr haul_port_mac(const struct haul_port *port);
/* The interface name or PCI address of the port, for haul_plan_opts.near_nic and
 * haul_carrier_near(); "" if it has none. */
HAUL_API const char *haul_port_nic(const struct haul_port *port);
HAUL_API const char *haul_port_notice(const struct haul_port *port); /* one line, or "" */
/*
 * What wakes a poller that waits for packets of the port, in words: "AF_XDP socket", "queue
 * interrupt". "" if nothing does: pollers can then spin or sleep, but not block. Valid once the
 * port is started.
 */
HAUL_API const char *haul_port_wait_source(const struct haul_port *port);
/*
 * "" while the port is alive. One line with the cause, and what to do outside of the program if
 * there is something ("...: the interface eth0 is gone; make it again"), once the interface of the
 * port is gone or down, the device is unplugged, the backend of a virtio-user port has ended, the
 * XDP program of an afxdp port is removed, or a capture file is incomplete (disk full). The port
 * does not become alive again by itself: haul_io_detach_port() and haul_io_attach_port() take it
 * again, or a restart. Each call makes
 * system calls: use it in a control thread, about once a second and after the last packet, not on
 * the packet path.
 */
HAUL_API const char *haul_port_fault(const struct haul_port *port);

/*
 * The name of kind i of port specs ("tap"), i from 0, or NULL after the last; *waits_on gets what
 * haul_port_wait_source() returns for such ports. Any thread, also without EAL.
 */
HAUL_API const char *haul_port_kind(unsigned i, const char **waits_on);

/* Looks for the program at a Unix socket, without its notice. Any thread, also without EAL. Returns
 * 0 if there is one; -ECONNREFUSED if it has ended, -ENOENT if the path does not exist, or another
 * -errno. */
HAUL_API int haul_port_socket_look(const char *path);

/* Checks the form of a port spec, for command lines; what it names need not exist. Any thread, also
 * without EAL. Returns 0, or -EINVAL with one line in errbuf. */
HAUL_API int haul_port_spec_check(const char *spec, char *errbuf, size_t errlen);

/* Prints one line for each kind of port spec, for --help texts. Any thread, also without EAL. */
HAUL_API void haul_port_print_specs(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
