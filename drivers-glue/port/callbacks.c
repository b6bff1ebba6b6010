/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK keeps callbacks when a device is closed, and calls them for the next one that gets its
 * number. So they are taken from a device before it is closed, and given to the port's next one.
 */
#include "port/callbacks.h"

#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "base/assert.h"

struct haul_port_callback {
	struct haul_port_callback *next; /* of the port */
	struct haul_port *port; /* NULL: closed */
	unsigned queue;
	bool rx;
	haul_port_callback_fn *fn;
	void *arg;
	const struct rte_eth_rxtx_callback *ethdev; /* NULL: the port has no device */
};

static uint16_t show(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	const struct haul_port_callback *callback = arg;

	if (n > 0)
		callback->fn(pkts, n, callback->arg);
	return n;
}

static uint16_t show_received(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t most, void *arg)
{
	return show(port, queue, pkts, n, arg);
}

/* A port may have lost the queue (haul_port_set_queues()). */
static bool give(struct haul_port_callback *callback)
{
	struct haul_queue q;

	if (callback->queue >= callback->port->queues)
		return true;
	q = haul_port_queue(callback->port, callback->queue);
	callback->ethdev = callback->rx
		? rte_eth_add_rx_callback(q.port_id, q.queue_id, show_received, callback)
		: rte_eth_add_tx_callback(q.port_id, q.queue_id, show, callback);
	return callback->ethdev;
}

static void take(struct haul_port_callback *callback)
{
	struct haul_queue q;

	if (!callback->ethdev)
		return;
	q = haul_port_queue(callback->port, callback->queue);
	if (callback->rx)
		rte_eth_remove_rx_callback(q.port_id, q.queue_id, callback->ethdev);
	else
		rte_eth_remove_tx_callback(q.port_id, q.queue_id, callback->ethdev);
	rte_free((void *)(uintptr_t)callback->ethdev);
	callback->ethdev = NULL;
}

void hauli_callbacks_connect(struct haul_port *port)
{
	for (struct haul_port_callback *c = port->callbacks; c; c = c->next)
		if (!give(c))
			hauli_port_note(port, "no memory to show packets any more");
}

void hauli_callbacks_disconnect(struct haul_port *port)
{
	for (struct haul_port_callback *c = port->callbacks; c; c = c->next)
		take(c);
}

void hauli_callbacks_forget(struct haul_port *port)
{
	for (struct haul_port_callback *c = port->callbacks; c; c = c->next)
		c->port = NULL;
}

struct haul_port_callback *haul_port_add_callback(
	struct haul_port *port, unsigned queue, bool rx, haul_port_callback_fn *fn, void *arg)
{
	struct haul_port_callback *callback;

	HAUL_MISUSE_IF(!port || !fn, HAULI_NO_PORT);
	if (queue >= haul_port_queues(port))
		return NULL;
	callback = malloc(sizeof(*callback));
	if (!callback)
		return NULL;
	*callback = (struct haul_port_callback){.next = port->callbacks,
		.port = port,
		.queue = queue,
		.rx = rx,
		.fn = fn,
		.arg = arg};
	if (!port->detached && !give(callback)) {
		free(callback);
		return NULL;
	}
	port->callbacks = callback;
	return callback;
}

void haul_port_remove_callback(struct haul_port_callback *callback)
{
	struct haul_port_callback **at;

	HAUL_MISUSE_IF(!callback, "the callback is NULL");
	if (callback->port) {
		take(callback);
		at = &callback->port->callbacks;
		while (*at != callback)
			at = &(*at)->next;
		*at = callback->next;
	}
	free(callback);
}
