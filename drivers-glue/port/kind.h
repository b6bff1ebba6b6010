/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of ports: everything a PMD needs so that a port has a queue per carrier and frees all
 * packet buffers at its end. A kind is one file, kinds/KIND.c, and one line of kinds/list.h; port.c
 * has the common part.
 */
#ifndef HAULI_PORT_KIND_H
#define HAULI_PORT_KIND_H

#include <net/if.h>

#include <haul-dpdk/port.h>
#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "conc/word.h"
#include "port/spec.h"

#define HAULI_VDEV_NAME 64
#define HAULI_VDEV_ARGS 1024

struct hauli_flow;
struct hauli_hand_over;
struct hauli_missed;
struct hauli_watch;

/* A port's spec as haul_port_spec() returns it. Callers keep it: it stays until the port is
 * closed. */
struct hauli_port_text {
	struct hauli_port_text *older;
	char text[HAULI_SPEC_SIZE];
};

/* What a poller can wait on for packets of a queue. */
enum hauli_port_wait_on {
	HAULI_PORT_WAIT_ON_NOTHING,
	HAULI_PORT_WAIT_ON_SOCKET, /* port->fds, readable while there are any */
	HAULI_PORT_WAIT_ON_DESCRIPTOR, /* the interrupt's, always on; readable */
	HAULI_PORT_WAIT_ON_INTERRUPT, /* an event of the interrupt's descriptor, while armed */
};

/* An ethdev of a port. */
struct hauli_vdev {
	char name[HAULI_VDEV_NAME];
	char args[HAULI_VDEV_ARGS];
	const char *bus; /* "vdev" or "pci" */
	uint16_t port_id; /* RTE_MAX_ETHPORTS: none (yet) */
	bool started;
};

/* Sizes of frames, in bytes, that a device sends whole. */
struct hauli_frame_sizes {
	uint32_t least, most;
	uint32_t tag; /* bytes that a VLAN tag may add */
	uint16_t segs;
};

/* A queue's own, in one direction. */
struct hauli_queue_own {
	uint64_t offloads; /* besides those of the port */
	bool deferred; /* a start of the port leaves it stopped */
	bool stopped; /* by haul_port_switch_queue(), or deferred */
};

/* What haul_port_reset_stats() remembers. */
struct hauli_stats_base {
	struct rte_eth_stats stats;
	struct haul_port_xstat *xstats;
	unsigned nb_xstats;
};

/* xstats by name. */
struct hauli_xstats {
	struct haul_port_xstat *x;
	unsigned n;
};

#define HAULI_NO_PORT "the port is NULL; give what haul_port_open() has given"

/* Constant while the port has a device, except watch, polled, base, detached and last; and the
 * configuration with what follows from it (tx, rx_most), which changes only while no poller uses
 * the port. */
struct haul_port {
	struct hauli_spec spec; /* for other threads: text */
	struct hauli_spec *before; /* spec may go back to it: haul_port_set_spec(); NULL: not */
	struct hauli_ptr_published text; /* struct hauli_port_text */
	const struct hauli_kind *kind; /* the spec's, or for a raw vdev that of its driver */
	struct haul_port_opts opts;
	struct haul_port_config config;
	struct haul_port_config asked; /* with what this device lacks, and the next may have */
	bool late; /* a stopped device is to be configured before its next start */
	bool agreed; /* queues: with the other side (hauli_port_agree()) */
	bool leaves_out; /* while it opens: what the device lacks is no error */
	struct hauli_vdev *vdevs; /* one, or one per queue */
	unsigned nb_vdevs;
	unsigned queues;
	struct hauli_queue_own *rx_own, *tx_own; /* by queue; NULL: all are as the port says */
	struct rte_ether_addr mac;
	struct hauli_frame_sizes
		tx; /* other frames: dropped by the filter, or refused by the PMD */
	uint32_t rx_most; /* longer frames are dropped, at the latest by the filter */
	char iface[IFNAMSIZ]; /* the kernel interface behind it, "" if there is none */
	bool was_promiscuous; /* that interface, before; and its MTU */
	unsigned was_mtu;
	int *fds; /* one per queue, of kinds that wait on or tune a socket; else NULL */
	bool was_started; /* at least once */
	bool waitable; /* each queue has a descriptor to wait on. Known once started */
	struct hauli_watch *watch; /* any thread */
	struct hauli_missed *missed; /* any thread */
	void *own; /* the kind's; freed by its closed() */
	unsigned polled; /* structs haul_io that poll the port */
	struct hauli_stats_base base;
	bool handed_over; /* to another process: haul-dpdk/hand_over.h */
	struct hauli_flow *flows; /* port/flows.h; the oldest first */
	bool detached; /* there is no device, not yet or not any more */
	struct haul_port_callback *callbacks; /* port/callbacks.c */
	struct hauli_xstats before_xstats; /* of devices that it had before */
	struct rte_eth_stats last; /* of devices that it had before, without hauli_missed() */
	char notice[512];
	struct haul_port *next; /* port/ports.h */
};

struct hauli_kind {
	const char *name; /* "tap" */
	const char *form; /* "tap:NAME" */
	const char *help; /* one line */
	const char *driver; /* the PMD's name: "net_tap" */
	enum hauli_main main;
	const struct hauli_key *keys; /* a name of NULL ends the list; NULL: the PMD decides */

	/* The configuration. */
	bool rss; /* spread by the NIC's hash where it has one */
	bool rx_interrupts; /* ask for them: the fds that adopt() needs come with them */
	bool wait_link; /* the link is up within two seconds of the start, or not at all */
	bool promiscuous; /* filters by address unless promiscuous */
	enum hauli_port_wait_on wait_on;
	const char *wait_name; /* what wait_on is: "queue interrupt" */
	bool shares_memory; /* the PMD reads memory that another process writes */
	const char *dpdk_library; /* of DPDK's, below the PMD's own: "vhost"; NULL: none */
	bool prints; /* its libraries print without being asked, even at the close */
	bool filter; /* haul calls the PMD through a filter (filter.h) */
	/* The PMD's arguments that name an interface, socket or file which no other port may have
	 * (alone.h). NULL ends each list. */
	const char *const *vdev_ifaces, *const *vdev_paths;
	const char *unmaps; /* the PMD's library, if it unmaps memory amid burst calls (unmap.h) */
	bool real_speed; /* its link has a NIC's speed even without a kernel interface */
	bool stamps; /* the PMD's receive timestamps are of CLOCK_REALTIME, in us or ns */
	bool above_nic; /* a NIC's driver may drop packets that its interface's sockets would get */
	const struct hauli_hand_over *hand_over; /* NULL: cannot be */
	bool tries_flows; /* the PMD crashes at a flow rule with RSS if the kernel lacks TC */
	bool configures_late; /* at the start: its PMD crashes at a close without one */
	unsigned queues_most; /* that its PMD survives; 0: as many as the device tells */
	bool takes_queues; /* another number of queues, without being opened anew */
	bool hands_back; /* the PMD counts frames that it did not take as transmit errors */

	/*
	 * Checks the spec, and fills vdevs, nb_vdevs and the wished queues (by hauli_port_vdevs()).
	 * 0, or -errno with a line.
	 */
	int (*prepare)(struct haul_port *port, char *errbuf, size_t errlen);

	/* The rest may be NULL. For a raw vdev haul does not call prepare(), but all other
	 * functions. */

	/* Ring sizes that the PMD supports. NULL: as in the PMD's device info. */
	void (*rings)(uint16_t *rx_ring, uint16_t *tx_ring);
	/* Before and after queue q is set up. 0 or -errno with a line. */
	int (*queue_begins)(struct haul_port *port, unsigned q, char *errbuf, size_t errlen);
	int (*queue_ready)(struct haul_port *port, unsigned q, char *errbuf, size_t errlen);
	/* Sets the interface's MTU past the PMD. 0 or -errno with a line. NULL: the PMD sets it. */
	int (*set_mtu)(struct haul_port *port, unsigned mtu, char *errbuf, size_t errlen);
	/* Fills tx and rx_most, which depend on the interface's MTU. Called again when that has
	 * changed. */
	void (*sizes)(struct haul_port *port);
	/* All queues are set up, before the start. */
	int (*ready)(struct haul_port *port, char *errbuf, size_t errlen);
	/* The PMD failed and logged line: 0 if line explains it, or -errno with a better line. */
	int (*explain)(const struct haul_port *port, const char *line, char *errbuf, size_t errlen);
	/* As haul_port_queue_adopt(). */
	void (*adopt)(struct haul_port *port, unsigned q);
	/* The descriptor of queue q signals packets, and the PMD returned none: makes the PMD poll.
	 * Polling thread. */
	void (*nudge)(const struct haul_port *port, unsigned q);
	/* Finds a failure, unnoticed by the PMD, of the interface or file behind the port, and
	 * writes one line to what. A control thread, about once a second. */
	void (*look)(const struct haul_port *port, char *what, size_t size);
	/* True if queue q has room for pkt: a burst call that does not take pkt now never will.
	 * Polling thread. NULL: not known, the queue may be full. */
	bool (*has_room)(const struct haul_port *port, unsigned q, const struct rte_mbuf *pkt);
	/* The number of packets that a queue holds while it is not polled. NULL: one per
	 * descriptor. */
	unsigned (*backlog)(const struct haul_port *port);
	/* After each start. 0 or -errno. */
	int (*started)(struct haul_port *port);
	/* stops: before each stop, also if started() failed; release: before the last one; closed:
	 * after the close. They free packet buffers that the PMD would lose. */
	void (*stops)(struct haul_port *port);
	void (*release)(struct haul_port *port);
	void (*closed)(struct haul_port *port);
	/* The number of packets dropped by the kernel because the port was slow, since the
	 * interface was made or the port opened; not included in the PMD's counters. One call at a
	 * time. */
	uint64_t (*missed)(const struct haul_port *port);
	/* The most packet buffers that a queue holds, with these ring sizes. NULL: rx + tx. */
	unsigned (*held)(unsigned rx_ring, unsigned tx_ring);
};

/* What a queue has of its own. */
static inline struct hauli_queue_own hauli_queue_own(
	const struct haul_port *port, unsigned queue, bool rx)
{
	const struct hauli_queue_own *own = rx ? port->rx_own : port->tx_own;

	return own && queue < port->queues ? own[queue] : (struct hauli_queue_own){0};
}

/* n vdevs of the kind's driver with distinct names and no arguments yet. 0 or -ENOMEM. */
int hauli_port_vdevs(struct haul_port *port, unsigned n, char *errbuf, size_t errlen);
/*
 * For kinds that cannot know the number of the other side's queues: one, or the number that the
 * user states for both sides (queues=N). 0 or -EINVAL with a line.
 */
int hauli_port_agree(struct haul_port *port, char *errbuf, size_t errlen);
/* Checks that the spec names an interface that is up. 0 or -errno with a line. */
int hauli_port_check_iface(const struct haul_port *port, char *errbuf, size_t errlen);
/* The bytes of a frame that one packet buffer holds. */
uint32_t hauli_port_buffer(const struct haul_port *port);
/* Appends to a vdev's arguments. */
__attribute__((format(printf, 2, 3))) void hauli_vdev_args(
	struct hauli_vdev *vdev, const char *format, ...);
/* Appends a sentence to the notice. */
__attribute__((format(printf, 2, 3))) void hauli_port_note(
	struct haul_port *port, const char *format, ...);
#endif
