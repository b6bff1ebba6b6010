/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about DPDK's own state, and those that choose what haul-fwd does anyway. */
#include <inttypes.h>
#include <string.h>

#include <haul-dpdk/port_config.h>

#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memory.h>
#include <rte_memzone.h>
#include <rte_ring.h>

#include "command.h"
#include "show_port.h"

#define WORD(i) (call->words[i].text)

/* "set log TYPE N" */
static bool set_log(const struct fwd_call *call)
{
	const uint64_t level = call->words[3].number;
	int err = -1;

	if (level > 0 && level <= RTE_LOG_MAX) {
		if (strcmp(WORD(2), "global") == 0) {
			rte_log_set_global_level((uint32_t)level);
			err = 0;
		} else
			err = rte_log_set_level_regexp(WORD(2), (uint32_t)level);
	}
	if (err)
		fprintf(call->out, "Failed to set log level: give 1 to %d\n", RTE_LOG_MAX);
	return err == 0;
}

static void print_heaps(FILE *out)
{
	rte_malloc_dump_stats(out, NULL);
	rte_malloc_dump_heaps(out);
}

static const struct {
	const char *what;
	void (*print)(FILE *out);
} dumps[] = {
	{"physmem", rte_dump_physmem_layout},
	{"memzone", rte_memzone_dump},
	{"socket_mem", print_heaps},
	{"ring", rte_ring_list_dump},
	{"mempool", rte_mempool_list_dump},
	{"log_types", rte_log_dump},
};

/* "dump_ring", or "dump ring" as testpmd has it now */
static bool dump(const struct fwd_call *call)
{
	const char *what = WORD(0)[4] ? &WORD(0)[5] : WORD(1);

	for (unsigned i = 0; i < RTE_DIM(dumps); i++)
		if (strcmp(dumps[i].what, what) == 0)
			dumps[i].print(call->out);
	return true;
}

/* "set flush_rx on|off" */
static bool set_flush(const struct fwd_call *call)
{
	if (!fwd_is_on(WORD(2)))
		return true;
	fprintf(call->out,
		"haul-fwd flushes nothing: what has come before start is forwarded then\n");
	return false;
}

/* "set link_check on|off" */
static bool set_link_check(const struct fwd_call *call)
{
	if (fwd_is_on(WORD(2)))
		return true;
	fprintf(call->out,
		"port start waits for the link of a NIC, for two seconds at most, in any case\n");
	return false;
}

static bool set_hide_zeros(const struct fwd_call *call)
{
	fwd_show_port_hide_zeros(fwd_is_on(WORD(2)));
	return true;
}

/* "rx_vlan add|rm all P" */
static bool pass_all_vlans_one(const struct fwd_call *call, unsigned i)
{
	char errbuf[512];

	for (uint16_t vlan = 0; vlan < 4096; vlan++)
		if (!fwd_result(call,
			    haul_port_pass_vlan(call->app->ports[i], vlan,
				    strcmp(WORD(1), "add") == 0, errbuf, sizeof(errbuf)),
			    errbuf))
			return false;
	return true;
}

static bool pass_all_vlans(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), pass_all_vlans_one);
}

/* "port config P udp_tunnel_port add|rm vxlan N" */
static bool take_vxlan_one(const struct fwd_call *call, unsigned i)
{
	const uint64_t udp = call->words[6].number;
	char errbuf[512] = "give a UDP port";
	int err = -1;

	if (udp <= UINT16_MAX)
		err = haul_port_take_vxlan(call->app->ports[i], (uint16_t)udp,
			strcmp(WORD(4), "add") == 0, errbuf, sizeof(errbuf));
	if (err)
		fprintf(call->out, "udp tunneling port add error: (%s): ", strerror(-err));
	return fwd_result(call, err, errbuf);
}

static bool take_vxlan(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), take_vxlan_one);
}

const struct fwd_command fwd_commands_misc[] = {
	{"set log TYPE N", set_log,
		"Set DPDK's log level, 1 to 8; TYPE: global, or a pattern of the types."},
	{"dump_physmem|dump_memzone|dump_socket_mem|dump_ring|dump_mempool|dump_log_types", dump,
		"Show DPDK's memory, rings, pools, types of log lines."},
	{"dump physmem|memzone|socket_mem|ring|mempool|log_types", dump, "The same."},
	{"set flush_rx on|off", set_flush, "off: forward what has come before start, as always."},
	{"set link_check on|off", set_link_check, "on: wait for links, as always."},
	{"set xstats-hide-zero on|off", set_hide_zeros, "Leave zeros out of show port xstats."},
	{"rx_vlan add|rm all PORT", pass_all_vlans, "Pass frames of all VLANs, or not."},
	{"port config PORT udp_tunnel_port add|rm vxlan N", take_vxlan, "As rx_vxlan_port."},
	{0},
};
