/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow rules of a port (rte_flow): the device itself drops, marks or counts packets, or gives them
 * to a queue. Which items and actions there are is up to the PMD; many have none at all.
 *
 * A port keeps its rules until they are destroyed, haul_port_stop(), or the close of its device
 * (haul_io_detach_port(), haul_port_close()). Other changes that stop the device for a moment
 * (haul_port_set_rings(), offloads) create them anew; what the device refuses then is gone.
 *
 * Called on the thread that opened the port, or on another one that EAL knows; one call at a time;
 * also while pollers use the port. Functions return 0 or -errno, and fill *error as rte_flow's do
 * (NULL: not); its message stays valid for as long as the program runs:
 *	-ENODEV		the device is closed
 *	-ENOSYS		the PMD has no flow rules
 *	-ENOTSUP	the PMD does not have these ones, or the port has a device per queue
 *	-ENOENT		there is no such rule
 */
#ifndef HAUL_DPDK_PORT_FLOW_H
#define HAUL_DPDK_PORT_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_flow_action;
struct rte_flow_attr;
struct rte_flow_error;
struct rte_flow_item;

struct haul_port;

/* A rule that a port has, until it is destroyed. The lists end with an item and an action of type
 * ..._END. */
struct haul_port_flow {
	uint64_t id; /* begins with 0; the one after that of the newest rule that is left */
	const struct rte_flow_attr *attr;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
};

/* Asks the PMD whether the device can have the rule. */
HAUL_API int haul_port_flow_validate(struct haul_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);

/* Creates a rule, of which the port makes a copy. *id gets its number. */
HAUL_API int haul_port_flow_create(struct haul_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions, uint64_t *id,
	struct rte_flow_error *error);

/* A rule that the PMD does not destroy stays. */
HAUL_API int haul_port_flow_destroy(
	struct haul_port *port, uint64_t id, struct rte_flow_error *error);

/* Destroys all rules. They are gone also after an error. */
HAUL_API int haul_port_flow_flush(struct haul_port *port, struct rte_flow_error *error);

/* Reads what an action of a rule has counted: *data is the struct rte_flow_query_... of the
 * action's type. */
HAUL_API int haul_port_flow_query(struct haul_port *port, uint64_t id,
	const struct rte_flow_action *action, void *data, struct rte_flow_error *error);

/* Receives only what rules give to queues (on), or also the rest. */
HAUL_API int haul_port_flow_isolate(struct haul_port *port, bool on, struct rte_flow_error *error);

/* The rule with index i; 0 is the oldest one. -ENOENT: there are no more. */
HAUL_API int haul_port_flow_get(
	const struct haul_port *port, unsigned i, struct haul_port_flow *flow);

#ifdef __cplusplus
}
#endif

#endif
