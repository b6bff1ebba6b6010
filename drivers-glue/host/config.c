/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and routes that come and go. A change is made in lists, under the lock; then a table of
 * routes is built of them and published. The old one is freed when each carrier has run a function
 * once: carriers do not suspend while they use a table, so by then none does.
 */
#include "host/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/carrier.h>

#include "base/assert.h"
#include "host/announce.h"
#include "host/detect.h"
#include "net/addr.h"

#define NO_HOST "NULL is given; give what haul_host_create() has given"

/* Routes that could not be freed, because a runtime was being stopped. */
struct hauli_retired {
	struct hauli_routes *routes;
	struct hauli_retired *next;
};

static int pass(void *arg)
{
	(void)arg;
	return 0;
}

int hauli_host_quiesce(struct haul_runtime *rt)
{
	return rt ? haul_on_each(rt, pass, NULL) : 0;
}

/* Under the lock. NULL: no memory. */
static struct hauli_routes *build(const struct haul_host *host)
{
	for (unsigned i = 0; i < host->nb_owns; i++)
		memcpy(host->owns[i].nif.mac, host->ports[host->owns[i].port].mac, 6);
	return hauli_routes_build(host->owns, host->nb_owns, host->added, host->nb_added);
}

/* Frees routes that were replaced. */
static void retire(struct haul_host *host, struct haul_runtime *rt, struct hauli_routes *routes)
{
	struct hauli_retired *later;

	if (hauli_host_quiesce(rt) == 0) {
		hauli_routes_free(routes);
		return;
	}
	later = malloc(sizeof(*later));
	if (!later)
		return; /* better lost than freed too early */
	pthread_mutex_lock(&host->lock);
	*later = (struct hauli_retired){routes, host->retired};
	host->retired = later;
	pthread_mutex_unlock(&host->lock);
}

void hauli_host_changed(struct haul_host *host)
{
	uint32_t next = hauli_host_version(host) + 1;

	hauli_u32_published_set(&host->version, next ? next : 1);
}

int hauli_host_publish(struct haul_host *host)
{
	struct hauli_routes *next, *old;
	struct haul_runtime *rt;

	pthread_mutex_lock(&host->lock);
	next = build(host);
	old = (struct hauli_routes *)hauli_host_routes(host);
	rt = host->rt;
	if (next) {
		hauli_ptr_published_set(&host->routes, next);
		hauli_host_changed(host);
	}
	pthread_mutex_unlock(&host->lock);
	if (!next)
		return -ENOMEM;
	if (old)
		retire(host, rt, old);
	return 0;
}

void hauli_host_free_routes(struct haul_host *host)
{
	struct hauli_retired *r;

	hauli_routes_free((struct hauli_routes *)hauli_host_routes(host));
	while ((r = host->retired)) {
		host->retired = r->next;
		hauli_routes_free(r->routes);
		free(r);
	}
}

static int fail(
	int err, const char *caller, const char *what, const char *why, char *errbuf, size_t errlen)
{
	snprintf(errbuf, errlen, "%s: '%s': %s", caller, what, why);
	return err;
}

/* An address and the length of a prefix, from text; without a slash the length is 128. */
struct prefix {
	struct hauli_ip ip;
	unsigned length;
	bool has_length;
};

static int parse_prefix(struct prefix *p, const char *text)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint8_t bytes[16], version = strchr(text, ':') ? 6 : 4;
	char addr[INET6_ADDRSTRLEN];
	unsigned most = version == 4 ? 32 : 128, length = most;
	char end;

	if (len >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(version == 4 ? AF_INET : AF_INET6, addr, bytes) != 1)
		return -EINVAL;
	if (version == 6 && hauli_ip6_is_mapped(bytes))
		return -EADDRNOTAVAIL;
	if (slash &&
		(strspn(slash + 1, "0123456789") > 3 ||
			sscanf(slash + 1, "%3u%c", &length, &end) != 1 || slash[1] < '0' ||
			length > most))
		return -EINVAL;
	p->ip = hauli_ip_of(version, bytes);
	p->length = length + (version == 4 ? HAULI_IP4_LENGTH : 0);
	p->has_length = slash;
	return 0;
}

/* An address of the host, from text. */
static int parse_own(struct hauli_own *own, const char *text)
{
	struct prefix p;
	int err;

	*own = (struct hauli_own){0};
	err = parse_prefix(&p, text);
	if (err || !p.has_length)
		return err ? err : -EINVAL;
	own->ip = p.ip;
	own->length = p.length;
	return hauli_ip_is_4(p.ip) ? haul_net_set_ip4(&own->nif, text)
				   : haul_net_set_ip6(&own->nif, text);
}

static const char *own_problem(int err)
{
	return err == -EINVAL
		? "no address with the length of its network's prefix, such as "
		  "10.0.0.1/24 or fd00::1/64"
		: "not an address of a host: multicast, loopback, broadcast, IPv4-mapped, ...";
}

static unsigned find_own(const struct haul_host *host, const struct hauli_own *own)
{
	unsigned i = 0;

	while (i < host->nb_owns && !hauli_ip_equal(host->owns[i].ip, own->ip))
		i++;
	return i;
}

static int add_own(struct haul_host *host, const struct hauli_own *own, const char **why)
{
	if (find_own(host, own) < host->nb_owns) {
		*why = "the host has this address";
		return -EEXIST;
	}
	if (host->nb_owns == host->opts.addresses_max) {
		*why = "no more addresses: haul_host_opts.addresses_max";
		return -ENOSPC;
	}
	host->owns[host->nb_owns++] = *own;
	hauli_detect_begin(host, &host->owns[host->nb_owns - 1]);
	return 0;
}

static void drop_own(struct haul_host *host, const struct hauli_own *own)
{
	unsigned i = find_own(host, own);

	if (i == host->nb_owns)
		return;
	hauli_host_announce_no_more(host, own);
	host->nb_owns--;
	memmove(&host->owns[i], &host->owns[i + 1], (host->nb_owns - i) * sizeof(host->owns[0]));
	hauli_detect_count(host);
}

static bool is_port(const struct haul_host *host, unsigned port)
{
	return port < host->opts.nb_ports;
}

int haul_host_add_address(
	struct haul_host *host, unsigned port, const char *address, char *errbuf, size_t errlen)
{
	const char *why = NULL;
	struct hauli_own own;
	int err;

	HAUL_MISUSE_IF(!host || !address, NO_HOST);
	err = parse_own(&own, address);
	if (err)
		return fail(err, __func__, address, own_problem(err), errbuf, errlen);
	if (!is_port(host, port))
		return fail(-EINVAL, __func__, address, "there is no such port", errbuf, errlen);
	own.port = port;
	pthread_mutex_lock(&host->lock);
	err = add_own(host, &own, &why);
	pthread_mutex_unlock(&host->lock);
	if (err)
		return fail(err, __func__, address, why, errbuf, errlen);
	err = hauli_host_publish(host);
	if (!err) {
		haul_event_set(&host->wake);
		return 0;
	}
	pthread_mutex_lock(&host->lock);
	drop_own(host, &own);
	pthread_mutex_unlock(&host->lock);
	return fail(err, __func__, address, "no memory", errbuf, errlen);
}

int haul_host_remove_address(
	struct haul_host *host, unsigned port, const char *address, char *errbuf, size_t errlen)
{
	struct hauli_own own;
	bool found;
	int err;

	HAUL_MISUSE_IF(!host || !address, NO_HOST);
	err = parse_own(&own, address);
	if (err)
		return fail(err, __func__, address, own_problem(err), errbuf, errlen);
	pthread_mutex_lock(&host->lock);
	found = find_own(host, &own) < host->nb_owns &&
		host->owns[find_own(host, &own)].port == port &&
		host->owns[find_own(host, &own)].length == own.length;
	if (found)
		drop_own(host, &own);
	pthread_mutex_unlock(&host->lock);
	if (!found)
		return fail(
			-ENOENT, __func__, address, "the port has no such address", errbuf, errlen);
	err = hauli_host_publish(host);
	return err ? fail(err, __func__, address, "no memory", errbuf, errlen) : 0;
}

static unsigned find_route(const struct haul_host *host, const struct prefix *to)
{
	unsigned i = 0;

	while (i < host->nb_added &&
		(host->added[i].length != to->length ||
			!hauli_ip_within(host->added[i].to, to->ip, to->length)))
		i++;
	return i;
}

static int parse_gateway(struct hauli_route *route, const char *gateway)
{
	struct prefix p;

	if (!gateway)
		return 0;
	if (parse_prefix(&p, gateway) || p.has_length ||
		hauli_ip_is_4(p.ip) != hauli_ip_is_4(route->to))
		return -EINVAL;
	route->kind = HAULI_ROUTE_GATEWAY;
	route->gateway = p.ip;
	return 0;
}

/* Under the lock. */
static bool is_reached(const struct haul_host *host, struct hauli_ip gateway, unsigned port)
{
	const struct hauli_route *direct = hauli_routes_find(hauli_host_routes(host), gateway);

	for (unsigned i = 0; direct->kind == HAULI_ROUTE_AMBIGUOUS && i < host->nb_owns; i++)
		if (host->owns[i].port == port &&
			hauli_ip_within(host->owns[i].ip, gateway, host->owns[i].length))
			return true;
	return direct->kind == HAULI_ROUTE_DIRECT && direct->port == port;
}

/* Under the lock. */
static int add_route(struct haul_host *host, const struct hauli_route *route, const char **why)
{
	const struct prefix to = {route->to, route->length, true};
	int err = 0;

	if (find_route(host, &to) < host->nb_added)
		err = -EEXIST, *why = "there is a route to this prefix";
	else if (host->nb_added == host->opts.routes_max)
		err = -ENOSPC, *why = "no more routes: haul_host_opts.routes_max";
	else if (route->kind == HAULI_ROUTE_GATEWAY &&
		!is_reached(host, route->gateway, route->port))
		err = -EINVAL, *why = "the gateway is in no network of the port's addresses";
	else
		host->added[host->nb_added++] = *route;
	return err;
}

static bool drop_route(struct haul_host *host, const struct prefix *to)
{
	unsigned i = find_route(host, to);

	if (i == host->nb_added)
		return false;
	host->nb_added--;
	memmove(&host->added[i], &host->added[i + 1],
		(host->nb_added - i) * sizeof(host->added[0]));
	return true;
}

int haul_host_add_route(struct haul_host *host, const char *to, const char *gateway, unsigned port,
	char *errbuf, size_t errlen)
{
	struct hauli_route route = {.kind = HAULI_ROUTE_DIRECT, .port = port};
	const char *why = NULL;
	struct prefix p;
	int err;

	HAUL_MISUSE_IF(!host || !to, NO_HOST);
	if (parse_prefix(&p, to))
		return fail(-EINVAL, __func__, to, "no prefix, such as 0.0.0.0/0 or fd00:1::/48",
			errbuf, errlen);
	if (!is_port(host, port))
		return fail(-EINVAL, __func__, to, "there is no such port", errbuf, errlen);
	route.to = p.ip;
	route.length = p.length;
	if (parse_gateway(&route, gateway))
		return fail(-EINVAL, __func__, gateway,
			"no address of a gateway, of the same version", errbuf, errlen);
	pthread_mutex_lock(&host->lock);
	err = add_route(host, &route, &why);
	pthread_mutex_unlock(&host->lock);
	if (err)
		return fail(err, __func__, to, why, errbuf, errlen);
	err = hauli_host_publish(host);
	if (!err)
		return 0;
	pthread_mutex_lock(&host->lock);
	(void)drop_route(host, &p);
	pthread_mutex_unlock(&host->lock);
	return fail(err, __func__, to, "no memory", errbuf, errlen);
}

int haul_host_remove_route(struct haul_host *host, const char *to, char *errbuf, size_t errlen)
{
	struct prefix p;
	bool found;
	int err;

	HAUL_MISUSE_IF(!host || !to, NO_HOST);
	if (parse_prefix(&p, to))
		return fail(-EINVAL, __func__, to, "no prefix, such as 0.0.0.0/0 or fd00:1::/48",
			errbuf, errlen);
	pthread_mutex_lock(&host->lock);
	found = drop_route(host, &p);
	pthread_mutex_unlock(&host->lock);
	if (!found)
		return fail(-ENOENT, __func__, to, "there is no such route", errbuf, errlen);
	err = hauli_host_publish(host);
	return err ? fail(err, __func__, to, "no memory", errbuf, errlen) : 0;
}
