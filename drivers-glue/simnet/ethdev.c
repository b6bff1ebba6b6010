/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of ethdev for simulated devices. Those for others go on to DPDK. */
#define HAULI_SIMNET_REAL
#include "simnet/ethdev.h"

#include <errno.h>
#include <string.h>

#include "sim/world.h"
#include "simnet/device.h"
#include "simnet/link.h"

#define RINGS                                              \
	{                                                  \
		.nb_max = 4096, .nb_min = 1, .nb_align = 1 \
	}
#define QUEUES_MOST 64

#define OR_DPDK(d, call)             \
	do {                         \
		if (!(d))            \
			return call; \
	} while (0)

/* Alarms are for the interrupt thread, which has nothing to do with simulated devices. */
int hauli_simnet_eal_alarm_set(uint64_t us, rte_eal_alarm_callback fn, void *arg)
{
	if (!hauli_sim_is_on())
		return rte_eal_alarm_set(us, fn, arg);
	fn(arg);
	return 0;
}

int hauli_simnet_eal_hotplug_add(const char *bus, const char *name, const char *args)
{
	return strncmp(name, "net_sim", 7) == 0 ? hauli_simnet_attach(name, args)
						: rte_eal_hotplug_add(bus, name, args);
}

int hauli_simnet_eal_hotplug_remove(const char *bus, const char *name)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev_of(name);

	OR_DPDK(d, rte_eal_hotplug_remove(bus, name));
	hauli_simnet_detach(d);
	return 0;
}

int hauli_simnet_eth_dev_get_port_by_name(const char *name, uint16_t *id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev_of(name);

	OR_DPDK(d, rte_eth_dev_get_port_by_name(name, id));
	*id = d->id;
	return 0;
}

int hauli_simnet_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_info_get(id, info));
	*info = (struct rte_eth_dev_info){
		.driver_name = "net_sim",
		.min_mtu = RTE_ETHER_MIN_MTU,
		.max_mtu = 9000,
		.max_rx_pktlen = 9018,
		.max_rx_queues = QUEUES_MOST,
		.max_tx_queues = QUEUES_MOST,
		.max_mac_addrs = 1,
		.tx_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
		.rx_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER,
		.rx_desc_lim = RINGS,
		.tx_desc_lim = RINGS,
		.nb_rx_queues = d->nb_rx,
		.nb_tx_queues = d->nb_tx,
	};
	info->rx_desc_lim.nb_seg_max = info->tx_desc_lim.nb_seg_max = UINT16_MAX;
	info->tx_desc_lim.nb_mtu_seg_max = UINT16_MAX;
	return 0;
}

int hauli_simnet_eth_dev_configure(
	uint16_t id, uint16_t nb_rx, uint16_t nb_tx, const struct rte_eth_conf *conf)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_configure(id, nb_rx, nb_tx, conf));
	if (conf->rxmode.mtu)
		d->mtu = (uint16_t)conf->rxmode.mtu;
	return hauli_simnet_configure(d, nb_rx, nb_tx);
}

int hauli_simnet_eth_dev_adjust_nb_rx_tx_desc(uint16_t id, uint16_t *rx, uint16_t *tx)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_dev_adjust_nb_rx_tx_desc(id, rx, tx));
	return 0;
}

/* Nothing happens to a simulated device of which it would tell. */
int hauli_simnet_dev_event_callback_register(const char *name, rte_dev_event_cb_fn fn, void *arg)
{
	OR_DPDK(hauli_simnet_dev_of(name), rte_dev_event_callback_register(name, fn, arg));
	return 0;
}

int hauli_simnet_dev_event_callback_unregister(const char *name, rte_dev_event_cb_fn fn, void *arg)
{
	OR_DPDK(hauli_simnet_dev_of(name), rte_dev_event_callback_unregister(name, fn, arg));
	return 1;
}

int hauli_simnet_eth_dev_callback_register(
	uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn fn, void *arg)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_dev_callback_register(id, event, fn, arg));
	return 0;
}

int hauli_simnet_eth_dev_callback_unregister(
	uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn fn, void *arg)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_dev_callback_unregister(id, event, fn, arg));
	return 0;
}

int hauli_simnet_eth_rx_queue_setup(uint16_t id, uint16_t q, uint16_t ring, unsigned socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_rx_queue_setup(id, q, ring, socket, conf, pool));
	return hauli_simnet_set_up_rxq(d, q, ring, pool);
}

int hauli_simnet_eth_rx_queue_info_get(uint16_t id, uint16_t q, struct rte_eth_rxq_info *info)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_rx_queue_info_get(id, q, info));
	*info = (struct rte_eth_rxq_info){
		.mp = d->rxqs[q].pool, .nb_desc = (uint16_t)d->rxqs[q].size};
	return 0;
}

int hauli_simnet_eth_tx_queue_setup(
	uint16_t id, uint16_t q, uint16_t ring, unsigned socket, const struct rte_eth_txconf *conf)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_tx_queue_setup(id, q, ring, socket, conf));
	d->tx_ring = ring;
	return 0;
}

int hauli_simnet_eth_dev_socket_id(uint16_t id)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_dev_socket_id(id));
	return SOCKET_ID_ANY;
}

static int copied(uint16_t id, int rc)
{
	if (id < RTE_MAX_ETHPORTS)
		hauli_simnet_fp_ops[id] = rte_eth_fp_ops[id];
	return rc;
}

int hauli_simnet_eth_dev_start(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, copied(id, rte_eth_dev_start(id)));
	d->started = true;
	return 0;
}

int hauli_simnet_eth_dev_stop(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, copied(id, rte_eth_dev_stop(id)));
	hauli_simnet_stop(d);
	return 0;
}

int hauli_simnet_eth_dev_close(uint16_t id)
{
	OR_DPDK(hauli_simnet_dev(id), copied(id, rte_eth_dev_close(id)));
	return 0; /* until it is removed */
}

int hauli_simnet_eth_macaddr_get(uint16_t id, struct rte_ether_addr *mac)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_macaddr_get(id, mac));
	*mac = d->mac;
	return 0;
}

int hauli_simnet_eth_dev_default_mac_addr_set(uint16_t id, struct rte_ether_addr *mac)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_default_mac_addr_set(id, mac));
	d->mac = *mac;
	return 0;
}

int hauli_simnet_eth_dev_get_mtu(uint16_t id, uint16_t *mtu)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_get_mtu(id, mtu));
	*mtu = d->mtu;
	return 0;
}

int hauli_simnet_eth_dev_set_mtu(uint16_t id, uint16_t mtu)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_set_mtu(id, mtu));
	d->mtu = mtu;
	return 0;
}

static int set(bool *what, bool value)
{
	*what = value;
	return 0;
}

int hauli_simnet_eth_promiscuous_enable(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_promiscuous_enable(id));
	return set(&d->promiscuous, true);
}

int hauli_simnet_eth_promiscuous_disable(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_promiscuous_disable(id));
	return set(&d->promiscuous, false);
}

int hauli_simnet_eth_promiscuous_get(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_promiscuous_get(id));
	return d->promiscuous;
}

int hauli_simnet_eth_allmulticast_enable(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_allmulticast_enable(id));
	return set(&d->allmulticast, true);
}

int hauli_simnet_eth_allmulticast_disable(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_allmulticast_disable(id));
	return set(&d->allmulticast, false);
}

int hauli_simnet_eth_allmulticast_get(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_allmulticast_get(id));
	return d->allmulticast;
}

int hauli_simnet_eth_link_get_nowait(uint16_t id, struct rte_eth_link *link)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_link_get_nowait(id, link));
	*link = (struct rte_eth_link){
		.link_speed = d->node->out ? hauli_simlink_mbps(d->node->out) : 0,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_status = d->node->out && hauli_simlink_is_up(d->node->out),
	};
	return 0;
}

static int set_link(struct hauli_simnet_dev *d, bool up)
{
	if (d->node->out)
		hauli_simlink_set_up(d->node->out, up);
	return 0;
}

int hauli_simnet_eth_dev_set_link_up(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_set_link_up(id));
	return set_link(d, true);
}

int hauli_simnet_eth_dev_set_link_down(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_set_link_down(id));
	return set_link(d, false);
}

int hauli_simnet_eth_stats_get(uint16_t id, struct rte_eth_stats *stats)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_stats_get(id, stats));
	*stats = d->stats;
	return 0;
}

int hauli_simnet_eth_stats_reset(uint16_t id)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_stats_reset(id));
	memset(&d->stats, 0, sizeof(d->stats));
	return 0;
}

int hauli_simnet_eth_xstats_get(uint16_t id, struct rte_eth_xstat *xstats, unsigned n)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_xstats_get(id, xstats, n));
	return 0;
}

int hauli_simnet_eth_xstats_get_names(uint16_t id, struct rte_eth_xstat_name *names, unsigned n)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_xstats_get_names(id, names, n));
	return 0;
}

int hauli_simnet_eth_dev_rx_intr_ctl_q_get_fd(uint16_t id, uint16_t q)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_dev_rx_intr_ctl_q_get_fd(id, q));
	return hauli_simnet_fd(d, q);
}

uint16_t hauli_simnet_rx_burst(uint16_t id, uint16_t q, struct rte_mbuf **pkts, uint16_t n)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_rx_burst(id, q, pkts, n));
	return hauli_simnet_fp_ops[id].rx_pkt_burst(hauli_simnet_fp_ops[id].rxq.data[q], pkts, n);
}

uint16_t hauli_simnet_tx_burst(uint16_t id, uint16_t q, struct rte_mbuf **pkts, uint16_t n)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_tx_burst(id, q, pkts, n));
	return hauli_simnet_fp_ops[id].tx_pkt_burst(hauli_simnet_fp_ops[id].txq.data[q], pkts, n);
}

int hauli_simnet_rx_queue_count(uint16_t id, uint16_t q)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_rx_queue_count(id, q));
	return (int)d->rxqs[q].n;
}

int hauli_simnet_rx_descriptor_status(uint16_t id, uint16_t q, uint16_t offset)
{
	struct hauli_simnet_dev *d = hauli_simnet_dev(id);

	OR_DPDK(d, rte_eth_rx_descriptor_status(id, q, offset));
	return offset < d->rxqs[q].n ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}

int hauli_simnet_tx_descriptor_status(uint16_t id, uint16_t q, uint16_t offset)
{
	OR_DPDK(hauli_simnet_dev(id), rte_eth_tx_descriptor_status(id, q, offset));
	return RTE_ETH_TX_DESC_DONE;
}
