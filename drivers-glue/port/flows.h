/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow rules of a port, across starts and stops of its device. */
#ifndef HAULI_PORT_FLOWS_H
#define HAULI_PORT_FLOWS_H

#include <rte_flow.h>

#include "port/kind.h"

struct hauli_flow {
	struct hauli_flow *next; /* a newer one */
	struct rte_flow *handle; /* the PMD's; NULL: it is not created */
	uint64_t id;
	struct rte_flow_conv_rule rule; /* the copy of attr, items and actions follows */
};

/* Copies a rule. NULL: no memory, or with an item or action that DPDK does not know; *error. */
struct hauli_flow *hauli_flow_new(const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);

/* Before a stop of the device: takes all rules out of it. */
void hauli_flows_suspend(struct haul_port *port);
/* After its start: creates those rules again, and forgets the ones that it refuses, with a note. */
void hauli_flows_resume(struct haul_port *port);

/* Takes all rules out of the device, which may be gone, and forgets them. 0 or -errno, *error. */
int hauli_flows_end(struct haul_port *port, struct rte_flow_error *error);

#endif
