/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about what only some devices have: descriptors, packet types, EEPROMs, speeds, types of
 * VLAN tags; in testpmd's words, also for what is refused. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include <rte_mbuf_ptype.h>

#include "../speed.h"
#include "command.h"

#define WORD(i) (call->words[i].text)

static unsigned queue_of(const struct fwd_call *call)
{
	return (unsigned)RTE_MIN(call->words[4].number, (uint64_t)UINT16_MAX);
}

static const char *rx_status(int status)
{
	return status == RTE_ETH_RX_DESC_AVAIL   ? "AVAILABLE"
		: status == RTE_ETH_RX_DESC_DONE ? "DONE"
						 : "UNAVAILABLE";
}

static const char *tx_status(int status)
{
	return status == RTE_ETH_TX_DESC_FULL    ? "FULL"
		: status == RTE_ETH_TX_DESC_DONE ? "DONE"
						 : "UNAVAILABLE";
}

/* "show port P rxq|txq Q desc N status" */
static bool show_descriptor_one(const struct fwd_call *call, unsigned i)
{
	const uint64_t offset = call->words[6].number;
	bool rx = WORD(3)[0] == 'r';
	int status = -EINVAL;

	if (offset <= UINT16_MAX)
		status = haul_port_get_descriptor(
			fwd_port_of(call, i), queue_of(call), rx, (uint16_t)offset);
	if (status < 0) {
		fprintf(call->out, "Invalid input: queue id = %u, desc id = %" PRIu64 "\n",
			queue_of(call), offset);
		return false;
	}
	fprintf(call->out, "Desc status = %s\n", rx ? rx_status(status) : tx_status(status));
	return true;
}

static bool show_descriptor(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_descriptor_one);
}

/* "show port P rxq|txq Q desc used count" */
static bool show_used_one(const struct fwd_call *call, unsigned i)
{
	bool rx = WORD(3)[0] == 'r';
	int n = haul_port_count_descriptors(fwd_port_of(call, i), queue_of(call), rx);

	if (n < 0)
		fprintf(call->out, "Invalid queueid = %u: %s\n", queue_of(call), strerror(-n));
	else
		fprintf(call->out, "%s %u used desc count = %d\n", rx ? "RxQ" : "TxQ",
			queue_of(call), n);
	return n >= 0;
}

static bool show_used(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_used_one);
}

#define PTYPES_MOST 256

static void show_layer(const struct fwd_call *call, unsigned port, uint32_t mask, const char *layer)
{
	uint32_t types[PTYPES_MOST];
	char name[256];
	int n = haul_port_get_ptypes(fwd_port_of(call, port), mask, types, PTYPES_MOST);

	if (n <= 0) {
		fprintf(call->out, "%s ptypes unsupported\n", layer);
		return;
	}
	fprintf(call->out, "Supported %s ptypes:\n", layer);
	for (int i = 0; i < RTE_MIN(n, PTYPES_MOST); i++) {
		rte_get_ptype_name(types[i], name, sizeof(name));
		fprintf(call->out, "%s\n", name);
	}
}

/* "show port P ptypes" */
static bool show_ptypes_one(const struct fwd_call *call, unsigned i)
{
	static const struct {
		uint32_t mask;
		const char *name;
	} layers[] = {
		{RTE_PTYPE_L2_MASK, "L2"},
		{RTE_PTYPE_L3_MASK, "L3"},
		{RTE_PTYPE_L4_MASK, "L4"},
		{RTE_PTYPE_TUNNEL_MASK, "Tunnel"},
		{RTE_PTYPE_INNER_L2_MASK, "Inner L2"},
		{RTE_PTYPE_INNER_L3_MASK, "Inner L3"},
		{RTE_PTYPE_INNER_L4_MASK, "Inner L4"},
	};

	for (unsigned l = 0; l < RTE_DIM(layers); l++)
		show_layer(call, i, layers[l].mask, layers[l].name);
	return true;
}

static bool show_ptypes(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_ptypes_one);
}

/* "set port P ptype_mask N" */
static bool set_ptypes_one(const struct fwd_call *call, unsigned i)
{
	const uint32_t mask = (uint32_t)call->words[4].number;
	uint32_t types[PTYPES_MOST];
	char errbuf[512], name[256];
	int n = haul_port_get_ptypes(fwd_port_of(call, i), RTE_PTYPE_ALL_MASK, types, PTYPES_MOST);

	if (n <= 0) {
		fprintf(call->out, "Port %u doesn't support any ptypes.\n", i);
		return false;
	}
	if (haul_port_set_ptypes(fwd_port_of(call, i), mask, errbuf, sizeof(errbuf)) != 0) {
		fprintf(call->out, "Unable to set requested ptypes for Port %u: ", i);
		return fwd_result(call, -EINVAL, errbuf);
	}
	fprintf(call->out, "Successfully set following ptypes for Port %u\n", i);
	for (int t = 0; t < RTE_MIN(n, PTYPES_MOST); t++) {
		if (!(types[t] & mask))
			continue;
		rte_get_ptype_name(types[t] & mask, name, sizeof(name));
		fprintf(call->out, "%s\n", name);
	}
	return true;
}

static bool set_ptypes(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_ptypes_one);
}

/* As rte_hexdump() has them. */
static void print_bytes(FILE *out, const uint8_t *bytes, int n)
{
	fprintf(out, "hexdump at [%p], len=%d\n", (const void *)bytes, n);
	for (int at = 0; at < n; at += 16) {
		fprintf(out, "%08X:", (unsigned)at);
		for (int i = at; i < at + 16; i++)
			if (i < n)
				fprintf(out, " %02X", bytes[i]);
			else
				fprintf(out, "   ");
		fprintf(out, " | ");
		for (int i = at; i < RTE_MIN(at + 16, n); i++)
			fputc(isprint(bytes[i]) ? bytes[i] : '.', out);
		fputc('\n', out);
	}
}

/* "show port P eeprom" */
static bool show_eeprom_one(const struct fwd_call *call, unsigned i)
{
	int n = haul_port_read_eeprom(fwd_port_of(call, i), NULL, 0);
	uint8_t *bytes = n > 0 ? calloc(1, (size_t)n) : NULL;

	if (n > 0)
		n = bytes ? haul_port_read_eeprom(fwd_port_of(call, i), bytes, (size_t)n) : -ENOMEM;
	if (n == -ENOTSUP)
		fprintf(call->out, "operation not supported by device\n");
	else if (n < 0)
		fprintf(call->out, "Unable to get EEPROM: %d\n", n);
	else {
		print_bytes(call->out, bytes, n);
		fprintf(call->out, "Finish -- Port: %u EEPROM length: %d bytes\n", i, n);
	}
	free(bytes);
	return n >= 0;
}

static bool show_eeprom(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_eeprom_one);
}

/* "tx_vlan set pvid P N on|off" */
static bool set_pvid_one(const struct fwd_call *call, unsigned i)
{
	const uint64_t vlan = call->words[4].number;
	char errbuf[512];

	if (!fwd_is_vlan(call, vlan))
		return false;
	return fwd_result(call,
		haul_port_set_pvid(fwd_port_of(call, i), (uint16_t)vlan, strcmp(WORD(5), "on") == 0,
			errbuf, sizeof(errbuf)),
		errbuf);
}

static bool set_pvid(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), set_pvid_one);
}

/* "vlan set inner|outer tpid N P" */
static bool set_tpid_one(const struct fwd_call *call, unsigned i)
{
	const uint64_t type = call->words[4].number;
	bool outer = WORD(2)[0] == 'o';
	char errbuf[512] = "give an Ethernet type";
	int err = -EINVAL;

	if (type <= UINT16_MAX)
		err = haul_port_set_vlan_type(
			fwd_port_of(call, i), outer, (uint16_t)type, errbuf, sizeof(errbuf));
	if (err)
		fprintf(call->out,
			"tx_vlan_tpid_set(port_pi=%u, vlan_type=%u, tpid=%" PRIu64
			") failed diag=%d: ",
			i, outer ? 2 : 1, type, err);
	return fwd_result(call, err, errbuf);
}

static bool set_tpid(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(5), set_tpid_one);
}

/* "port config P|all speed N duplex D" */
static bool set_speed_one(const struct fwd_call *call, unsigned i)
{
	char errbuf[512];
	uint32_t flags;
	const char *wrong = fwd_speed(WORD(4), strcmp(WORD(6), "half") == 0, &flags);

	if (wrong) {
		fprintf(call->out, "%s\n", wrong);
		return false;
	}
	return fwd_result(call,
		haul_port_set_speeds(fwd_port_of(call, i), flags, errbuf, sizeof(errbuf)), errbuf);
}

static bool set_speed(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_speed_one);
}

const struct fwd_command fwd_commands_nic[] = {
	{"show port PORT rxq|txq N desc N status", show_descriptor,
		"Show who owns a descriptor, counted from the next that queue N uses."},
	{"show port PORT rxq|txq N desc used count", show_used,
		"Show how many descriptors of queue N have packets."},
	{"show port PORT ptypes", show_ptypes, "Show the packet types that the device tells."},
	{"set port PORT ptype_mask N", set_ptypes, "Let it tell those of a mask only."},
	{"show port PORT eeprom", show_eeprom, "Show the bytes of the device's EEPROM."},
	{"tx_vlan set pvid PORT N on|off", set_pvid,
		"Let the device insert the tag of VLAN N into frames without one."},
	{"vlan set inner|outer tpid N PORT", set_tpid,
		"Set the Ethernet type by which the device knows tags."},
	{"port config PORT speed SPEED duplex auto|full|half", set_speed,
		"Set the speed of the link (Mbit/s, or auto); after stop."},
	{0},
};
