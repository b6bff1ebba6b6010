/* SPDX-License-Identifier: BSD-3-Clause */
/* "set flow_ctrl": pause frames, in testpmd's words. Each command sets what it names, and leaves
 * the rest. */
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h> /* with ethdev's types */

#include "command.h"

#define WORD(i) (call->words[i].text)

struct setting {
	const char *name;
	const union fwd_word *value;
};

static void set_side(struct rte_eth_fc_conf *conf, bool rx, bool on)
{
	bool has_rx = conf->mode == RTE_ETH_FC_FULL || conf->mode == RTE_ETH_FC_RX_PAUSE;
	bool has_tx = conf->mode == RTE_ETH_FC_FULL || conf->mode == RTE_ETH_FC_TX_PAUSE;

	has_rx = rx ? on : has_rx;
	has_tx = rx ? has_tx : on;
	conf->mode = has_rx ? has_tx ? RTE_ETH_FC_FULL : RTE_ETH_FC_RX_PAUSE
		: has_tx    ? RTE_ETH_FC_TX_PAUSE
			    : RTE_ETH_FC_NONE;
}

static void apply(struct rte_eth_fc_conf *conf, const char *name, const union fwd_word *value)
{
	bool on = strcmp(value->text, "on") == 0;

	if (strcmp(name, "rx") == 0 || strcmp(name, "tx") == 0)
		set_side(conf, name[0] == 'r', on);
	else if (strcmp(name, "high_water") == 0)
		conf->high_water = (uint32_t)value->number;
	else if (strcmp(name, "low_water") == 0)
		conf->low_water = (uint32_t)value->number;
	else if (strcmp(name, "pause_time") == 0)
		conf->pause_time = (uint16_t)value->number;
	else if (strcmp(name, "send_xon") == 0)
		conf->send_xon = (uint16_t)value->number;
	else if (strcmp(name, "mac_ctrl_frame_fwd") == 0)
		conf->mac_ctrl_frame_fwd = on;
	else
		conf->autoneg = on;
}

/* The pairs of name and value of a command, and its port at the end. */
static bool set_pairs(const struct fwd_call *call, unsigned port, const struct setting *pairs)
{
	struct haul_port *to = call->app->ports[port];
	struct rte_eth_fc_conf conf;
	char errbuf[512];
	int err = haul_port_get_flow_control(to, &conf, errbuf, sizeof(errbuf));

	if (err) {
		fprintf(call->out,
			"cannot get current flow ctrl parameters, return code = %d: ", err);
		return fwd_result(call, err, errbuf);
	}
	for (; pairs->name; pairs++)
		apply(&conf, pairs->name, pairs->value);
	err = haul_port_set_flow_control(to, &conf, errbuf, sizeof(errbuf));
	if (err)
		fprintf(call->out, "bad flow control parameter, return code = %d: ", err);
	return fwd_result(call, err, errbuf);
}

static bool set_one(const struct fwd_call *call, unsigned port)
{
	return set_pairs(call, port, (struct setting[]){{WORD(2), &call->words[3]}, {0}});
}

static bool set(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(4), set_one);
}

static bool set_one_whole(const struct fwd_call *call, unsigned port)
{
	const union fwd_word *w = call->words;

	return set_pairs(call, port,
		(struct setting[]){{"rx", &w[3]}, {"tx", &w[5]}, {"high_water", &w[6]},
			{"low_water", &w[7]}, {"pause_time", &w[8]}, {"send_xon", &w[9]},
			{"mac_ctrl_frame_fwd", &w[11]}, {"autoneg", &w[13]}, {0}});
}

static bool set_whole(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(14), set_one_whole);
}

const struct fwd_command fwd_commands_flow_control[] = {
	{"set flow_ctrl rx|tx|mac_ctrl_frame_fwd|autoneg on|off PORT", set,
		"Let a device answer pause frames (rx), send them (tx), pass them on, or agree."},
	{"set flow_ctrl high_water|low_water|pause_time|send_xon N PORT", set,
		"Limits in bytes, and the time of a pause frame."},
	{"set flow_ctrl rx on|off tx on|off N N N N mac_ctrl_frame_fwd on|off autoneg on|off PORT",
		set_whole, "All at once: N are high_water, low_water, pause_time, send_xon."},
	{0},
};
