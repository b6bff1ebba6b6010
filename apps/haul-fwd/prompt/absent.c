/* SPDX-License-Identifier: BSD-3-Clause */
#include "absent.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define VENDOR "it is one PMD's own function"
#define METERS "haul-fwd has no meters"
#define TM "haul-fwd has no traffic management"
#define SEGMENTS "mode csum neither cuts nor joins segments"
#define PF "it is for a NIC with virtual functions"
#define LACKS "haul has no function for it; it is the PMD's default"
#define SPLIT "frames are received in one buffer, or in several of the same size"
#define ENCAP "flow rules have no such actions"
#define RULES "the flow rules of haul-fwd are single ones: see help flow"

/* The first words, with | between choices; *: any one. The first row that fits counts. */
static const struct {
	const char *words, *why;
} absent[] = {
	{"add|del|enable|disable|create port meter", METERS},
	{"add|del|suspend|resume port tm", TM},
	{"set|show port meter", METERS},
	{"set|show port tm", TM},
	{"port tm", TM},
	{"tso|tunnel_tso", SEGMENTS},
	{"set port * gro|gso", SEGMENTS},
	{"show port * gro|gso", SEGMENTS},
	{"set gro|gso", SEGMENTS},
	{"set|show|clear vf", PF},
	{"set port * vf", PF},
	{"mac_addr add port", PF},
	{"rx_vlan add|rm * port", PF},
	{"set tx loopback", PF},
	{"set all queues", PF},
	{"set tc|macsec", VENDOR},
	{"set tx strict-link-priority", VENDOR},
	{"set|show|add|remove bonding", VENDOR},
	{"create bonded|bonding", VENDOR},
	{"ddp|mlx5|ptype|flow_director_filter", VENDOR},
	{"set port * queue-region", VENDOR},
	{"show port * queue-region|pctype", VENDOR},
	{"port config * pctype", VENDOR},
	{"port config bypass", VENDOR},
	{"set|show bypass", VENDOR},
	{"read|write reg|regbit|regfield",
		"the registers are the PMD's; testpmd has it no more, either"},
	{"read rxd|txd", "it reads the memory of rings that only some PMDs show"},
	{"bpf-load|bpf-unload", "haul-fwd runs no BPF programs"},
	{"set rxoffs|rxpkts|rxhdrs", SPLIT},
	{"show config rxoffs|rxpkts|rxhdrs", SPLIT},
	{"show config txtimes", "frames of txonly have no times"},
	{"show config dcbfwdtc", "haul-fwd has no traffic classes"},
	{"set txtimes", "frames of txonly have no times; --mode generate sends at times"},
	{"set pfc_ctrl|pfc_queue_ctrl|stat_qmap", LACKS},
	{"set port * uta|queue|rxq|fec_mode|led|eeprom", LACKS},
	{"show port * fec|fec_mode|speed_lanes", LACKS},
	{"show|set port cman", LACKS},
	{"show|clear port fdir|dcb_tc", LACKS},
	{"show port info * representor", LACKS},
	{"show port * flow", LACKS},
	{"show port * tx_metadata", LACKS},
	{"show port * rss reta", "show buckets PORT shows the redirection table"},
	{"vlan set stripq", LACKS},
	{"flow aged|update|dump|tunnel|indirect_action|flex_item", RULES},
	{"flow configure|info|push|pull|queue|group|hash", RULES},
	{"flow pattern_template|actions_template|template_table", RULES},
	{"show port * module_eeprom", "DPDK's function for it is experimental"},
	{"port config all txpt|txht|txwt|rxpt|rxht|rxwt|txfreet|txrst|rxfreet", LACKS},
	{"port config all drop-en|max-lro-pkt-size", LACKS},
	{"port config * loopback|dcb|tx_metadata|dynf|speed_lanes", LACKS},
	{"port config * txq * affinity", LACKS},
	{"port config * udp_tunnel_port * geneve|ecpri|vxlan-gpe", LACKS},
	{"port config * rss-hash-algo", LACKS},
	{"port cleanup", "the PMD frees what it has sent by itself"},
	{"set port setup", "port attach sets a device up by itself"},
	{"set vxlan|vxlan-with-vlan|vxlan-tos-ttl|nvgre|nvgre-with-vlan", ENCAP},
	{"set l2_encap|l2_decap|sample_actions", ENCAP},
	{"set mplsogre_encap|mplsogre_decap|mplsoudp_encap|mplsoudp_decap", ENCAP},
	{"set conntrack|ipv6_ext_push|ipv6_ext_remove", ENCAP},
	{"set dcb", "haul-fwd has no traffic classes"},
	{"set txflows", "--flows sets their number at the start"},
	{"set default", "start the program again"},
	{"device detach", "port detach closes the device of a port"},
	{"dump_devargs|dump_lcores|dump_struct_sizes|dump_trace", "it is for developers of DPDK"},
	{"dump devargs|lcores|struct_sizes|trace|mbuf", "it is for developers of DPDK"},
	{"load|load_from_file", "--cmdline-file runs the commands of a file"},
	{"set fwd shared_rxq|shared-rxq",
		"receive queues are not shared; rxonly does the same then"},
	{"set fwd recycle_mbufs",
		"handlers own the buffers of what they get, not the receive queue"},
	{"set fwd ieee1588", "haul has no clocks of NICs"},
	{NULL, NULL},
};

static size_t length_of(const char *word)
{
	return strcspn(word, " \t\r\n#");
}

/* The pattern's word is *, or one of its choices is the word. */
static bool fits(const char *pattern, const char *word, size_t length)
{
	if (*pattern == '*')
		return length > 0;
	for (;;) {
		size_t n = strcspn(pattern, "| ");

		if (n == length && strncmp(pattern, word, n) == 0)
			return true;
		if (pattern[n] != '|')
			return false;
		pattern += n + 1;
	}
}

static bool begins_with(const char *line, const char *words)
{
	for (;;) {
		line += strspn(line, " \t");
		if (!fits(words, line, length_of(line)))
			return false;
		line += length_of(line);
		words += strcspn(words, " ");
		if (!*words)
			return true;
		words++;
	}
}

const char *fwd_absent(const char *line)
{
	for (unsigned i = 0; absent[i].words; i++)
		if (begins_with(line, absent[i].words))
			return absent[i].why;
	return NULL;
}
