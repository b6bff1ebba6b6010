/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memif: shared memory with another process, set up over a Unix socket.
 *
 * The number of queues is agreed on when the other side connects, at any time after the start, and
 * the PMD does not tell. A queue that the other side does not have is not empty: the PMD uses the
 * first one's memory for it, and both pollers corrupt it.
 */
#include <errno.h>
#include <string.h>

#include <rte_version.h>

#include "linux/unixpath.h"
#include "port/kinds/list.h"
#include "port/listener.h"
#include "port/ports.h"
#include "port/socket_path.h"

/* The PMD's defaults. */
#define BUFFER_SIZE 2048
#define LOG2_RING_SIZE 10

static int check_role(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *role = hauli_spec_get(&port->spec, "role");

	if (role && (strcmp(role, "server") == 0 || strcmp(role, "client") == 0))
		return 0;
	return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
		"role=server (makes the socket) or role=client (connects to it) is needed");
}

static bool is_server(const struct haul_port *port)
{
	return strcmp(hauli_spec_get(&port->spec, "role"), "server") == 0;
}

/* A link has one end of each role. */
static int check_link(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *path = hauli_spec_get(&port->spec, "socket");

	if (!path || path[0] != '/')
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"socket=/PATH is needed: the same on both sides");
	for (struct haul_port *p = hauli_ports_other(port, hauli_ports_open()); p;
		p = hauli_ports_other(port, p->next)) {
		if (p->spec.kind == port->spec.kind &&
			strcmp(hauli_spec_get(&p->spec, "socket"), path) == 0 &&
			is_server(p) == is_server(port) &&
			hauli_spec_number(&p->spec, "id", 0) ==
				hauli_spec_number(&port->spec, "id", 0))
			return hauli_spec_fail(&port->spec, -EBUSY, errbuf, errlen,
				"port '%s' of this program is that end of the link already; choose "
				"another id=N",
				p->spec.text);
	}
	return 0;
}

/* Ids distinguish servers on one socket, and the PMD has one socket per path. */
static struct hauli_listener *find_listener(const struct haul_port *port, const char *path)
{
	for (struct haul_port *p = hauli_ports_other(port, hauli_ports_open()); p;
		p = hauli_ports_other(port, p->next)) {
		if (p->spec.kind == &hauli_kind_memif && is_server(p) &&
			strcmp(hauli_spec_get(&p->spec, "socket"), path) == 0)
			return p->own;
	}
	return NULL;
}

/* Stored in port->own, of a server. */
static int find_socket(struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *path = hauli_spec_get(&port->spec, "socket");
	struct hauli_listener *l = find_listener(port, path);
	int err = 0;

	if (!is_server(port))
		return hauli_socket_path_connecting(&port->spec, errbuf, errlen);
	if (l)
		l = hauli_listener_share(l);
	else
		err = hauli_listener_create(&l, &port->spec, path, errbuf, errlen);
	port->own = l;
	return err;
}

/* True if the PMD receives frames in several buffers; since DPDK 23.03 it crashes. The libraries at
 * run time decide. */
static bool has_chains(void)
{
	return strcmp(rte_version(), "DPDK 23") < 0;
}

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err = check_role(port, errbuf, errlen);

	if (err == 0)
		err = hauli_port_agree(port, errbuf, errlen);
	if (err == 0)
		err = check_link(port, errbuf, errlen);
	if (err == 0)
		err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err == 0)
		err = find_socket(port, errbuf, errlen);
	if (err < 0)
		return err;
	hauli_unixpath_no_sigpipe();
	/* For an empty packet the PMD would send old contents of its buffer. */
	port->tx.least = 1;
	port->tx.most = (uint32_t)hauli_spec_number(&port->spec, "bsize", BUFFER_SIZE);
	if (has_chains())
		port->tx.most <<= hauli_spec_number(&port->spec, "rsize", LOG2_RING_SIZE);
	hauli_spec_pass_on(&port->spec, port->vdevs[0].args, sizeof(port->vdevs[0].args));
	hauli_vdev_args(&port->vdevs[0], ",socket=%s,socket-abstract=no",
		port->own ? hauli_listener_made_at(port->own)
			  : hauli_spec_get(&port->spec, "socket"));
	return 0;
}

/* A ring has no MTU: it takes frames of any length up to its own. The PMD says 1,500. */
static int set_mtu(struct haul_port *port, unsigned mtu, char *errbuf, size_t errlen)
{
	if (mtu + RTE_ETHER_HDR_LEN <= port->tx.most)
		return 0;
	return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
		"MTU %u: a ring takes frames of up to %u bytes; use a larger bsize on both sides",
		mtu, port->tx.most);
}

static int ready(struct haul_port *port, char *errbuf, size_t errlen)
{
	return port->own ? hauli_listener_publish(port->own, &port->spec, errbuf, errlen) : 0;
}

/* A client connects when it starts, and does not retry before its first connection. */
static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	if (!strstr(line, "Failed to connect socket"))
		return 0;
	return hauli_spec_fail(&port->spec, -ECONNREFUSED, errbuf, errlen,
		"no server listens on %s; start the other side first",
		hauli_spec_get(&port->spec, "socket"));
}

/*
 * A client that loses its server reconnects at once, while the PMD still listens during its close:
 * so the socket is removed first.
 */
static void release(struct haul_port *port)
{
	if (port->own)
		hauli_listener_withdraw(port->own);
}

static void closed(struct haul_port *port)
{
	hauli_listener_destroy(port->own);
}

/* The PMD copies. */
static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return 0;
}

static const struct hauli_key keys[] = {
	{"role", HAULI_VALUE_TEXT},
	{"socket", HAULI_VALUE_TEXT, .vdev = ""},
	{"mode", HAULI_VALUE_TEXT, .vdev = ""},
	{"id", HAULI_VALUE_NUMBER, 0, UINT32_MAX},
	{"queues", HAULI_VALUE_NUMBER, 1, 255, ""},
	{"rsize", HAULI_VALUE_NUMBER, 1, 14},
	{"bsize", HAULI_VALUE_NUMBER, 64, 65535},
	{"mac", HAULI_VALUE_MAC},
	{"secret", HAULI_VALUE_TEXT},
	{NULL},
};

const struct hauli_kind hauli_kind_memif = {
	.name = "memif",
	.form = "memif:role=server|client,socket=PATH",
	.help = "shared memory with another process [id=N,queues=N: as the peer; mode=0660]",
	.driver = "net_memif",
	.shares_memory = true,
	.keys = keys,
	.prepare = prepare,
	.explain = explain,
	.set_mtu = set_mtu,
	.filter = true,
	.unmaps = "librte_net_memif",
	.ready = ready,
	.release = release,
	.closed = closed,
	.held = held,
};
