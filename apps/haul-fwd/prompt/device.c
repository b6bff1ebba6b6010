/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about DPDK's devices behind the ports, in testpmd's words. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

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

static void show_device(
	const struct fwd_call *call, unsigned port, const struct haul_port_device *device)
{
	const struct rte_ether_addr own = haul_port_mac(call->app->ports[port]);
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	FILE *out = call->out;

	fprintf(out, "\n********************* Infos for device %s *********************\n",
		device->name);
	fprintf(out,
		"Bus name: %s\nBus information: \nDriver name: %s\nDevargs: %s\n"
		"Connect to socket: %d\n",
		device->bus, device->driver, device->args, device->socket);
	rte_ether_format_addr(mac, sizeof(mac), &own);
	fprintf(out, "\n\tPort id: %u \n\tMAC address: %s\n\tDevice name: %s\n", port, mac,
		device->name);
	show_speeds(device->speeds, out);
}

/* The device that is called so; NULL: all. False: there is none. */
static bool show_devices(const struct fwd_call *call, const char *wanted)
{
	struct haul_port_device device;
	bool found = false;

	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		for (unsigned d = 0; haul_port_get_device(call->app->ports[i], d, &device) == 0;
			d++) {
			if (wanted && strcmp(wanted, device.name) != 0)
				continue;
			show_device(call, i, &device);
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
	bool add = strcmp(WORD(1), "add") == 0;
	char errbuf[512];
	int err;

	if (call->words[2].number > UINT16_MAX) {
		fprintf(call->out, "Invalid UDP port %" PRIu64 "\n", call->words[2].number);
		return false;
	}
	err = haul_port_take_vxlan(
		call->app->ports[i], (uint16_t)call->words[2].number, add, errbuf, sizeof(errbuf));
	if (err)
		fprintf(call->out, "udp tunneling %s error: (%s) ", add ? "add" : "delete",
			strerror(-err));
	return fwd_result(call, err, errbuf);
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
