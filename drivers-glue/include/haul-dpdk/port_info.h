/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the PMD of a port tells: facts and statistics. A port may consist of several ethdevs:
 * figures are sums over them, and queues are numbered as those of the port. Called on the thread
 * that opened the port, or on another one that EAL knows; one call at a time; also while pollers
 * use the port.
 */
#ifndef HAUL_DPDK_PORT_INFO_H
#define HAUL_DPDK_PORT_INFO_H

#include <rte_ethdev.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_port;

struct haul_port_info {
	struct rte_eth_dev_info dev; /* of the first ethdev */
	struct rte_eth_link link; /* up if the link of each ethdev is */
	unsigned ethdevs;
	unsigned rx_queues, tx_queues; /* of the port */
	int socket; /* NUMA node; -1: any */
	uint16_t mtu;
	bool promiscuous, allmulticast;
	int vlan_offload; /* RTE_ETH_VLAN_..._OFFLOAD */
	uint64_t rx_offloads, tx_offloads; /* RTE_ETH_RX_OFFLOAD_...: those in use */
	char device[RTE_ETH_NAME_MAX_LEN]; /* of the first ethdev */
	char firmware[64]; /* its version; "" if the PMD does not tell */
	const char *devargs; /* with which haul made the first ethdev; the port owns them */
	int pool_socket; /* NUMA node of the pool; -1: any */
};
/* A device of DPDK behind a port. The texts last until it is closed. */
struct haul_port_device {
	char name[RTE_ETH_NAME_MAX_LEN];
	const char *bus, *driver;
	const char *args; /* "": none */
	int socket; /* NUMA node; -1: none */
	uint32_t speeds; /* RTE_ETH_LINK_SPEED_...; 0: any */
};
/* The i-th device: most ports have one, some one for each queue. Main thread. 0; -ENODEV: there is
 * no i-th, or the port is detached; -EIO. */
HAUL_API int haul_port_get_device(
	const struct haul_port *port, unsigned i, struct haul_port_device *device);

/* Fills *info. Returns 0, or -errno: the device does not answer. */
HAUL_API int haul_port_get_info(const struct haul_port *port, struct haul_port_info *info);
/* True if each ethdev has a link, and the interface, if there is one. False without a device. */
HAUL_API bool haul_port_has_link(const struct haul_port *port);

#define HAUL_XSTAT_NAME 64
struct haul_port_xstat {
	char name[HAUL_XSTAT_NAME]; /* "rx_q0_packets" */
	uint64_t value; /* since the last haul_port_reset_stats() */
};
/* Fills up to n elements. Returns the number that the port has, or -errno: more than n: stats has
 * no values. */
HAUL_API int haul_port_get_xstats(
	const struct haul_port *port, struct haul_port_xstat *stats, unsigned n);

/* The basic statistics of the PMDs. 0 or -errno. Without those of queues. */
HAUL_API int haul_port_get_stats(const struct haul_port *port, struct rte_eth_stats *stats);

/* Both functions above count from 0 again. The counters of the PMDs are left alone, since others
 * read them too: haul_io_get_stats() is not affected. */
HAUL_API void haul_port_reset_stats(struct haul_port *port);

/* A receive or transmit queue. */
struct haul_queue_info {
	struct rte_eth_rxq_info rx; /* this, or the next one */
	struct rte_eth_txq_info tx;
	uint64_t offloads; /* besides those of the port: haul_port_set_queue(), as the next */
	bool deferred;
	bool stopped; /* by haul_port_switch_queue(), as deferred, or with the port */
	bool has_mode; /* false: the PMD does not tell the next one */
	struct rte_eth_burst_mode mode;
};
/* Fills *info for the rx or the tx queue. Returns 0; -EINVAL (no such queue), -ENODEV (no device);
 * or another -errno: the PMD tells nothing, and rx, tx and mode are 0. */
HAUL_API int haul_port_get_queue_info(
	const struct haul_port *port, unsigned queue, bool rx, struct haul_queue_info *info);

/* The state of the descriptor `offset` places behind the next one that the queue uses:
 * RTE_ETH_RX_DESC_... or RTE_ETH_TX_DESC_.... It may be another by now. -EINVAL (no such queue, or
 * the ring has fewer), -ENOTSUP, -ENODEV. */
HAUL_API int haul_port_get_descriptor(
	const struct haul_port *port, unsigned queue, bool rx, uint16_t offset);
/* How many descriptors of the queue have packets: received and not polled yet, or given to the
 * device. -EINVAL, -ENOTSUP (of transmit queues also before DPDK 24.03), -ENODEV. */
HAUL_API int haul_port_count_descriptors(const struct haul_port *port, unsigned queue, bool rx);

/* Fills up to n elements with the packet types (RTE_PTYPE_...) within the mask that the device
 * tells. Returns their number, also if it is more than n; -ENODEV. */
HAUL_API int haul_port_get_ptypes(
	const struct haul_port *port, uint32_t mask, uint32_t *ptypes, unsigned n);

/* Reads the EEPROM of the first ethdev into data. Returns its length in bytes, also if that is more
 * than size, and nothing is read; -ENOTSUP, -ENODEV and others. */
HAUL_API int haul_port_read_eeprom(const struct haul_port *port, void *data, size_t size);

/*
 * Calls fn with each burst that a queue receives (rx), before its handler, or that is given to its
 * transmit queue, on the thread that does so. A burst that did not fit a transmit queue is given to
 * it again, and then shown again. fn changes nothing, and must not suspend. Returns a handle, or
 * NULL: no such queue, or no memory. haul_port_remove_callback() ends it, also after the port is
 * closed. Both while no poller uses the port, in the thread that opened it. A port whose device
 * comes later, or gets another one, is seen then.
 */
typedef void haul_port_callback_fn(struct rte_mbuf **pkts, uint16_t n, void *arg);
struct haul_port_callback;
HAUL_API struct haul_port_callback *haul_port_add_callback(
	struct haul_port *port, unsigned queue, bool rx, haul_port_callback_fn *fn, void *arg);
HAUL_API void haul_port_remove_callback(struct haul_port_callback *callback);

#ifdef __cplusplus
}
#endif

#endif
