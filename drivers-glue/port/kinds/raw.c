/* SPDX-License-Identifier: BSD-3-Clause */
/* Any vdev of DPDK's, in the syntax of DPDK's documentation. */
#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "port/kinds/list.h"

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *text = port->spec.parts;
	const char *comma = strchr(text, ',');
	size_t len = comma ? (size_t)(comma - text) : strlen(text);
	struct hauli_vdev *v;
	uint16_t port_id;
	int err = hauli_port_vdevs(port, 1, errbuf, errlen);

	if (err < 0)
		return err;
	v = &port->vdevs[0];
	if (len >= sizeof(v->name))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"the name before the comma is longer than %zu characters",
			sizeof(v->name) - 1);
	memcpy(v->name, text, len);
	v->name[len] = '\0';
	if (comma)
		hauli_vdev_args(v, "%s", comma + 1);
	if (rte_eth_dev_get_port_by_name(v->name, &port_id) == 0)
		return hauli_spec_fail(&port->spec, -EEXIST, errbuf, errlen,
			"there is a device %s already; give it another number", v->name);
	return 0;
}

static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	if (strstr(line, "failed to parse device"))
		return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
			"DPDK has no driver of that name here; its documentation lists them");
	if (line[0])
		return 0;
	return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
		"the driver refused it without a message; check its arguments");
}

static const char *const vdev_ifaces[] = {"iface", NULL}; /* of most drivers that have it */

const struct hauli_kind hauli_kind_raw = {
	.name = "raw",
	.form = "net_NAME0[,key=value...]",
	.help = "a vdev of DPDK, as in DPDK's documentation",
	.driver = "net_raw",
	.vdev_ifaces = vdev_ifaces,
	.promiscuous = true,
	.rss = true,
	.takes_queues = true,
	.prepare = prepare,
	.explain = explain,
};
