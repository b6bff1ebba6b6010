/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file of routes. */
#include "route.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/file.h>

#include "route_list.h"

#define BYTES_MAX (UINT64_C(256) << 20)
#define SPACE " \t\r\n"

/* A line of the file, taken apart. */
struct line {
	char *prefix, *port, *mac, *more;
};

static void *grown(void *array, unsigned n, size_t size)
{
	/* Room for 16, 32, 64, ... */
	if (n < 16 ? n == 0 : (n & (n - 1)) == 0)
		array = reallocarray(array, n < 16 ? 16 : 2 * (size_t)n, size);
	if (!array)
		abort();
	return array;
}

static bool has_bits_beyond(const struct fwd_route *r)
{
	unsigned bytes = r->version == 4 ? 4 : 16;

	for (unsigned i = r->len / 8; i < bytes; i++)
		if (r->prefix[i] & (i == r->len / 8 ? 0xff >> r->len % 8 : 0xff))
			return true;
	return false;
}

/* Each returns NULL, or the reason why the text is wrong. */
static const char *parse_prefix(struct fwd_route *r, char *text)
{
	char *slash = strchr(text, '/'), *end;
	unsigned long len;

	if (!slash)
		return "the prefix needs a length, such as 10.0.0.0/8 or 2001:db8::/32";
	*slash = '\0';
	if (inet_pton(AF_INET, text, r->prefix) == 1)
		r->version = 4;
	else if (inet_pton(AF_INET6, text, r->prefix) == 1)
		r->version = 6;
	else
		return "the prefix is neither an IPv4 nor an IPv6 address";
	len = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end || slash[1] == '-' || slash[1] == '+' ||
		len > (r->version == 4 ? 32 : 128))
		return r->version == 4 ? "the length of an IPv4 prefix is 0 to 32"
				       : "the length of an IPv6 prefix is 0 to 128";
	r->len = (uint8_t)len;
	return has_bits_beyond(r) ? "the prefix has bits beyond its length" : NULL;
}

static const char *parse_port(struct fwd_hop *hop, const char *text, unsigned nb_ports)
{
	char *end;
	unsigned long port;

	if (!text)
		return "a port is missing after the prefix";
	port = strtoul(text, &end, 10);
	if (*end || *text == '-' || *text == '+')
		return "the port is a number, from 0, as in the order of --port";
	if (port >= nb_ports)
		return "there is no such port: they are numbered from 0, as in the order of --port";
	hop->port = (uint16_t)port;
	return NULL;
}

static const char *parse_mac(struct fwd_hop *hop, const char *text)
{
	if (!text)
		return NULL;
	if (rte_ether_unformat_addr(text, &hop->macs[0]) != 0)
		return "the next hop is no MAC address, such as 02:00:00:00:00:01";
	if (!rte_is_unicast_ether_addr(&hop->macs[0]) || rte_is_zero_ether_addr(&hop->macs[0]))
		return "the next hop is no MAC address of a station";
	hop->has_mac = true;
	return NULL;
}

static const char *parse_line(
	struct fwd_route *r, struct fwd_hop *hop, const struct line *line, unsigned nb_ports)
{
	const char *wrong = parse_prefix(r, line->prefix);

	if (!wrong)
		wrong = parse_port(hop, line->port, nb_ports);
	if (!wrong)
		wrong = parse_mac(hop, line->mac);
	if (!wrong && line->more)
		wrong = "more than a prefix, a port and a MAC address";
	return wrong;
}

static uint16_t index_of(struct fwd_routes *routes, const struct fwd_hop *hop)
{
	unsigned i;

	for (i = 1; i < routes->nb_hops; i++)
		if (memcmp(&routes->hops[i], hop, sizeof(*hop)) == 0)
			return (uint16_t)i;
	if (i > FWD_HOPS_MAX)
		return 0;
	routes->hops = grown(routes->hops, routes->nb_hops, sizeof(*hop));
	routes->hops[routes->nb_hops++] = *hop;
	return (uint16_t)i;
}

static const char *add(struct fwd_routes *routes, const struct line *line, unsigned nb_ports)
{
	struct fwd_route r;
	struct fwd_hop hop;
	const char *wrong;

	memset(&r, 0, sizeof(r));
	memset(&hop, 0, sizeof(hop)); /* with its padding: index_of() compares all bytes */
	wrong = parse_line(&r, &hop, line, nb_ports);
	if (wrong)
		return wrong;
	r.hop = index_of(routes, &hop);
	if (r.hop == 0)
		return "there are more than 32767 different next hops";
	routes->routes = grown(routes->routes, routes->nb_routes, sizeof(r));
	routes->routes[routes->nb_routes++] = r;
	return NULL;
}

static const char *read_line(struct fwd_routes *routes, char *text, unsigned nb_ports)
{
	struct line line;
	char *rest;

	text[strcspn(text, "#")] = '\0';
	line.prefix = strtok_r(text, SPACE, &rest);
	if (!line.prefix)
		return NULL;
	line.port = strtok_r(NULL, SPACE, &rest);
	line.mac = strtok_r(NULL, SPACE, &rest);
	line.more = strtok_r(NULL, SPACE, &rest);
	return add(routes, &line, nb_ports);
}

static int read_file(struct fwd_routes *routes, const struct haul_app_program *program,
	const char *path, unsigned nb_ports, FILE *file)
{
	const char *wrong = NULL;
	unsigned number = 0;
	char *text = NULL;
	size_t size = 0;

	while (!wrong && getline(&text, &size, file) >= 0) {
		number++;
		wrong = read_line(routes, text, nb_ports);
	}
	free(text);
	if (ferror(file))
		return HAUL_APP_DONE; /* closing it tells why, and the last line may be torn */
	if (wrong)
		haul_app_say(program, "%s:%u: %s", path, number, wrong);
	else if (routes->nb_routes == 0)
		haul_app_say(program, "--routes %s: the file has no route", path);
	else
		return HAUL_APP_DONE;
	return HAUL_APP_USAGE;
}

int fwd_routes_read(struct fwd_routes **routes, const struct haul_app_program *program,
	const char *path, unsigned nb_ports)
{
	struct haul_app_input in;
	struct fwd_routes *r;
	char errbuf[256];
	int rc;

	if (haul_app_input_open(&in, path, BYTES_MAX, errbuf, sizeof(errbuf)) != 0) {
		haul_app_say(program, "--routes %s: %s", path, errbuf);
		return HAUL_APP_USAGE;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	r->hops = grown(NULL, 0, sizeof(r->hops[0]));
	memset(r->hops, 0, sizeof(r->hops[0]));
	r->nb_hops = 1;
	rc = read_file(r, program, path, nb_ports, in.file);
	if (haul_app_input_close(&in, errbuf, sizeof(errbuf)) != 0 && rc == HAUL_APP_DONE) {
		haul_app_say(program, "--routes %s: %s", path, errbuf);
		rc = HAUL_APP_USAGE;
	}
	if (rc == HAUL_APP_DONE)
		*routes = r;
	else
		fwd_routes_free(r);
	return rc;
}

void fwd_routes_free(struct fwd_routes *routes)
{
	if (!routes)
		return;
	free(routes->hops);
	free(routes->routes);
	free(routes);
}
