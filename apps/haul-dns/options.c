/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dns_options dns_options = {
	.allow = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 fc00::/7 "
		 "fe80::/10",
	.udp_port = 53,
	.udp_max = DNS_UDP_SAFE,
	.connections = 1000,
	.cache_mb = 64,
	.stale = 86400 * HAUL_S,
	.patience = 1800 * HAUL_MS,
	.timeout = 4 * HAUL_S,
	.stop_time = HAUL_S,
	.slip = 2,
};

static bool has_rate(void)
{
	return dns_options.rate > 0;
}

static bool has_tcp(void)
{
	return dns_options.tcp != NULL;
}

static bool has_stale(void)
{
	return dns_options.stale > 0;
}

const struct haul_app_option dns_option_table[] = {
	{"--address", "ADDR/LEN[@N]", HAUL_APP_TEXTS, &dns_options.addresses, .zero = "kernel",
		.help = "an address for which port N (0) answers, with the length of its network's "
			"prefix; kernel: those of the ports' interfaces, for afxdp, with their "
			"routes"},
	{"--route", "NET=ADDR[@N]", HAUL_APP_TEXTS, &dns_options.routes, .zero = "none",
		.help = "the gateway to a network, such as 0.0.0.0/0=10.0.0.1, on port N (0)"},
	{"--upstream", "ADDR[:PORT]", HAUL_APP_TEXTS, &dns_options.upstreams, .zero = "none",
		.help = "a server to ask; of several, the fastest; [fd00::1]:5353"},
	{"--upstreams", "FILE", HAUL_APP_TEXT, &dns_options.upstreams_file, .zero = "none",
		.help = "more of them, as in resolv.conf(5): \"nameserver ADDR\""},
	{"--hosts", "FILE", HAUL_APP_TEXT, &dns_options.hosts_file, .zero = "none",
		.help = "names that are answered from a file in the format of hosts(5)"},
	{"--allow", "NETS", HAUL_APP_TEXT, &dns_options.allow,
		.help = "networks that may ask, in one argument; ! denies"},
	{"--acl", "FILE", HAUL_APP_TEXT, &dns_options.acl_file, .zero = "none",
		.help = "networks that may ask, from a file, in place of --allow"},
	{"--id", "NAME", HAUL_APP_TEXT, &dns_options.id, .zero = "none",
		.help = "the name of this server, for who asks for id.server TXT in class CH"},
	{"--udp-port", "N", HAUL_APP_NUMBER, &dns_options.udp_port, .min = 1, .max = 65535,
		.help = "local port of the service"},
	{"--udp-size", "BYTES", HAUL_APP_NUMBER, &dns_options.udp_max, .min = 512, .max = 1472,
		.help = "longest answer by UDP, if the MTU of its port has room for it"},
	{"--tcp", "ADDR:PORT", HAUL_APP_TEXT, &dns_options.tcp, .zero = "none",
		.help = "serve TCP, too, on an address of the kernel, which does it;\n"
			"systemd[:NAME]: on a socket that systemd passes"},
	{"--connections", "N", HAUL_APP_NUMBER, &dns_options.connections, .min = 1, .max = 1000000,
		.help = "most connections by TCP", .needs = "--tcp", .has_effect = has_tcp},
	{"--cache", "MB", HAUL_APP_NUMBER, &dns_options.cache_mb, .min = 1, .max = 1 << 20,
		.help = "memory of answers"},
	{"--cache-entries", "N", HAUL_APP_NUMBER, &dns_options.entries, .min = 1024, .max = 1 << 28,
		.zero = "2,000 for each MB", .help = "most answers in the cache"},
	{"--stale", "TIME", HAUL_APP_TIME, &dns_options.stale, .max = 7 * 86400 * HAUL_S,
		.zero = "none", .help = "expired answers are kept, for when no server answers"},
	{"--patience", "TIME", HAUL_APP_TIME, &dns_options.patience, .min = 1, .max = 60 * HAUL_S,
		.help = "a client that has waited gets an expired answer", .needs = "--stale",
		.has_effect = has_stale},
	{"--timeout", "TIME", HAUL_APP_TIME, &dns_options.timeout, .min = 1, .max = 60 * HAUL_S,
		.help = "a client that has waited is told of a failure"},
	{"--stop-time", "TIME", HAUL_APP_TIME, &dns_options.stop_time, .max = 60 * HAUL_S,
		.zero = "none",
		.help = "longest time for queries that wait for servers when the program is to "
			"end"},
	{"--rate", "N", HAUL_APP_NUMBER, &dns_options.rate, .max = 100000, .zero = "no limit",
		.help = "equal answers a second by UDP to a network (/24, /56), unless the client "
			"has a cookie"},
	{"--error-rate", "N", HAUL_APP_NUMBER, &dns_options.error_rate, .min = 1, .max = 100000,
		.zero = "--rate", .help = "the same of errors and missing names", .needs = "--rate",
		.has_effect = has_rate},
	{"--slip", "N", HAUL_APP_NUMBER, &dns_options.slip, .max = 255, .zero = "none",
		.help = "one of N beyond the rate sends the client to TCP", .needs = "--rate",
		.has_effect = has_rate},
	{NULL},
};

/* "TEXT@2": cuts off the number of a port. Returns a copy of the rest, or NULL after a line. */
static char *split_port(
	const struct haul_app *app, const char *option, const char *text, unsigned *port)
{
	char *copy = strdup(text), *at = copy ? strrchr(copy, '@') : NULL, *end;

	*port = 0;
	if (!at)
		return copy;
	*at++ = '\0';
	if (*at >= '0' && *at <= '9' && strlen(at) < 4) {
		*port = (unsigned)strtoul(at, &end, 10);
		if (*end == '\0' && *port < app->nb_ports)
			return copy;
	}
	haul_app_wrong(app->program, "%s %s: there is no port %s", option, text, at);
	free(copy);
	return NULL;
}

static int add_address(struct haul_app *app, struct haul_host *host, const char *text)
{
	char line[256], *address;
	unsigned port;
	int err;

	address = split_port(app, "--address", text, &port);
	if (!address)
		return HAUL_APP_USAGE;
	err = haul_host_add_address(host, port, address, line, sizeof(line));
	free(address);
	return err ? haul_app_wrong(app->program, "--address %s: %s", text, line) : HAUL_APP_DONE;
}

static int add_route(struct haul_app *app, struct haul_host *host, const char *text)
{
	char line[256], *to, *gateway;
	unsigned port;
	int err;

	to = split_port(app, "--route", text, &port);
	if (!to)
		return HAUL_APP_USAGE;
	gateway = strchr(to, '=');
	if (!gateway) {
		free(to);
		return haul_app_wrong(app->program,
			"--route %s: give a network and its gateway, such as 0.0.0.0/0=10.0.0.1",
			text);
	}
	*gateway++ = '\0';
	err = haul_host_add_route(host, to, gateway, port, line, sizeof(line));
	free(to);
	return err ? haul_app_wrong(app->program, "--route %s: %s", text, line) : HAUL_APP_DONE;
}

static int read_kernel(struct haul_app *app, struct haul_host *host)
{
	char line[256];
	int sum = 0;

	for (unsigned i = 0; i < app->nb_ports; i++) {
		const char *nic = haul_port_nic(app->ports[i]);
		int n = nic ? haul_host_read_kernel(host, i, nic, line, sizeof(line)) : 0;

		if (n < 0) {
			haul_app_say(app->program, "%s", line);
			return HAUL_APP_FAILED;
		}
		sum += n;
	}
	return sum > 0 ? HAUL_APP_DONE
		       : haul_app_wrong(app->program,
				 "no interface of the ports has an address in the kernel: use "
				 "--address, for example --address 10.0.0.2/24");
}

static bool asks_kernel(void)
{
	const struct haul_app_texts *addresses = &dns_options.addresses;

	for (unsigned i = 0; i < addresses->n; i++)
		if (strcmp(addresses->items[i], "kernel") == 0)
			return true;
	return addresses->n == 0;
}

static int add_routes(struct haul_app *app, struct haul_host *host)
{
	int rc = HAUL_APP_DONE;

	for (unsigned i = 0; i < dns_options.routes.n && rc == HAUL_APP_DONE; i++)
		rc = add_route(app, host, dns_options.routes.items[i]);
	return rc;
}

int dns_host_add_given(struct haul_app *app, struct haul_host *host)
{
	const struct haul_app_texts *addresses = &dns_options.addresses;
	int rc = HAUL_APP_DONE;

	for (unsigned i = 0; i < addresses->n && rc == HAUL_APP_DONE; i++)
		if (strcmp(addresses->items[i], "kernel") != 0)
			rc = add_address(app, host, addresses->items[i]);
	return rc == HAUL_APP_DONE && !asks_kernel() ? add_routes(app, host) : rc;
}

int dns_host_add_kernel(struct haul_app *app, struct haul_host *host)
{
	int rc;

	if (!asks_kernel())
		return HAUL_APP_DONE;
	rc = read_kernel(app, host);
	return rc == HAUL_APP_DONE ? add_routes(app, host) : rc;
}
