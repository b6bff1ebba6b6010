/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before everything else in sources of drivers-glue that are compiled for simulation:
 * calls to ethdev that concern a simulated device (device.h) are answered by ethdev.c. DPDK's table
 * has room for 32 devices; simulated ones have numbers above it.
 */
#if !defined(HAULI_SIMNET_ETHDEV_H) && !defined(__ASSEMBLER__)
#define HAULI_SIMNET_ETHDEV_H

#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "simnet/pool.h"

#define HAULI_SIMNET_FIRST 1024u
#define HAULI_SIMNET_MOST 16384u

/* By device. Of DPDK's own: a copy, made when it starts and stops. */
extern struct rte_eth_fp_ops hauli_simnet_fp_ops[HAULI_SIMNET_FIRST + HAULI_SIMNET_MOST];

#define HAULI_SIMNET_CALLS(CALL)            \
	CALL(dev_event_callback_register)   \
	CALL(dev_event_callback_unregister) \
	CALL(eal_alarm_set)                 \
	CALL(eal_hotplug_add)               \
	CALL(eal_hotplug_remove)            \
	CALL(eth_allmulticast_disable)      \
	CALL(eth_allmulticast_enable)       \
	CALL(eth_allmulticast_get)          \
	CALL(eth_dev_adjust_nb_rx_tx_desc)  \
	CALL(eth_dev_callback_register)     \
	CALL(eth_dev_callback_unregister)   \
	CALL(eth_dev_close)                 \
	CALL(eth_dev_configure)             \
	CALL(eth_dev_default_mac_addr_set)  \
	CALL(eth_dev_get_mtu)               \
	CALL(eth_dev_get_port_by_name)      \
	CALL(eth_dev_info_get)              \
	CALL(eth_dev_rx_intr_ctl_q_get_fd)  \
	CALL(eth_dev_set_link_down)         \
	CALL(eth_dev_set_link_up)           \
	CALL(eth_dev_set_mtu)               \
	CALL(eth_dev_socket_id)             \
	CALL(eth_dev_start)                 \
	CALL(eth_dev_stop)                  \
	CALL(eth_link_get_nowait)           \
	CALL(eth_macaddr_get)               \
	CALL(eth_promiscuous_disable)       \
	CALL(eth_promiscuous_enable)        \
	CALL(eth_promiscuous_get)           \
	CALL(eth_rx_queue_info_get)         \
	CALL(eth_rx_queue_setup)            \
	CALL(eth_stats_get)                 \
	CALL(eth_stats_reset)               \
	CALL(eth_tx_queue_setup)            \
	CALL(eth_xstats_get)                \
	CALL(eth_xstats_get_names)

#define HAULI_SIMNET_DECLARE(name) extern __typeof__(rte_##name) hauli_simnet_##name;
HAULI_SIMNET_CALLS(HAULI_SIMNET_DECLARE)
#undef HAULI_SIMNET_DECLARE

uint16_t hauli_simnet_rx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
uint16_t hauli_simnet_tx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
int hauli_simnet_rx_queue_count(uint16_t port, uint16_t queue);
int hauli_simnet_rx_descriptor_status(uint16_t port, uint16_t queue, uint16_t offset);
int hauli_simnet_tx_descriptor_status(uint16_t port, uint16_t queue, uint16_t offset);

#ifndef HAULI_SIMNET_REAL
#define rte_mempool_create_empty hauli_simnet_mempool_create_empty
#define rte_mempool_populate_default hauli_simnet_mempool_populate_default
#define rte_zmalloc_socket hauli_simnet_zmalloc_socket
#define rte_free hauli_simnet_free
#define rte_eth_rx_burst hauli_simnet_rx_burst
#define rte_eth_tx_burst hauli_simnet_tx_burst
#define rte_eth_rx_queue_count hauli_simnet_rx_queue_count
#define rte_eth_rx_descriptor_status hauli_simnet_rx_descriptor_status
#define rte_eth_tx_descriptor_status hauli_simnet_tx_descriptor_status

#define rte_dev_event_callback_register hauli_simnet_dev_event_callback_register
#define rte_dev_event_callback_unregister hauli_simnet_dev_event_callback_unregister
#define rte_eal_alarm_set hauli_simnet_eal_alarm_set
#define rte_eal_hotplug_add hauli_simnet_eal_hotplug_add
#define rte_eal_hotplug_remove hauli_simnet_eal_hotplug_remove
#define rte_eth_allmulticast_disable hauli_simnet_eth_allmulticast_disable
#define rte_eth_allmulticast_enable hauli_simnet_eth_allmulticast_enable
#define rte_eth_allmulticast_get hauli_simnet_eth_allmulticast_get
#define rte_eth_dev_adjust_nb_rx_tx_desc hauli_simnet_eth_dev_adjust_nb_rx_tx_desc
#define rte_eth_dev_callback_register hauli_simnet_eth_dev_callback_register
#define rte_eth_dev_callback_unregister hauli_simnet_eth_dev_callback_unregister
#define rte_eth_dev_close hauli_simnet_eth_dev_close
#define rte_eth_dev_configure hauli_simnet_eth_dev_configure
#define rte_eth_dev_default_mac_addr_set hauli_simnet_eth_dev_default_mac_addr_set
#define rte_eth_dev_get_mtu hauli_simnet_eth_dev_get_mtu
#define rte_eth_dev_get_port_by_name hauli_simnet_eth_dev_get_port_by_name
#define rte_eth_dev_info_get hauli_simnet_eth_dev_info_get
#define rte_eth_dev_rx_intr_ctl_q_get_fd hauli_simnet_eth_dev_rx_intr_ctl_q_get_fd
#define rte_eth_dev_set_link_down hauli_simnet_eth_dev_set_link_down
#define rte_eth_dev_set_link_up hauli_simnet_eth_dev_set_link_up
#define rte_eth_dev_set_mtu hauli_simnet_eth_dev_set_mtu
#define rte_eth_dev_socket_id hauli_simnet_eth_dev_socket_id
#define rte_eth_dev_start hauli_simnet_eth_dev_start
#define rte_eth_dev_stop hauli_simnet_eth_dev_stop
#define rte_eth_link_get_nowait hauli_simnet_eth_link_get_nowait
#define rte_eth_macaddr_get hauli_simnet_eth_macaddr_get
#define rte_eth_promiscuous_disable hauli_simnet_eth_promiscuous_disable
#define rte_eth_promiscuous_enable hauli_simnet_eth_promiscuous_enable
#define rte_eth_promiscuous_get hauli_simnet_eth_promiscuous_get
#define rte_eth_rx_queue_info_get hauli_simnet_eth_rx_queue_info_get
#define rte_eth_rx_queue_setup hauli_simnet_eth_rx_queue_setup
#define rte_eth_stats_get hauli_simnet_eth_stats_get
#define rte_eth_stats_reset hauli_simnet_eth_stats_reset
#define rte_eth_tx_queue_setup hauli_simnet_eth_tx_queue_setup
#define rte_eth_xstats_get hauli_simnet_eth_xstats_get
#define rte_eth_xstats_get_names hauli_simnet_eth_xstats_get_names
#endif

#endif
