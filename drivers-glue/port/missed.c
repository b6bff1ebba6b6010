/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/missed.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "linux/iface.h"

struct hauli_missed {
	pthread_mutex_t lock;
	/* Under lock. The kernel's figures begin with the interface; one that has gone has none. */
	uint64_t before, last;
	uint64_t kept; /* of devices that the port had before */
};

/* Called under lock. */
static uint64_t read(const struct haul_port *port)
{
	uint64_t n = port->kind->missed ? port->kind->missed(port) : 0;

	if (port->kind->above_nic && port->iface[0])
		n += hauli_iface_missed(port->iface);
	return n;
}

void hauli_missed_count(struct haul_port *port)
{
	struct hauli_missed *m = port->missed;

	pthread_mutex_lock(&m->lock);
	m->before = m->last = read(port);
	pthread_mutex_unlock(&m->lock);
}

void hauli_missed_resume(struct haul_port *port)
{
	struct hauli_missed *m = port->missed;

	pthread_mutex_lock(&m->lock);
	m->kept += m->last - m->before;
	m->before = m->last = read(port);
	pthread_mutex_unlock(&m->lock);
}

int hauli_missed_begin(struct haul_port *port)
{
	port->missed = calloc(1, sizeof(*port->missed));
	if (!port->missed)
		return -ENOMEM;
	pthread_mutex_init(&port->missed->lock, NULL);
	hauli_missed_count(port);
	return 0;
}

void hauli_missed_end(struct haul_port *port)
{
	if (!port->missed)
		return;
	pthread_mutex_destroy(&port->missed->lock);
	free(port->missed);
	port->missed = NULL;
}

uint64_t hauli_missed(const struct haul_port *port)
{
	struct hauli_missed *m = port->missed;
	uint64_t n;

	pthread_mutex_lock(&m->lock);
	if (!port->detached)
		m->last = RTE_MAX(m->last, read(port));
	n = m->kept + m->last - m->before;
	pthread_mutex_unlock(&m->lock);
	return n;
}
