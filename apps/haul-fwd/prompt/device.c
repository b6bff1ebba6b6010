/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about DPDK's devices behind the ports, in testpmd's words. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_info.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "command.h"

#define WORD(i) (call->words[i].text)

static void show_speeds(uint32_t speeds, FILE *out)
{
	fprintf(out, "\tDevice speed capability:");
	if (speeds == RTE_ETH_LINK_SPEED_AUTONEG)
		fprintf(out, " Autonegotiate (all speeds)");
	if (speeds & RTE_ETH_LINK_SPEED_FIXED)
		fprintf(out, " Disable autonegotiate (fixed speed)");
	for (unsigned bit = 1; bit < 32; bit++) {
		static const char *const names[32] = {[1] = "10 Mbps half-duplex",
			"10 Mbps full-duplex",
			"100 Mbps half-duplex",
			"100 Mbps full-duplex",
			"1 Gbps",
			"2.5 Gbps",
			"5 Gbps",
			"10 Gbps",
			"20 Gbps",
			"25 Gbps",
			"40 Gbps",
			"50 Gbps",
			"56 Gbps",
			"100 Gbps",
			"200 Gbps",
			"400 Gbps"};

		if (names[bit] && (speeds & UINT32_C(1) << bit))
			fprintf(out, " %s ", names[bit]);
	}
	fputc('\n', out);
}

static void show_device(const struct fwd_call *call, unsigned port, uint16_t id)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE], name[RTE_ETH_NAME_MAX_LEN] = "";
	const struct rte_ether_addr own = haul_port_mac(call->app->ports[port]);
	const struct rte_devargs *args;
	struct rte_eth_dev_info info;
	FILE *out = call->out;

	if (rte_eth_dev_info_get(id, &info) != 0)
		return;
	args = rte_dev_devargs(info.device);
	fprintf(out, "\n********************* Infos for device %s *********************\n",
		rte_dev_name(info.device));
	fprintf(out, "Bus name: %s\n", rte_bus_name(rte_dev_bus(info.device)));
	fprintf(out, "Driver name: %s\n", info.driver_name);
	fprintf(out, "Devargs: %s\n", args && args->args ? args->args : "");
	fprintf(out, "Connect to socket: %d\n", rte_dev_numa_node(info.device));
	rte_ether_format_addr(mac, sizeof(mac), &own);
	rte_eth_dev_get_name_by_port(id, name);
	fprintf(out, "\n\tPort id: %u \n\tMAC address: %s\n\tDevice name: %s\n", port, mac, name);
	show_speeds(info.speed_capa, out);
}

/* The device that is called so; NULL: all. False: there is none. */
static bool show_devices(const struct fwd_call *call, const char *wanted)
{
	bool found = false;

	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		uint16_t last = RTE_MAX_ETHPORTS;

		/* Some ports have a device for each queue. */
		for (unsigned q = 0; q < haul_port_queues(call->app->ports[i]); q++) {
			uint16_t id = haul_port_queue(call->app->ports[i], q).port_id;
			char name[RTE_ETH_NAME_MAX_LEN] = "";

			if (id == last || rte_eth_dev_get_name_by_port(id, name) != 0)
				continue;
			last = id;
			if (wanted && strcmp(wanted, name) != 0)
				continue;
			show_device(call, i, id);
			found = true;
		}
	}
	return found;
}

static bool show_info(const struct fwd_call *call)
{
	const char *name = WORD(3);
	bool all = strcmp(name, "all") == 0;

	if (show_devices(call, all ? NULL : name) || all)
		return true;
	fprintf(call->out, "Device %s is of no port: see show device info all\n", name);
	return false;
}

/* "rx_vxlan_port add N P" */
static bool change_tunnel(const struct fwd_call *call, unsigned i)
{
	struct rte_eth_udp_tunnel tunnel = {.udp_port = (uint16_t)call->words[2].number,
		.prot_type = RTE_ETH_TUNNEL_TYPE_VXLAN};
	const uint16_t id = haul_port_queue(call->app->ports[i], 0).port_id;
	bool add = strcmp(WORD(1), "add") == 0;
	int err;

	if (call->words[2].number > UINT16_MAX) {
		fprintf(call->out, "Invalid UDP port %" PRIu64 "\n", call->words[2].number);
		return false;
	}
	err = add ? rte_eth_dev_udp_tunnel_port_add(id, &tunnel)
		  : rte_eth_dev_udp_tunnel_port_delete(id, &tunnel);
	if (err < 0)
		fprintf(call->out, "udp tunneling %s error: (%s)\n", add ? "add" : "delete",
			strerror(-err));
	return err >= 0;
}

static bool add_or_remove_tunnel(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), change_tunnel);
}

const struct fwd_command fwd_commands_device[] = {
	{"show device info DEVICE", show_info, "Show DPDK's device of this name, or all."},
	{"rx_vxlan_port add|rm N PORT", add_or_remove_tunnel,
		"Let the device take UDP port N for VXLAN, or not."},
	{0},
};
