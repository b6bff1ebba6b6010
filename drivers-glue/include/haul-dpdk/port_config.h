/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a port, when it is opened (struct haul_port_opts) and later: MTU, RSS,
 * offloads, VLANs, reception filters, flow control, link.
 *
 * A port may consist of several ethdevs. Each function here covers all of them, and what it reads
 * is of the whole port. Called on the thread that opened the port, or on another one that EAL
 * knows; one call at a time. Functions that change return 0, or with one line in errbuf:
 *	-ENOTSUP	the device or its PMD lacks it
 *	-EBUSY		pollers use the port (haul_io_stop() first), for the functions that say so
 *	-EINVAL and others	the PMD refused; the line has its reason
 * If a PMD refuses a change the port is as before, as far as the PMD lets haul restore that.
 */
#ifndef HAUL_DPDK_PORT_CONFIG_H
#define HAUL_DPDK_PORT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_eth_fc_conf;
struct rte_ether_addr;

struct haul_port;

#define HAUL_RSS_KEY_MAX 64

enum haul_rss {
	HAUL_RSS_DEFAULT, /* IP, TCP and UDP, as far as a NIC has them and has several queues */
	HAUL_RSS_OFF,
	HAUL_RSS_FUNCTIONS, /* those of rss_functions */
};

/* Promiscuous, and the same for groups. */
enum haul_filter {
	HAUL_FILTER_DEFAULT, /* as the kind of port needs it, to receive all frames */
	HAUL_FILTER_ON, /* promiscuous */
	HAUL_FILTER_OFF, /* the device may drop frames for others */
};

/* All 0: the defaults. */
struct haul_port_config {
	uint16_t mtu; /* 0: that of the device */
	uint64_t rx_offloads; /* RTE_ETH_RX_OFFLOAD_...; each must be supported */
	uint64_t tx_offloads; /* RTE_ETH_TX_OFFLOAD_... */
	enum haul_rss rss;
	uint64_t rss_functions; /* RTE_ETH_RSS_...; each must be supported */
	uint8_t rss_key[HAUL_RSS_KEY_MAX];
	uint8_t rss_key_len; /* 0: the PMD's key */
	enum haul_filter promiscuous;
	enum haul_filter allmulticast; /* DEFAULT: as the PMD sets it */
	uint32_t link_speeds; /* RTE_ETH_LINK_SPEED_...; 0: what both ends agree upon */
};

/* The configuration that the port has now. */
/* A struct has the same name, of which -Wshadow of C++ would warn. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
HAUL_API const struct haul_port_config *haul_port_config(const struct haul_port *port);
#pragma GCC diagnostic pop

/* Whether the device has all of the configuration that it was opened with or given since: one that
 * was opened with haul_port_opts.leave_out may not. 0; -ENOTSUP or -EINVAL, and errbuf has what it
 * lacks first; -ENODEV: it was detached. */
HAUL_API int haul_port_check_config(const struct haul_port *port, char *errbuf, size_t errlen);

/* Stops reception: haul_port_start() starts it again. -EBUSY while polled. */
HAUL_API int haul_port_stop(struct haul_port *port, char *errbuf, size_t errlen);

/*
 * Sets the MTU: the longest frame without Ethernet header and FCS. A frame must fit a buffer of the
 * pool (haul_pool_create_for()). The kernel interface of the port gets the same MTU, and its former
 * one when the port is closed. -EBUSY while polled.
 */
HAUL_API int haul_port_set_mtu(struct haul_port *port, unsigned mtu, char *errbuf, size_t errlen);

/* Adds rx and tx offloads to those that all queues have (on), or takes them away: reconfigures the
 * port. -EBUSY while polled. */
HAUL_API int haul_port_change_offloads(struct haul_port *port, uint64_t rx_offloads,
	uint64_t tx_offloads, bool on, char *errbuf, size_t errlen);

/* Passes frames with this VLAN id, or drops them; the port needs RTE_ETH_RX_OFFLOAD_VLAN_FILTER. */
HAUL_API int haul_port_pass_vlan(
	struct haul_port *port, uint16_t vlan, bool on, char *errbuf, size_t errlen);

/* Sets the RSS functions (RTE_ETH_RSS_...; 0: none, all packets go to queue 0) and the key (NULL:
 * the same). -EBUSY while polled, unless the PMD changes both on the fly. */
HAUL_API int haul_port_set_rss(struct haul_port *port, uint64_t functions, const uint8_t *key,
	uint8_t key_len, char *errbuf, size_t errlen);
/* Reads them; of a PMD that has RSS and does not tell it, what the port was configured with. key:
 * NULL, or of HAUL_RSS_KEY_MAX bytes; *key_len gets 0 if it is not known. */
HAUL_API int haul_port_get_rss(const struct haul_port *port, uint64_t *functions, uint8_t *key,
	uint8_t *key_len, char *errbuf, size_t errlen);

/* Also while polled. */
HAUL_API int haul_port_set_promiscuous(
	struct haul_port *port, bool on, char *errbuf, size_t errlen);
HAUL_API int haul_port_set_allmulticast(
	struct haul_port *port, bool on, char *errbuf, size_t errlen);
/* An interface that this call, or haul_port_stop(), has set down is no fault
 * (haul_port_fault()). */
HAUL_API int haul_port_set_link(struct haul_port *port, bool up, char *errbuf, size_t errlen);

/*
 * The MAC address of the port (haul_port_mac()), until its device is closed. The kernel interface
 * of a port gets it, too. Also while polled; whoever has read the address before has the old one: a
 * host (haul_host_add_address()), modes of a program. -EINVAL: no address of one host.
 */
HAUL_API int haul_port_set_mac(
	struct haul_port *port, const struct rte_ether_addr *mac, char *errbuf, size_t errlen);
/* Adds an address of one host whose frames the device passes if it is not promiscuous (on), or
 * removes it. Also while polled. */
HAUL_API int haul_port_change_mac(struct haul_port *port, const struct rte_ether_addr *mac, bool on,
	char *errbuf, size_t errlen);
/* Replaces the list of groups whose frames the device passes if it does not pass all. Also while
 * polled. -EINVAL: one is no address of a group. */
HAUL_API int haul_port_set_groups(struct haul_port *port, const struct rte_ether_addr *groups,
	uint16_t n, char *errbuf, size_t errlen);

/* Sets the descriptors of all receive and transmit queues, 0: as they are; the PMD may take other
 * numbers (haul_port_get_queue_info()). Reconfigures the port. -EBUSY while polled. */
HAUL_API int haul_port_set_rings(
	struct haul_port *port, uint16_t rx_ring, uint16_t tx_ring, char *errbuf, size_t errlen);

/*
 * Gives the port another number of queues; what single queues had of their own is gone. The device
 * stays where its PMD lets it (NICs, TAPs, null), else it is closed and opened anew, with all that
 * waits in it. haul_io_reshape() follows before pollers use the port. -EBUSY while polled; -EINVAL:
 * the device cannot have so many, or the number is agreed upon with another side, and the port is
 * as before; or it is detached, if its device cannot be opened again.
 */
HAUL_API int haul_port_set_queues(
	struct haul_port *port, unsigned queues, char *errbuf, size_t errlen);

/*
 * Configures one receive or transmit queue: offloads (RTE_ETH_RX_OFFLOAD_... or TX) besides those
 * of the port, and whether a start of the port leaves it stopped (deferred; PMDs that do not stop
 * single queues start it all the same). Reconfigures the port. -EBUSY while polled, -EINVAL: there
 * is no such queue, -ENOTSUP: the device has an offload not, or only for all queues.
 */
HAUL_API int haul_port_set_queue(struct haul_port *port, unsigned queue, bool rx, uint64_t offloads,
	bool deferred, char *errbuf, size_t errlen);

/* Starts or stops a queue of the device, where the PMD does that for single ones; a port that is
 * started anew has started all but deferred ones. Pollers that start while a queue is stopped do
 * not receive from it, and drop what is sent on it (HAUL_DROP_TX_REFUSED). -EBUSY while polled;
 * -EINVAL: there is no such queue, or the port is stopped. */
HAUL_API int haul_port_switch_queue(
	struct haul_port *port, unsigned queue, bool rx, bool start, char *errbuf, size_t errlen);

/* Pause frames: what the device has, and another configuration. Also while polled. */
HAUL_API int haul_port_get_flow_control(
	const struct haul_port *port, struct rte_eth_fc_conf *conf, char *errbuf, size_t errlen);
HAUL_API int haul_port_set_flow_control(
	struct haul_port *port, const struct rte_eth_fc_conf *conf, char *errbuf, size_t errlen);

/* Lets the device take this UDP port for VXLAN (on), or not. Also while polled. */
HAUL_API int haul_port_take_vxlan(
	struct haul_port *port, uint16_t udp_port, bool on, char *errbuf, size_t errlen);

/* Lets the device tell only the packet types within the mask (RTE_PTYPE_..._MASK): less may cost
 * it less. Also while polled. */
HAUL_API int haul_port_set_ptypes(
	struct haul_port *port, uint32_t mask, char *errbuf, size_t errlen);

/* Lets the device insert this VLAN's tag into each frame without one that it sends (on), or not.
 * Also while polled. */
HAUL_API int haul_port_set_pvid(
	struct haul_port *port, uint16_t vlan, bool on, char *errbuf, size_t errlen);
/* The Ethernet type by which the device knows outer or inner VLAN tags. Also while polled. */
HAUL_API int haul_port_set_vlan_type(
	struct haul_port *port, bool outer, uint16_t type, char *errbuf, size_t errlen);

/* Sets the speeds that the link may have (RTE_ETH_LINK_SPEED_...; 0: what both ends agree upon).
 * Reconfigures the port. -EBUSY while polled. */
HAUL_API int haul_port_set_speeds(
	struct haul_port *port, uint32_t speeds, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
