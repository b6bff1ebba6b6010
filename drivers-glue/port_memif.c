/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memif: shared memory with another process, agreed on over a Unix socket.
 *
 * How many queues there are is agreed on when the other side connects, at any time after the start,
 * and the PMD does not tell. A queue that the other side does not have is not empty: the PMD takes
 * the first one's memory for it, and both pollers break it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "unixpath.h"

/* The PMD's, unless the spec says otherwise. */
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

/* The first port of this process on the same socket; NULL. */
static const struct haul_port *find_sharer(const struct haul_port *port, const char *path)
{
	const struct haul_port *found = NULL;

	for (const struct haul_port *p = hauli_ports_open(); p; p = p->next) {
		const char *other = hauli_spec_get(&p->spec, "socket");

		if (p->spec.kind == port->spec.kind && strcmp(other, path) == 0)
			found = p; /* the list has the newest first */
	}
	return found;
}

/* A link has one end of each role. */
static int check_link(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *path = hauli_spec_get(&port->spec, "socket");

	for (const struct haul_port *p = hauli_ports_open(); p; p = p->next) {
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

static int check_socket(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *path = hauli_spec_get(&port->spec, "socket");
	const struct haul_port *sharer;

	if (!path || path[0] != '/')
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"socket=/PATH is needed: the same on both sides");
	/* Servers share a socket by their id. */
	if (!is_server(port))
		return 0;
	sharer = find_sharer(port, path);
	if (!sharer)
		return hauli_unixpath_free(&port->spec, path, errbuf, errlen);
	/* The PMD has one socket per path, and listens if it was made for a server. */
	if (is_server(sharer))
		return 0;
	return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
		"port '%s' of this program is a client on that socket; give the server first",
		sharer->spec.text);
}

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err = check_role(port, errbuf, errlen);

	if (err == 0)
		err = hauli_port_agree(port, errbuf, errlen);
	if (err == 0)
		err = check_socket(port, errbuf, errlen);
	if (err == 0)
		err = check_link(port, errbuf, errlen);
	if (err == 0)
		err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err < 0)
		return err;
	hauli_unixpath_no_sigpipe();
	/* An empty packet goes as whatever its buffer held before. */
	port->tx.least = 1;
	port->tx.most = (uint32_t)hauli_spec_number(&port->spec, "bsize", BUFFER_SIZE)
		<< hauli_spec_number(&port->spec, "rsize", LOG2_RING_SIZE);
	hauli_spec_pass_on(&port->spec, port->vdevs[0].args, sizeof(port->vdevs[0].args));
	hauli_vdev_args(&port->vdevs[0], ",socket-abstract=no");
	return 0;
}

/* A client connects when it starts, and does not try again before it has been connected once. */
static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	if (!strstr(line, "Failed to connect socket"))
		return 0;
	return hauli_spec_fail(&port->spec, -ECONNREFUSED, errbuf, errlen,
		"no server listens on %s; start the other side first",
		hauli_spec_get(&port->spec, "socket"));
}

/*
 * A client that loses its server comes again at once, and the PMD would still be listening while it
 * is taken apart: so the socket goes first.
 */
static void release(struct haul_port *port)
{
	const char *path = hauli_spec_get(&port->spec, "socket");

	if (path && is_server(port) && !find_sharer(port, path))
		(void)unlink(path);
}

/* The PMD copies. */
static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return 0;
}

static const struct hauli_key keys[] = {
	{"role", HAULI_TEXT},
	{"socket", HAULI_TEXT},
	{"id", HAULI_NUMBER, 0, UINT32_MAX},
	{"queues", HAULI_NUMBER, 1, 255, ""},
	{"rsize", HAULI_NUMBER, 1, 14},
	{"bsize", HAULI_NUMBER, 64, 65535},
	{"mac", HAULI_MAC},
	{"secret", HAULI_TEXT},
	{NULL},
};

const struct hauli_kind hauli_kind_memif = {
	.name = "memif",
	.form = "memif:role=server|client,socket=PATH",
	.help = "shared memory with another process [id=N,queues=N: as on the other side]",
	.driver = "net_memif",
	.keys = keys,
	.prepare = prepare,
	.explain = explain,
	.gate = true,
	.release = release,
	.held = held,
};
