/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* In the order of the choices of the option. */
enum topology {
	PAIRED,
	CHAINED,
	LOOP,
};

/* The options. */
static unsigned topology;
static const char *port_list, *port_mask;
static uint64_t nb_ports;

/* Ports by their position, which the topology is about. */
struct list {
	unsigned ports[HAUL_APP_PORTS_MAX];
	unsigned n;
};
static struct list chosen;
static unsigned nb_forwarding; /* the first ones of chosen */

/* What follows, for haul_io_opts. */
static unsigned peers[HAUL_APP_PORTS_MAX];
static bool idle[HAUL_APP_PORTS_MAX];

static bool uses_topology(void)
{
	static const enum fwd_mode modes[] = {
		FWD_IO, FWD_MAC, FWD_MACSWAP, FWD_SWAP5, FWD_CSUM, FWD_NOISY};

	return fwd_may_run_one(modes, sizeof(modes) / sizeof(modes[0]));
}

/* A generator has all ports. */
static bool forwards(void)
{
	return fwd_run_next().mode != FWD_GENERATE;
}

const struct haul_app_option fwd_topology_options[] = {
	{"--port-topology", "paired|chained|loop", HAUL_APP_CHOICE, &topology,
		.help = "to which port each port forwards:\n"
			"paired: 0 and 1, 2 and 3, ... to each other, a last one to itself;\n"
			"chained: each to the next, the last to the first;\n"
			"loop: each to itself",
		.needs = "--mode io, mac, macswap, 5tswap, csum or noisy",
		.has_effect = uses_topology},
	{"--portlist", "LIST", HAUL_APP_TEXT, &port_list, .zero = "all",
		.help = "ports that forward, by their numbers, in the order of the topology, such "
			"as 0,2-3;\nnothing is received from the others",
		.needs = "another mode than generate", .has_effect = forwards},
	{"--portmask", "HEX", HAUL_APP_TEXT, &port_mask, .zero = "all",
		.help = "the same, with a bit for each port", .needs = "another mode than generate",
		.has_effect = forwards},
	{"--nb-ports", "N", HAUL_APP_NUMBER, &nb_ports, 1, HAUL_APP_PORTS_MAX, "all",
		"the same: the first N", .needs = "another mode than generate",
		.has_effect = forwards},
	{0},
};

/* The position of the peer of the port at position i of n. */
static unsigned peer_of(unsigned i, unsigned n)
{
	switch (topology) {
	case CHAINED:
		return (i + 1) % n;
	case LOOP:
		return i;
	default:
		return (i ^ 1) < n ? i ^ 1 : i;
	}
}

static void choose(const struct haul_app *app)
{
	for (unsigned i = 0; i < app->nb_ports; i++) {
		peers[i] = i;
		idle[i] = true;
	}
	for (unsigned i = 0; i < nb_forwarding; i++) {
		peers[chosen.ports[i]] = chosen.ports[peer_of(i, nb_forwarding)];
		idle[chosen.ports[i]] = false;
	}
}

/* Returns NULL, or what is wrong, as the end of a line. */
static const char *add(const struct haul_app *app, struct list *list, unsigned long port)
{
	if (port >= app->nb_ports)
		return "there is no such port";
	for (unsigned i = 0; i < list->n; i++)
		if (list->ports[i] == port)
			return "a port is named twice";
	list->ports[list->n++] = (unsigned)port;
	return NULL;
}

/* "0,2-3" */
static const char *parse_list(const struct haul_app *app, const char *text, struct list *list)
{
	static const char wrong[] = "give numbers of ports, such as 0,2-3";
	const char *why = NULL;
	unsigned long first, last;
	char *end;

	for (; !why; text = end + 1) {
		if (*text < '0' || *text > '9')
			return wrong;
		first = last = strtoul(text, &end, 10);
		if (end[0] == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (last < first || (*end && *end != ','))
			return wrong;
		for (; first <= last && !why; first++)
			why = add(app, list, first);
		if (!*end)
			break;
	}
	return why;
}

static const char *parse_mask(const struct haul_app *app, const char *text, struct list *list)
{
	uint64_t mask;
	char *end;

	mask = strtoull(text, &end, 16);
	if (!isxdigit((unsigned char)*text) || *end || mask == 0)
		return "give a bit for each port, in hexadecimal, such as 0x5";
	for (unsigned long port = 0; mask; port++, mask >>= 1) {
		const char *why = mask & 1 ? add(app, list, port) : NULL;

		if (why)
			return why;
	}
	return NULL;
}

int fwd_topology_parsed(struct haul_app *app, struct haul_io_opts *io)
{
	struct list all = {.n = app->nb_ports};
	const char *why = NULL;

	if (!!port_list + !!port_mask + !!nb_ports > 1)
		return haul_app_wrong(
			app->program, "give one of --portlist, --portmask and --nb-ports");
	for (unsigned i = 0; i < app->nb_ports; i++)
		all.ports[i] = i;
	if (port_list)
		why = parse_list(app, port_list, &chosen);
	else if (port_mask)
		why = parse_mask(app, port_mask, &chosen);
	else
		chosen = all;
	if (why)
		return haul_app_wrong(app->program, "--%s %s: %s; %u are given by --port",
			port_list ? "portlist" : "portmask", port_list ? port_list : port_mask, why,
			app->nb_ports);
	if (nb_ports > app->nb_ports)
		return haul_app_wrong(app->program,
			"--nb-ports %" PRIu64 ": %u are given by --port", nb_ports, app->nb_ports);
	nb_forwarding = nb_ports ? (unsigned)nb_ports : chosen.n;
	choose(app);
	io->peers = peers;
	io->idle = idle;
	return HAUL_APP_DONE;
}

unsigned fwd_topology_peer(unsigned port)
{
	return peers[port];
}

bool fwd_topology_forwards(unsigned port)
{
	return !idle[port];
}

unsigned fwd_topology_ports(void)
{
	return nb_forwarding;
}

static bool set(const struct haul_app *app, const struct list *list, FILE *out)
{
	if (list->n != nb_forwarding)
		fprintf(out,
			"previous number of forwarding ports %u - changed to number of configured "
			"ports %u\n",
			nb_forwarding, list->n);
	chosen = *list;
	nb_forwarding = list->n;
	choose(app);
	return true;
}

typedef const char *parse_fn(const struct haul_app *app, const char *text, struct list *list);

static bool set_by(
	const struct haul_app *app, parse_fn *parse, const char *what, const char *text, FILE *out)
{
	struct list list = {.n = 0};
	const char *why = parse(app, text, &list);

	if (!why)
		return set(app, &list, out);
	fprintf(out, "Invalid %s of ports %s: %s\n", what, text, why);
	return false;
}

bool fwd_topology_set_list(const struct haul_app *app, const char *text, FILE *out)
{
	return set_by(app, parse_list, "list", text, out);
}

bool fwd_topology_set_mask(const struct haul_app *app, const char *text, FILE *out)
{
	return set_by(app, parse_mask, "mask", text, out);
}

bool fwd_topology_set_number(const struct haul_app *app, uint64_t n, FILE *out)
{
	if (n == 0) {
		fprintf(out, "At least one port forwards\n");
		return false;
	}
	if (n > chosen.n) {
		fprintf(out,
			"nb fwd ports %" PRIu64 " > %u (number of configured ports) - ignored\n", n,
			chosen.n);
		return false;
	}
	nb_forwarding = (unsigned)n;
	choose(app);
	fprintf(out, "Number of forwarding ports set to %u\n", nb_forwarding);
	return true;
}
