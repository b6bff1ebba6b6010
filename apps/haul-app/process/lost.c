/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/lost.h"

/* With a carrier: it keeps the main thread from all else. The next look goes on. */
#define PATIENCE (100 * HAUL_MS)

static bool told[HAUL_APP_PORTS_MAX]; /* by port; main thread */

static bool is_last(const struct hauli_app *a, unsigned port)
{
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (i != port && haul_io_is_attached(a->pub.io, i))
			return false;
	return true;
}

static void detach(struct hauli_app *a, unsigned port, const char *fault)
{
	char errbuf[512];
	int err = haul_io_detach_port(a->pub.io, port, PATIENCE, errbuf, sizeof(errbuf));

	if (!err)
		haul_app_say(a->pub.program, "%s; the other ports go on", fault);
	else if (!told[port])
		haul_app_say(a->pub.program, "%s; it is tried again: %s", fault, errbuf);
	told[port] = true;
}

bool hauli_app_lost_look(struct hauli_app *a, const char **why)
{
	for (unsigned i = 0; i < a->nb_ports; i++) {
		if (!haul_io_is_attached(a->pub.io, i))
			continue;
		*why = haul_port_fault(a->ports[i]);
		if (!(*why)[0])
			continue;
		if (a->lost_port == HAULI_LOST_PORT_END || is_last(a, i))
			return false;
		detach(a, i, *why);
	}
	return true;
}

bool hauli_app_lost_any(const struct hauli_app *a)
{
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (haul_io_is_attached(a->pub.io, i) && haul_port_fault(a->ports[i])[0])
			return true;
	return false;
}
