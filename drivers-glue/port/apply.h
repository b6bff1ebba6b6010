/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of an open port, or changed: on each of its ethdevs. */
#ifndef HAULI_PORT_APPLY_H
#define HAULI_PORT_APPLY_H

#include "port/kind.h"

struct hauli_change {
	const char *what; /* "promiscuous mode" */
	int (*fn)(uint16_t port_id, const struct hauli_change *change);
	bool on;
	uint16_t number;
	uint32_t bits;
	struct rte_eth_fc_conf *flow_control;
	struct rte_eth_rss_conf *rss;
	struct rte_eth_rss_reta_entry64 *reta; /* of `number` entries */
	const struct rte_ether_addr *macs; /* one, or `number` of them */
};

/* Calls fn for each ethdev. 0; or -errno with one line: what the PMD has said, or -ENODEV if the
 * port is detached. */
int hauli_port_apply(
	struct haul_port *port, const struct hauli_change *change, char *errbuf, size_t errlen);

#endif
