/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of mode csum: who computes the checksums of packets that a port sends. */
#include <string.h>

#include <haul-dpdk/port_config.h>

#include "../modes/csum.h"
#include "command.h"

#define WORD(i) (call->words[i].text)

static const char *const layers[FWD_CSUM_LAYERS] = {
	[FWD_CSUM_IP] = "ip",
	[FWD_CSUM_UDP] = "udp",
	[FWD_CSUM_TCP] = "tcp",
	[FWD_CSUM_SCTP] = "sctp",
};

static bool show_one(const struct fwd_call *call, unsigned port)
{
	for (unsigned i = 0; i < FWD_CSUM_LAYERS; i++)
		fprintf(call->out, "%s checksum offload of port %u is %s\n", layers[i], port,
			fwd_csum_is_hw(port, i) ? "hw" : "sw");
	return true;
}

/* "csum set ip hw P": the offload of the device goes with it. */
static bool set_one(const struct fwd_call *call, unsigned port)
{
	bool hw = strcmp(WORD(3), "hw") == 0;
	char errbuf[512];
	unsigned i = 0;

	while (strcmp(layers[i], WORD(2)) != 0)
		i++;
	if (haul_port_change_offloads(call->app->ports[port], 0, fwd_csum_offloads[i], hw, errbuf,
		    sizeof(errbuf)) != 0) {
		fprintf(call->out, "%s\n", errbuf);
		return false;
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
	{"csum mac-swap on|off PORT", set_macs, "In mode csum: set MAC addresses, or leave them."},
	{"csum show PORT", show, "Show who computes checksums."},
	{0},
};
