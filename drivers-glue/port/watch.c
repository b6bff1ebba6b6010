/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_dev_event_callback_register(), in DPDK 22.11 */
#include "port/watch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "base/assert.h"
#include "linux/iface.h"

#define WHAT_SIZE (HAULI_SPEC_SIZE + 160)

/* Callers of haul_port_fault() may keep the text: it stays until the port is closed. */
struct fault {
	struct fault *older;
	char text[HAULI_SPEC_SIZE + WHAT_SIZE];
};

struct hauli_watch {
	pthread_mutex_t lock;
	/* Under lock. */
	int index; /* of the interface; 0: none */
	bool set_down; /* by haul_port_set_link() */
	struct fault *all; /* the last one first */
	const char *now; /* "": none, or it was before the device was opened again */
};

static void set_fault(const struct haul_port *port, const char *what)
{
	struct hauli_watch *w = port->watch;

	struct fault *fault;

	pthread_mutex_lock(&w->lock);
	fault = w->now[0] ? NULL : calloc(1, sizeof(*fault));
	if (fault) { /* else the next look tries again */
		(void)hauli_spec_fail(&port->spec, 0, fault->text, sizeof(fault->text), "%s", what);
		fault->older = w->all;
		w->all = fault;
		w->now = fault->text;
	}
	pthread_mutex_unlock(&w->lock);
}

#define UNPLUGGED "the device was unplugged"

/* Both run on EAL's interrupt thread. A PMD tells of the device by the first; the bus by the
 * second: vfio asks to release a device, which works until then, because the machine removes it. */
static int unplugged(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	set_fault(arg, UNPLUGGED);
	return 0;
}

static void removed(const char *name, enum rte_dev_event_type event, void *arg)
{
	if (event == RTE_DEV_EVENT_REMOVE)
		set_fault(arg, UNPLUGGED);
}

static void watch_device(struct haul_port *port, const struct hauli_vdev *v)
{
	(void)rte_eth_dev_callback_register(v->port_id, RTE_ETH_EVENT_INTR_RMV, unplugged, port);
	(void)rte_dev_event_callback_register(v->name, removed, port);
}

/* -EAGAIN: while it is being called. */
static void forget_device(struct haul_port *port, const struct hauli_vdev *v)
{
	while (rte_eth_dev_callback_unregister(
		       v->port_id, RTE_ETH_EVENT_INTR_RMV, unplugged, port) == -EAGAIN)
		sched_yield();
	while (rte_dev_event_callback_unregister(v->name, removed, port) == -EAGAIN)
		sched_yield();
}

static struct hauli_watch *create(void)
{
	struct hauli_watch *w = calloc(1, sizeof(*w));

	if (w) {
		pthread_mutex_init(&w->lock, NULL);
		w->now = "";
	}
	return w;
}

int hauli_watch_begin(struct haul_port *port)
{
	if (!port->watch)
		port->watch = create();
	if (!port->watch)
		return -ENOMEM;
	pthread_mutex_lock(&port->watch->lock);
	port->watch->index = port->iface[0] ? hauli_iface_index(port->iface) : 0;
	pthread_mutex_unlock(&port->watch->lock);
	for (unsigned i = 0; i < port->nb_vdevs; i++)
		watch_device(port, &port->vdevs[i]);
	return 0;
}

void hauli_watch_detach(struct haul_port *port)
{
	for (unsigned i = 0; i < port->nb_vdevs; i++) {
		if (port->vdevs[i].port_id != RTE_MAX_ETHPORTS)
			forget_device(port, &port->vdevs[i]);
	}
}

static void show(struct haul_port *port, bool last)
{
	struct hauli_watch *w = port->watch;

	pthread_mutex_lock(&w->lock);
	w->now = last && w->all ? w->all->text : "";
	pthread_mutex_unlock(&w->lock);
}

void hauli_watch_forget(struct haul_port *port)
{
	show(port, false);
}

void hauli_watch_recall(struct haul_port *port)
{
	show(port, true);
}

void hauli_watch_end(struct haul_port *port)
{
	if (!port->watch)
		return;
	hauli_watch_detach(port);
	for (struct fault *f = port->watch->all, *older; f; f = older) {
		older = f->older;
		free(f);
	}
	pthread_mutex_destroy(&port->watch->lock);
	free(port->watch);
	port->watch = NULL;
}

void hauli_watch_set_link(struct haul_port *port, bool up)
{
	pthread_mutex_lock(&port->watch->lock);
	port->watch->set_down = !up;
	pthread_mutex_unlock(&port->watch->lock);
}

bool hauli_watch_is_to_be_up(const struct haul_port *port)
{
	bool set_down;

	pthread_mutex_lock(&port->watch->lock);
	set_down = port->watch->set_down;
	pthread_mutex_unlock(&port->watch->lock);
	return port->vdevs[0].started && !set_down;
}

static void look_at_iface(const struct haul_port *port, char *what, size_t size)
{
	int index;

	if (!port->watch->index)
		return;
	index = hauli_iface_index(port->iface);
	/* The name may have moved to another interface. */
	if (index != port->watch->index)
		snprintf(what, size, "the interface %s is gone; make it again", port->iface);
	else if (hauli_watch_is_to_be_up(port) && !(hauli_iface_flags(port->iface) & IFF_UP))
		snprintf(what, size, "the interface %s went down; ip link set %s up", port->iface,
			port->iface);
}

bool hauli_watch_sees_link(const struct haul_port *port)
{
	return !port->iface[0] ||
		(hauli_iface_flags(port->iface) & IFF_UP && hauli_iface_has_link(port->iface));
}

static void look(const struct haul_port *port)
{
	char what[WHAT_SIZE] = "";

	look_at_iface(port, what, sizeof(what));
	if (!what[0] && port->kind->look && port->vdevs[0].started) {
		port->kind->look(port, what, sizeof(what));
		/* The kernel takes an interface away before its XDP program and sockets: if it has
		 * gone since the first look, this is the cause. */
		if (what[0])
			look_at_iface(port, what, sizeof(what));
	}
	if (what[0])
		set_fault(port, what);
}

const char *haul_port_fault(const struct haul_port *port)
{
	struct hauli_watch *w;
	const char *fault;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	w = port->watch;
	if (!port->detached)
		look(port);
	pthread_mutex_lock(&w->lock);
	fault = w->now;
	pthread_mutex_unlock(&w->lock);
	return fault;
}
