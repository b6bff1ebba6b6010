/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for several kinds of ports. */
#include "port/kind.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "linux/iface.h"

int hauli_port_vdevs(struct haul_port *port, unsigned n, char *errbuf, size_t errlen)
{
	static unsigned made; /* names are not reused: PMDs may keep data by name */

	port->vdevs = calloc(n, sizeof(port->vdevs[0]));
	if (!port->vdevs)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	port->nb_vdevs = n;
	for (unsigned i = 0; i < n; i++) {
		struct hauli_vdev *v = &port->vdevs[i];

		v->bus = "vdev";
		v->port_id = RTE_MAX_ETHPORTS;
		snprintf(v->name, sizeof(v->name), "%s_haul%u", port->kind->driver, made++);
	}
	return 0;
}

int hauli_port_agree(struct haul_port *port, char *errbuf, size_t errlen)
{
	unsigned long n = hauli_spec_number(&port->spec, "queues", 1);

	if (n > port->queues)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"queues=%lu for %u carriers: no carrier would poll the last ones; use "
			"fewer queues on both sides, or more carriers",
			n, port->queues);
	if (port->queues > 1 && !hauli_spec_get(&port->spec, "queues"))
		hauli_port_note(
			port, "if the other side has as many queues, add queues=%u", port->queues);
	port->queues = (unsigned)n;
	port->agreed = true;
	return 0;
}

int hauli_port_check_iface(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *name = port->spec.main;

	if (!hauli_iface_index(name))
		return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
			"there is no interface %s; ip link shows those that there are", name);
	if (!(hauli_iface_flags(name) & IFF_UP))
		return hauli_spec_fail(&port->spec, -ENETDOWN, errbuf, errlen,
			"interface %s is down; ip link set %s up", name, name);
	return 0;
}

uint32_t hauli_port_buffer(const struct haul_port *port)
{
	return rte_pktmbuf_data_room_size(port->opts.pool) - RTE_PKTMBUF_HEADROOM;
}

void hauli_vdev_args(struct hauli_vdev *vdev, const char *format, ...)
{
	size_t len = strlen(vdev->args);
	va_list ap;

	va_start(ap, format);
	vsnprintf(vdev->args + len, sizeof(vdev->args) - len, format, ap);
	va_end(ap);
}

void hauli_port_note(struct haul_port *port, const char *format, ...)
{
	size_t len = strlen(port->notice);
	va_list ap;

	if (len == 0)
		len = (size_t)snprintf(
			port->notice, sizeof(port->notice), "port '%s': ", port->spec.text);
	else if (len < sizeof(port->notice))
		len += (size_t)snprintf(port->notice + len, sizeof(port->notice) - len, "; ");
	va_start(ap, format);
	if (len < sizeof(port->notice))
		vsnprintf(port->notice + len, sizeof(port->notice) - len, format, ap);
	va_end(ap);
}
