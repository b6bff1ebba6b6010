/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that have a port's device insert a VLAN tag into the frames that it sends. */
#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h> /* with the names of offloads */

#include "../vlan.h"
#include "command.h"

#define INSERT RTE_ETH_TX_OFFLOAD_VLAN_INSERT
#define INSERT_TWO (INSERT | RTE_ETH_TX_OFFLOAD_QINQ_INSERT)

static bool change(const struct fwd_call *call, unsigned port, uint64_t offloads, bool on)
{
	char errbuf[512];

	return fwd_result(call,
		haul_port_change_offloads(
			call->app->ports[port], 0, offloads, on, errbuf, sizeof(errbuf)),
		errbuf);
}

static bool has(const struct fwd_call *call, unsigned port, uint64_t offloads)
{
	struct haul_port_info info;

	if (haul_port_get_info(call->app->ports[port], &info) == 0 &&
		(info.dev.tx_offload_capa & offloads) == offloads)
		return true;
	fprintf(call->out,
		offloads == INSERT ? "Error: vlan insert is not supported by port %u\n"
				   : "Error: qinq insert not supported by port %u\n",
		port);
	return false;
}

/* "tx_vlan set P N" */
static bool set_one(const struct fwd_call *call, unsigned port)
{
	const uint64_t vlan = call->words[3].number;

	if (!fwd_is_vlan(call, vlan) || !has(call, port, INSERT) ||
		!change(call, port, INSERT, true))
		return false;
	fwd_vlan_set(port, (uint16_t)vlan);
	return true;
}

/* "tx_vlan set P N N": the outer one behind the inner one */
static bool set_two_one(const struct fwd_call *call, unsigned port)
{
	const uint64_t vlan = call->words[3].number, outer = call->words[4].number;

	if (!fwd_is_vlan(call, vlan) || !fwd_is_vlan(call, outer) || !has(call, port, INSERT_TWO) ||
		!change(call, port, INSERT_TWO, true))
		return false;
	fwd_vlan_set_two(port, (uint16_t)vlan, (uint16_t)outer);
	return true;
}

static bool reset_one(const struct fwd_call *call, unsigned port)
{
	if (!change(call, port, INSERT_TWO, false))
		return false;
	fwd_vlan_reset(port);
	return true;
}

static bool set(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, call->words[2].text, set_one);
}

static bool set_two(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, call->words[2].text, set_two_one);
}

static bool reset(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, call->words[2].text, reset_one);
}

const struct fwd_command fwd_commands_vlan[] = {
	{"tx_vlan set PORT N", set,
		"Let the device insert a tag of VLAN N into frames that a port sends; after stop."},
	{"tx_vlan set PORT N N", set_two, "The same with two tags: the inner, the outer one."},
	{"tx_vlan reset PORT", reset, "Insert none any more; after stop."},
	{0},
};
