/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vhost and virtio-user: the two ends of a virtio device, the hypervisor's and the guest's, over a
 * Unix socket; or both in one process, in that order.
 *
 * The PMDs do not learn the number of the peer's queues. Packets on a queue that the peer does not
 * have are lost.
 */
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "linux/unixpath.h"
#include "port/kinds/list.h"
#include "port/listener.h"
#include "port/socket_path.h"
#include "port/watch.h"

static int prepare_vhost(struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *path = port->spec.main;
	struct hauli_listener *l = NULL; /* a client has none */
	struct hauli_vdev *v;
	int err = hauli_port_agree(port, errbuf, errlen);

	if (err == 0)
		err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err == 0 && hauli_spec_number(&port->spec, "client", 0))
		err = hauli_socket_path_connecting(&port->spec, errbuf, errlen);
	else if (err == 0)
		err = hauli_listener_create(&l, &port->spec, path, errbuf, errlen);
	port->own = l;
	if (err < 0)
		return err;
	hauli_unixpath_no_sigpipe();
	v = &port->vdevs[0];
	hauli_vdev_args(
		v, "iface=%s,queues=%u", l ? hauli_listener_made_at(l) : path, port->queues);
	hauli_spec_pass_on(&port->spec, v->args, sizeof(v->args));
	return 0;
}

static int ready_vhost(struct haul_port *port, char *errbuf, size_t errlen)
{
	return port->own ? hauli_listener_publish(port->own, &port->spec, errbuf, errlen) : 0;
}

static void release_vhost(struct haul_port *port)
{
	if (port->own)
		hauli_listener_withdraw(port->own);
}

static void closed_vhost(struct haul_port *port)
{
	hauli_listener_destroy(port->own);
}

static int prepare_virtio_user(struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *path = port->spec.main;
	int err = hauli_socket_path_taken(&port->spec, path, errbuf, errlen);
	struct hauli_vdev *v;

	if (err == 0)
		err = hauli_port_agree(port, errbuf, errlen);
	if (err == 0)
		err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err < 0)
		return err;
	hauli_unixpath_no_sigpipe();
	v = &port->vdevs[0];
	hauli_vdev_args(v, "path=%s,queues=%u", path, port->queues);
	port->tx.least = 1; /* the other end loses empty frames */
	hauli_spec_pass_on(&port->spec, v->args, sizeof(v->args));
	return 0;
}

/* vhost copies. */
static unsigned held_vhost(unsigned rx_ring, unsigned tx_ring)
{
	return 0;
}

static const struct hauli_key vhost_keys[] = {
	{"queues", HAULI_VALUE_NUMBER, 1, 128, ""},
	{"client", HAULI_VALUE_FLAG},
	{"mode", HAULI_VALUE_TEXT, .vdev = ""},
	{NULL},
};

/* The PMD registers a callback on its socket when it is configured, and unregisters it only when it
 * stops: otherwise EAL's interrupt thread would panic when the socket is closed. */
static void release_virtio_user(struct haul_port *port)
{
	struct hauli_vdev *v = &port->vdevs[0];

	if (!port->was_started && rte_eth_dev_start(v->port_id) == 0)
		v->started = true;
}

/* The PMD finds out by its socket. A client does not connect again; a server (of a raw vdev) takes
 * the next backend by itself. */
static void look_virtio_user(const struct haul_port *port, char *what, size_t size)
{
	struct rte_eth_link link;

	if (strstr(port->vdevs[0].args, "server=1") || !hauli_watch_is_to_be_up(port))
		return;
	if (rte_eth_link_get_nowait(port->vdevs[0].port_id, &link) == 0 && !link.link_status)
		snprintf(what, size, "its backend has ended; start it again");
}

/* The PMD's server=1 is not among them: it waits for ever for the other side. */
static const struct hauli_key virtio_user_keys[] = {
	{"queues", HAULI_VALUE_NUMBER, 1, 8, ""},
	{"queue_size", HAULI_VALUE_NUMBER, 64, 32768},
	{"mac", HAULI_VALUE_MAC},
	{"packed_vq", HAULI_VALUE_FLAG},
	{NULL},
};

static const char *const vhost_paths[] = {"iface", NULL};
static const char *const virtio_user_paths[] = {"path", NULL};

const struct hauli_kind hauli_kind_vhost = {
	.name = "vhost",
	.form = "vhost:PATH[,queues=N,client=1]",
	.help = "host end of virtio for QEMU or virtio-user; creates the socket [mode=0660]",
	.driver = "net_vhost",
	.vdev_paths = vhost_paths,
	.dpdk_library = "vhost",
	.shares_memory = true,
	.main = HAULI_MAIN_NEEDED,
	.keys = vhost_keys,
	.rx_interrupts = true,
	.wait_on = HAULI_PORT_WAIT_ON_INTERRUPT,
	.wait_name = "queue interrupt",
	.hands_back = true,
	.prepare = prepare_vhost,
	.ready = ready_vhost,
	.release = release_vhost,
	.closed = closed_vhost,
	.held = held_vhost,
};

const struct hauli_kind hauli_kind_virtio_user = {
	.name = "virtio-user",
	.form = "virtio-user:PATH[,queues=N]",
	.help = "the guest end of a virtio device; connects to the socket",
	.driver = "net_virtio_user",
	.vdev_paths = virtio_user_paths,
	.shares_memory = true,
	.main = HAULI_MAIN_NEEDED,
	.keys = virtio_user_keys,
	.rx_interrupts = true,
	.wait_on = HAULI_PORT_WAIT_ON_INTERRUPT,
	.wait_name = "queue interrupt",
	.promiscuous = true,
	.configures_late = true,
	.prepare = prepare_virtio_user,
	.release = release_virtio_user,
	.look = look_virtio_user,
	.filter = true,
};
