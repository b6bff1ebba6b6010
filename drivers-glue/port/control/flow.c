/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules that users give a port. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include <haul-dpdk/port_flow.h>

#include "base/assert.h"
#include "eal/log.h"
#include "port/flows.h"

static int fail(struct rte_flow_error *error, int err, const char *message)
{
	return rte_flow_error_set(error, err, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, message);
}

/* 0 if the port has one device; else -errno. */
static int begin(const struct haul_port *port, struct rte_flow_error *error)
{
	if (error)
		*error = (struct rte_flow_error){.type = RTE_FLOW_ERROR_TYPE_UNSPECIFIED};
	rte_errno = 0;
	if (port->detached)
		return fail(error, ENODEV, "the port has no device");
	if (port->nb_vdevs != 1)
		return fail(error, ENOTSUP, "the port has a device per queue");
	return 0;
}

/* -errno after a function of rte_flow that returned err. Not all PMDs set rte_errno. */
static int error_of(int err)
{
	if (err == 0)
		return 0;
	if (rte_errno > 0)
		return -rte_errno;
	return err < -1 ? err : -EIO;
}

/* The same after hauli_log_hold(): the user gets the PMD's words by rte_flow_error. */
static int result(int err)
{
	char line[HAULI_LOG_LINE];

	err = error_of(err);
	hauli_log_release(line);
	return err;
}

static struct hauli_flow **find(struct haul_port *port, uint64_t id)
{
	struct hauli_flow **at = &port->flows;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static bool has_rss(const struct rte_flow_action *actions)
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++)
		if (actions->type == RTE_FLOW_ACTION_TYPE_RSS)
			return true;
	return false;
}

/* 0 if the PMD can be asked for these actions: a rule that no packet matches is created, and
 * destroyed. Within hauli_log_hold(). */
static int try_rule(const struct haul_port *port, const struct rte_flow_action *wanted,
	struct rte_flow_error *error)
{
	static const struct rte_flow_attr attr = {.ingress = 1};
	static const struct rte_flow_item_eth nobody = {0},
					      all = {.hdr.dst_addr.addr_bytes = {
							     0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &nobody, .mask = &all},
		{.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP}, {.type = RTE_FLOW_ACTION_TYPE_END}};
	const uint16_t port_id = port->vdevs[0].port_id;
	struct rte_flow *handle;

	if (!port->kind->tries_flows || !has_rss(wanted))
		return 0;
	handle = rte_flow_create(port_id, &attr, pattern, actions, error);
	return handle ? rte_flow_destroy(port_id, handle, error) : -1;
}

int haul_port_flow_validate(struct haul_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(!attr || !pattern || !actions, "a part of the rule is NULL");
	err = begin(port, error);
	if (err < 0)
		return err;
	hauli_log_hold();
	err = try_rule(port, actions, error);
	if (err == 0)
		err = rte_flow_validate(port->vdevs[0].port_id, attr, pattern, actions, error);
	return result(err);
}

int haul_port_flow_create(struct haul_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions, uint64_t *id,
	struct rte_flow_error *error)
{
	struct hauli_flow **end, *newest = NULL, *flow;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(!attr || !pattern || !actions || !id, "a part of the rule, or id, is NULL");
	err = begin(port, error);
	if (err < 0)
		return err;
	flow = hauli_flow_new(attr, pattern, actions, error);
	if (!flow)
		return error_of(-1);
	hauli_log_hold();
	if (try_rule(port, actions, error) == 0)
		flow->handle =
			rte_flow_create(port->vdevs[0].port_id, attr, pattern, actions, error);
	err = result(flow->handle ? 0 : -1);
	if (err < 0) {
		free(flow);
		return err;
	}
	for (end = &port->flows; *end; end = &(*end)->next)
		newest = *end;
	flow->id = newest ? newest->id + 1 : 0;
	*end = flow;
	*id = flow->id;
	return 0;
}

int haul_port_flow_destroy(struct haul_port *port, uint64_t id, struct rte_flow_error *error)
{
	struct hauli_flow **at, *flow;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = begin(port, error);
	if (err < 0)
		return err;
	at = find(port, id);
	flow = *at;
	if (!flow)
		return fail(error, ENOENT, "there is no such rule");
	hauli_log_hold();
	err = result(rte_flow_destroy(port->vdevs[0].port_id, flow->handle, error));
	if (err < 0)
		return err;
	*at = flow->next;
	free(flow);
	return 0;
}

int haul_port_flow_flush(struct haul_port *port, struct rte_flow_error *error)
{
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = begin(port, error);
	if (err < 0)
		return err;
	hauli_log_hold();
	return result(hauli_flows_end(port, error));
}

int haul_port_flow_query(struct haul_port *port, uint64_t id, const struct rte_flow_action *action,
	void *data, struct rte_flow_error *error)
{
	struct hauli_flow *flow;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(!action || !data, "the action or the place for its data is NULL");
	err = begin(port, error);
	if (err < 0)
		return err;
	flow = *find(port, id);
	if (!flow)
		return fail(error, ENOENT, "there is no such rule");
	hauli_log_hold();
	return result(rte_flow_query(port->vdevs[0].port_id, flow->handle, action, data, error));
}

int haul_port_flow_isolate(struct haul_port *port, bool on, struct rte_flow_error *error)
{
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = begin(port, error);
	if (err < 0)
		return err;
	hauli_log_hold();
	return result(rte_flow_isolate(port->vdevs[0].port_id, on, error));
}

int haul_port_flow_get(const struct haul_port *port, unsigned i, struct haul_port_flow *flow)
{
	const struct hauli_flow *f;

	HAUL_MISUSE_IF(!port || !flow, "the port or the place for the rule is NULL");
	for (f = port->flows; f && i > 0; i--)
		f = f->next;
	if (!f)
		return -ENOENT;
	*flow = (struct haul_port_flow){f->id, f->rule.attr, f->rule.pattern, f->rule.actions};
	return 0;
}
