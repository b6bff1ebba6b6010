/* SPDX-License-Identifier: BSD-3-Clause */
/* null: receives packets without content, and drops sent ones. */
#include "port/kinds/list.h"

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err = hauli_port_vdevs(port, 1, errbuf, errlen);

	if (err == 0)
		hauli_spec_pass_on(&port->spec, port->vdevs[0].args, sizeof(port->vdevs[0].args));
	return err;
}

static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return 0;
}

/* The PMD writes size bytes into each packet, and does not check that they fit. */
static const struct hauli_key keys[] = {
	{"size", HAULI_VALUE_NUMBER, 60, 2048},
	{"copy", HAULI_VALUE_FLAG},
	{"no-rx", HAULI_VALUE_FLAG},
	{NULL},
};

const struct hauli_kind hauli_kind_null = {
	.name = "null",
	.form = "null:[size=64,copy=1,no-rx=1]",
	.help = "receives generated packets (none with no-rx=1); drops sent packets",
	.driver = "net_null",
	.keys = keys,
	.takes_queues = true,
	.prepare = prepare,
	.held = held,
};
