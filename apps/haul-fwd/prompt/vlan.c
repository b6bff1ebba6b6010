/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that have a port's device insert a VLAN tag into the frames that it sends. */
#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h> /* with the names of offloads */

#include "../vlan.h"
#include "command.h"

static bool change(const struct fwd_call *call, unsigned port, bool on)
{
	char errbuf[512];

	if (haul_port_change_offloads(call->app->ports[port], 0, RTE_ETH_TX_OFFLOAD_VLAN_INSERT, on,
		    errbuf, sizeof(errbuf)) == 0)
		return true;
	fprintf(call->out, "%s\n", errbuf);
	return false;
}

/* "tx_vlan set P N" */
static bool set_one(const struct fwd_call *call, unsigned port)
{
	const uint64_t vlan = call->words[3].number;

	if (vlan >= 4096) {
		fprintf(call->out, "Invalid vlan_id %llu (must be < 4096)\n",
			(unsigned long long)vlan);
		return false;
	}
	if (!change(call, port, true))
		return false;
	fwd_vlan_set(port, (uint16_t)vlan);
	return true;
}

static bool reset_one(const struct fwd_call *call, unsigned port)
{
	if (!change(call, port, false))
		return false;
	fwd_vlan_reset(port);
	return true;
}

static bool set(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, call->words[2].text, set_one);
}

static bool reset(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, call->words[2].text, reset_one);
}

const struct fwd_command fwd_commands_vlan[] = {
	{"tx_vlan set PORT N", set,
		"Let the device insert a tag of VLAN N into frames that a port sends; after stop."},
	{"tx_vlan reset PORT", reset, "Insert none any more; after stop."},
	{0},
};
