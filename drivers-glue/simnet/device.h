/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network device: queues of packets that have arrived, and a way to its node. */
#ifndef HAULI_SIMNET_DEVICE_H
#define HAULI_SIMNET_DEVICE_H

#include <rte_ethdev.h>

#include "sim/heap.h"
#include "simnet/net.h"

struct hauli_simnet_dev;

struct hauli_simnet_rxq {
	struct hauli_simnet_dev *dev;
	struct rte_mempool *pool;
	struct rte_mbuf **pkts; /* a ring, of `size` */
	unsigned first, n, size;
	int fd; /* readable while there are packets; -1: nobody waits */
};

struct hauli_simnet_dev {
	uint16_t id;
	char name[64];
	struct hauli_node *node;
	unsigned host; /* of the simulation, that has opened it */
	bool started, promiscuous, allmulticast;
	struct rte_ether_addr mac;
	uint16_t mtu, nb_rx, nb_tx, tx_ring;
	struct hauli_simnet_rxq *rxqs;
	void **rx_data, **tx_data, **none; /* what bursts get, by queue; and no callbacks */
	struct rte_eth_stats stats;
	struct hauli_sim_timer room; /* when a queue that was full has some */
};

/* args: "NODE". 0 or -errno. */
int hauli_simnet_attach(const char *name, const char *args);
void hauli_simnet_detach(struct hauli_simnet_dev *d);
/* NULL: none. */
struct hauli_simnet_dev *hauli_simnet_dev(uint16_t id);
struct hauli_simnet_dev *hauli_simnet_dev_of(const char *name);

int hauli_simnet_configure(struct hauli_simnet_dev *d, uint16_t nb_rx, uint16_t nb_tx);
int hauli_simnet_set_up_rxq(
	struct hauli_simnet_dev *d, uint16_t q, uint16_t ring, struct rte_mempool *pool);
void hauli_simnet_stop(struct hauli_simnet_dev *d);
/* Frees those of a host that is gone. */
void hauli_simnet_detach_host(unsigned host);

/* A descriptor that is readable while queue q has packets; -1: none. The device closes it. */
int hauli_simnet_fd(struct hauli_simnet_dev *d, uint16_t q);

#endif
