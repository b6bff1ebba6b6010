/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_flow_conv(), up to DPDK 26.07 */
#include "port/flows.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

struct hauli_flow *hauli_flow_new(const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	const struct rte_flow_conv_rule rule = {
		.attr_ro = attr, .pattern_ro = pattern, .actions_ro = actions};
	struct hauli_flow *flow;
	int size = rte_flow_conv(RTE_FLOW_CONV_OP_RULE, NULL, 0, &rule, error);

	if (size < 0)
		return NULL;
	flow = calloc(1, offsetof(struct hauli_flow, rule) + (size_t)size);
	if (!flow) {
		rte_flow_error_set(
			error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no memory");
		return NULL;
	}
	if (rte_flow_conv(RTE_FLOW_CONV_OP_RULE, &flow->rule, (size_t)size, &rule, error) < 0) {
		free(flow);
		return NULL;
	}
	return flow;
}

static int flush(struct haul_port *port, struct rte_flow_error *error)
{
	rte_errno = 0;
	if (!port->flows || rte_flow_flush(port->vdevs[0].port_id, error) == 0)
		return 0;
	return rte_errno > 0 ? -rte_errno : -EIO;
}

void hauli_flows_suspend(struct haul_port *port)
{
	struct rte_flow_error error = {0};

	(void)flush(port, &error);
	for (struct hauli_flow *flow = port->flows; flow; flow = flow->next)
		flow->handle = NULL;
}

void hauli_flows_resume(struct haul_port *port)
{
	struct hauli_flow **at = &port->flows, *flow;

	while ((flow = *at)) {
		struct rte_flow_error error = {0};

		if (!flow->handle)
			flow->handle = rte_flow_create(port->vdevs[0].port_id, flow->rule.attr,
				flow->rule.pattern, flow->rule.actions, &error);
		if (flow->handle) {
			at = &flow->next;
			continue;
		}
		hauli_port_note(port, "flow rule %" PRIu64 " is gone: %s", flow->id,
			error.message ? error.message : strerror(rte_errno));
		*at = flow->next;
		free(flow);
	}
}

int hauli_flows_end(struct haul_port *port, struct rte_flow_error *error)
{
	int err = flush(port, error);

	for (struct hauli_flow *flow = port->flows, *next; flow; flow = next) {
		next = flow->next;
		free(flow);
	}
	port->flows = NULL;
	return err;
}
