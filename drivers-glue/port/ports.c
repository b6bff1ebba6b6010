/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/ports.h"

#include "port/kind.h"

static struct haul_port *first;

struct haul_port *hauli_ports_open(void)
{
	return first;
}

struct haul_port *hauli_ports_other(const struct haul_port *port, struct haul_port *p)
{
	while (p && (p == port || p->detached))
		p = p->next;
	return p;
}

void hauli_ports_add(struct haul_port *port)
{
	port->next = first;
	first = port;
}

void hauli_ports_remove(struct haul_port *port)
{
	struct haul_port **p = &first;

	while (*p && *p != port)
		p = &(*p)->next;
	if (*p)
		*p = port->next;
}
