/* SPDX-License-Identifier: BSD-3-Clause */
/* empty: a place for a device that comes while packets of the others flow. */
#include "port/kinds/list.h"

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	port->queues = (unsigned)hauli_spec_number(&port->spec, "queues", port->queues);
	return 0;
}

static const struct hauli_key keys[] = {
	{"queues", HAULI_VALUE_NUMBER, 1, UINT16_MAX},
	{NULL},
};

const struct hauli_kind hauli_kind_empty = {
	.name = "empty",
	.form = "empty:[queues=N]",
	.help = "no device yet: port attach in haul-fwd's prompt names it while packets flow; "
		"queues: those of the device, by default as many as carriers, or --rxq",
	.keys = keys,
	.prepare = prepare,
};
