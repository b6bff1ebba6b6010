/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and routes of a kernel interface, for a host that receives in its place. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "host/state.h"
#include "linux/iface.h"
#include "linux/routes.h"

struct reading {
	struct haul_host *host;
	unsigned port;
	int addresses;
	char *errbuf;
	size_t errlen;
};

#define PREFIX_TEXT (INET6_ADDRSTRLEN + 4)

static void write_prefix(char text[PREFIX_TEXT], const struct hauli_kernel_route *route)
{
	char ip[INET6_ADDRSTRLEN];

	inet_ntop(route->version == 4 ? AF_INET : AF_INET6, route->to, ip, sizeof(ip));
	snprintf(text, PREFIX_TEXT, "%s/%u", ip, route->length);
}

static int add_address(const struct hauli_kernel_route *route, void *arg)
{
	struct reading *r = arg;
	char text[PREFIX_TEXT];
	int err;

	write_prefix(text, route);
	err = haul_host_add_address(r->host, r->port, text, r->errbuf, r->errlen);
	/* The host cannot use an address such as loopback's. */
	if (err == -EEXIST || err == -EADDRNOTAVAIL)
		return 0;
	r->addresses += err == 0;
	return err;
}

static int add_route(const struct hauli_kernel_route *route, void *arg)
{
	struct reading *r = arg;
	char to[PREFIX_TEXT], gateway[INET6_ADDRSTRLEN];
	int err;

	write_prefix(to, route);
	inet_ntop(
		route->version == 4 ? AF_INET : AF_INET6, route->gateway, gateway, sizeof(gateway));
	err = haul_host_add_route(
		r->host, to, route->has_gateway ? gateway : NULL, r->port, r->errbuf, r->errlen);
	/* A gateway that no address of the interface reaches. */
	return err == -EEXIST || err == -EINVAL ? 0 : err;
}

int haul_host_read_kernel(
	struct haul_host *host, unsigned port, const char *interface, char *errbuf, size_t errlen)
{
	struct reading r = {host, port, 0, errbuf, errlen};
	char why[256] = "";
	int index, err;

	HAUL_MISUSE_IF(!host || !interface, "NULL is given; give a host and an interface");
	if (port >= host->opts.nb_ports) {
		snprintf(errbuf, errlen, "haul_host_read_kernel: there is no port %u", port);
		return -EINVAL;
	}
	index = hauli_iface_is_name(interface) ? hauli_iface_index(interface) : 0;
	if (index == 0) {
		snprintf(errbuf, errlen, "haul_host_read_kernel: there is no interface '%s'",
			interface);
		return -ENODEV;
	}
	r.errbuf = why;
	r.errlen = sizeof(why);
	err = hauli_kernel_addresses(index, add_address, &r);
	if (!err)
		err = hauli_kernel_routes(index, add_route, &r);
	if (err)
		snprintf(errbuf, errlen, "haul_host_read_kernel: '%s': %s", interface,
			why[0] ? why : strerror(-err));
	return err ? err : r.addresses;
}
