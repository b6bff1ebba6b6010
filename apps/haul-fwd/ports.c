/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"

/* In the order of the choices. */
enum topology {
	PAIRED,
	CHAINED,
	LOOP,
};

static unsigned topology;
static unsigned peers[HAUL_APP_PORTS_MAX];

const struct haul_app_option fwd_ports_options[] = {
	{"--port-topology", "paired|chained|loop", HAUL_APP_CHOICE, &topology,
		.help = "to which port each port forwards:\n"
			"paired: 0 and 1, 2 and 3, ... to each other, a last one to itself;\n"
			"chained: each to the next, the last to the first;\n"
			"loop: each to itself"},
	{0},
};

static unsigned choose_peer(unsigned port, unsigned nb_ports)
{
	switch (topology) {
	case CHAINED:
		return (port + 1) % nb_ports;
	case LOOP:
		return port;
	default:
		return (port ^ 1) < nb_ports ? port ^ 1 : port;
	}
}

void fwd_ports_parsed(const struct haul_app *app, struct haul_io_opts *io)
{
	for (unsigned i = 0; i < app->nb_ports; i++)
		peers[i] = choose_peer(i, app->nb_ports);
	io->peers = peers;
}

unsigned fwd_ports_peer(unsigned port)
{
	return peers[port];
}
