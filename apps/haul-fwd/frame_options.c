/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_options.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forward.h"
#include "generate.h"

static unsigned ip_version;
static unsigned l4;
static uint64_t vlan;
static const char *addresses;
static const char *ports = "1024,9"; /* to the discard port */

#define GENERATES .needs = "--mode generate without --replay", .has_effect = generate_has_flows
#define SENDS .needs = "--mode txonly or generate, or --tx-first", .has_effect = fwd_has_flows
const struct haul_app_option frame_option_table[] = {
	{"--ip", "4|6", HAUL_APP_CHOICE, &ip_version, .help = "IP version of generated frames",
		GENERATES},
	{"--l4", "udp|tcp|icmp", HAUL_APP_CHOICE, &l4,
		.help = "UDP, segments that look like those of a TCP connection, or\n"
			"requests of ping",
		GENERATES},
	{"--vlan", "ID", HAUL_APP_NUMBER, &vlan, 0, 4094, "none", "VLAN tag of generated frames",
		GENERATES},
	{"--tx-ip", "SRC,DST", HAUL_APP_TEXT, &addresses,
		.help = "addresses of generated frames; default: those of RFC 2544 and\n"
			"RFC 5180, 198.18.0.1,198.18.0.2 and 2001:2::1,2001:2::2",
		SENDS},
	{"--tx-udp", "SRC,DST", HAUL_APP_TEXT, &ports,
		.help = "ports of generated frames, of UDP or TCP; flow N has source\n"
			"port SRC + N, or as a ping that identifier",
		SENDS},
	{0},
};

static bool parse_addresses(struct frame_options *o, const char *text)
{
	int family = o->ip6 ? AF_INET6 : AF_INET;
	char one[INET6_ADDRSTRLEN];
	const char *comma = strchr(text, ',');
	unsigned i;

	for (i = 0; i < 2; i++) {
		void *to = o->ip6 ? (void *)&o->ip6s[i] : (void *)&o->ip[i];
		size_t len = i == 0 && comma ? (size_t)(comma - text) : strlen(text);

		if (!comma || len >= sizeof(one))
			return false;
		memcpy(one, text, len);
		one[len] = '\0';
		if (inet_pton(family, one, to) != 1)
			return false;
		text = comma + 1;
	}
	return true;
}

static bool parse_ports(struct frame_options *o, const char *text)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		char *end;
		unsigned long port = strtoul(text, &end, 10);

		if (text[0] < '0' || text[0] > '9' || port > UINT16_MAX ||
			*end != (i == 0 ? ',' : '\0'))
			return false;
		o->ports[i] = (uint16_t)port;
		text = end + 1;
	}
	return true;
}

int frame_options_parse(
	struct frame_options *o, const struct haul_app_program *program, uint64_t flows)
{
	const char *usual = ip_version ? "2001:2::1,2001:2::2" : "198.18.0.1,198.18.0.2";

	memset(o, 0, sizeof(*o));
	o->ip6 = ip_version == 1;
	o->l4 = (enum frame_l4)l4; /* in the order of the option's choices */
	o->vlan = (uint16_t)vlan;
	if (!parse_addresses(o, addresses ? addresses : usual))
		return haul_app_wrong(program, "--tx-ip %s: give two IPv%s addresses, such as %s",
			addresses, o->ip6 ? "6" : "4", usual);
	if (!parse_ports(o, ports))
		return haul_app_wrong(
			program, "--tx-udp %s: give two ports, such as 1024,9", ports);
	if (o->ports[0] + flows > UINT16_MAX + 1)
		return haul_app_wrong(program,
			"--tx-udp %s: source ports of %lu flows end above 65535; give a lower one, "
			"or fewer --flows",
			ports, (unsigned long)flows);
	return HAUL_APP_DONE;
}
