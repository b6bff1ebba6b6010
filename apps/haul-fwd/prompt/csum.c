/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of mode csum: who computes the checksums of packets that a port sends. */
#include <string.h>

#include <haul-dpdk/port_config.h>

#include "../modes/csum.h"
#include "command.h"

#define WORD(i) (call->words[i].text)

static const struct {
	const char *word, *name; /* in testpmd's lines */
} layers[FWD_CSUM_LAYERS] = {
	[FWD_CSUM_IP] = {"ip", "IP"},
	[FWD_CSUM_UDP] = {"udp", "UDP"},
	[FWD_CSUM_TCP] = {"tcp", "TCP"},
	[FWD_CSUM_SCTP] = {"sctp", "SCTP"},
};

static bool show_one(const struct fwd_call *call, unsigned port)
{
	fprintf(call->out, "Parse tunnel is off\n");
	for (unsigned i = 0; i < FWD_CSUM_LAYERS; i++)
		fprintf(call->out, "%s checksum offload is %s\n", layers[i].name,
			fwd_csum_is_hw(port, i) ? "hw" : "sw");
	fprintf(call->out, "Outer-Ip checksum offload is sw\nOuter-Udp checksum offload is sw\n");
	return true;
}

/* "csum set outer-ip hw P", "csum parse-tunnel on P" */
static bool refuse_tunnels(const struct fwd_call *call, const char *what, unsigned port)
{
	fprintf(call->out, "%s is not supported by port %u: mode csum looks into no tunnels\n",
		what, port);
	return false;
}

static bool set_outer_one(const struct fwd_call *call, unsigned port)
{
	if (strcmp(WORD(3), "hw") == 0)
		return refuse_tunnels(call,
			strcmp(WORD(2), "outer-ip") == 0 ? "Outer IP checksum offload"
							 : "Outer UDP checksum offload",
			port);
	return show_one(call, port);
}

static bool set_outer(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, WORD(4), set_outer_one);
}

static bool parse_tunnel_one(const struct fwd_call *call, unsigned port)
{
	if (strcmp(WORD(2), "on") == 0)
		return refuse_tunnels(call, "Parsing of tunnels", port);
	return show_one(call, port);
}

static bool parse_tunnel(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), parse_tunnel_one);
}

/* "csum set ip hw P": the offload of the device goes with it. */
static bool set_one(const struct fwd_call *call, unsigned port)
{
	bool hw = strcmp(WORD(3), "hw") == 0;
	char errbuf[512];
	unsigned i = 0;

	while (strcmp(layers[i].word, WORD(2)) != 0)
		i++;
	if (haul_port_change_offloads(call->app->ports[port], 0, fwd_csum_offloads[i], hw, errbuf,
		    sizeof(errbuf)) != 0) {
		fprintf(call->out,
			"%s checksum offload is not supported by port %u: ", layers[i].name, port);
		return fwd_result(call, -1, errbuf);
	}
	return fwd_csum_set(port, i, hw) == 0 && show_one(call, port);
}

static bool set(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, WORD(4), set_one);
}

static bool show(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_one);
}

/* "csum mac-swap on P" */
static bool set_macs_one(const struct fwd_call *call, unsigned port)
{
	return fwd_csum_set_macs(port, strcmp(WORD(2), "on") == 0) == 0;
}

static bool set_macs(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, WORD(3), set_macs_one);
}

const struct fwd_command fwd_commands_csum[] = {
	{"csum set ip|udp|tcp|sctp hw|sw PORT", set,
		"In mode csum: let the device compute a checksum, or haul-fwd; after stop."},
	{"csum set outer-ip|outer-udp hw|sw PORT", set_outer,
		"sw: leave checksums outside of tunnels alone, as always; after stop."},
	{"csum parse-tunnel on|off PORT", parse_tunnel,
		"off: take what is in a tunnel for payload, as always."},
	{"csum mac-swap on|off PORT", set_macs, "In mode csum: set MAC addresses, or leave them."},
	{"csum show PORT", show, "Show who computes checksums."},
	{0},
};
