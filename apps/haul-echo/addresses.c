/* SPDX-License-Identifier: BSD-3-Clause */
#include "addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include <rte_ether.h>

static struct haul_app_texts ip4s, ip6s;

const struct haul_app_option address_options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXTS, &ip4s,
		.help = "IPv4 address to answer for; with several ports, repeat the option: one "
			"for each"},
	{"--ip6", "ADDR/LEN", HAUL_APP_TEXTS, &ip6s,
		.help = "IPv6 address to answer for; with several ports, repeat the option: one "
			"for each"},
	{NULL},
};

/* The address of port i, or NULL. */
static const char *pick(const struct haul_app_texts *texts, unsigned i)
{
	return i < texts->n ? texts->items[i] : NULL;
}

static int set(const struct haul_app_program *program, const char *option, const char *text,
	int (*parse)(struct haul_net_if *, const char *), struct haul_net_if *nif)
{
	switch (text ? parse(nif, text) : 0) {
	case 0:
		return HAUL_APP_DONE;
	case -EADDRNOTAVAIL:
		return haul_app_wrong(
			program, "%s %s: not an address of a host; give another", option, text);
	default:
		return haul_app_wrong(program,
			"%s %s: give an address and prefix length, such as %s", option, text,
			parse == haul_net_set_ip4 ? "10.0.0.1/24" : "fd00::1/64");
	}
}

/* Two ports cannot have one address: hosts at both would take the other port's answers. */
static int check(const struct haul_app *app, const char *option, const struct haul_app_texts *texts)
{
	if (texts->n == 0 || texts->n == app->nb_ports)
		return HAUL_APP_DONE;
	return haul_app_wrong(app->program,
		"%s: %u address%s given for %u port%s; give one for each port", option, texts->n,
		texts->n == 1 ? "" : "es", app->nb_ports, app->nb_ports == 1 ? "" : "s");
}

int addresses_set(const struct haul_app *app, struct haul_net_if ifs[HAUL_APP_PORTS_MAX])
{
	int rc = check(app, "--ip", &ip4s);

	if (rc == HAUL_APP_DONE)
		rc = check(app, "--ip6", &ip6s);
	if (rc != HAUL_APP_DONE)
		return rc;
	if (ip4s.n + ip6s.n == 0)
		return haul_app_wrong(app->program,
			"no address given: use --ip, for example --ip 10.0.0.1/24, or --ip6");
	for (unsigned i = 0; i < app->nb_ports && rc == HAUL_APP_DONE; i++) {
		rc = set(app->program, "--ip", pick(&ip4s, i), haul_net_set_ip4, &ifs[i]);
		if (rc == HAUL_APP_DONE)
			rc = set(app->program, "--ip6", pick(&ip6s, i), haul_net_set_ip6, &ifs[i]);
	}
	return rc;
}

#define WITH_PREFIX (INET6_ADDRSTRLEN + sizeof(", /128"))

/* ", ADDRESS/LENGTH" */
static void format_ip(char text[WITH_PREFIX], int family, const void *ip, unsigned prefix)
{
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(family, ip, addr, sizeof(addr));
	snprintf(text, WITH_PREFIX, ", %s/%u", addr, prefix);
}

void addresses_say_ready(const struct haul_app *app, unsigned port, const struct haul_net_if *nif)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE], ip4[WITH_PREFIX] = "", ip6[WITH_PREFIX] = "";

	rte_ether_format_addr(mac, sizeof(mac), (const struct rte_ether_addr *)nif->mac);
	if (pick(&ip4s, port))
		format_ip(ip4, AF_INET, nif->ip4, nif->ip4_prefix);
	if (pick(&ip6s, port))
		format_ip(ip6, AF_INET6, nif->ip6, nif->ip6_prefix);
	/* One call is one write: a reader never sees part of the line. */
	fprintf(stderr, "%s: ready: port %u (%s), %s%s%s\n", app->program->name, port,
		haul_port_spec(app->ports[port]), mac, ip4, ip6);
}
