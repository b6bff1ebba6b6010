/* SPDX-License-Identifier: BSD-3-Clause */
/* sim: a port of a simulated network (haul-sim/net.h). */
#include <errno.h>

#include "port/kinds/list.h"
#include "port/spec.h"

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err;

	if (!port->spec.main[0])
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"nothing after 'sim:'; the form is sim:NODE");
	err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err == 0)
		hauli_vdev_args(&port->vdevs[0], "%s", port->spec.main);
	return err;
}

/* A packet takes a buffer when it arrives, and the device keeps none that it has sent. */
static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return rx_ring;
}

static const struct hauli_key keys[] = {{NULL}};

const struct hauli_kind hauli_kind_sim = {
	.name = "sim",
	.form = "sim:NODE",
	.help = "a node of the simulated network",
	.driver = "net_sim",
	.main = HAULI_MAIN_OPTIONAL, /* a node, not a path that other ports of the list may have */
	.keys = keys,
	.promiscuous = true,
	.rss = true,
	.wait_on = HAULI_PORT_WAIT_ON_DESCRIPTOR,
	.wait_name = "simulated interrupt",
	.takes_queues = true,
	.real_speed = true,
	.prepare = prepare,
	.held = held,
};
