/* SPDX-License-Identifier: BSD-3-Clause */
/* Options for the headers of generated frames. */
#ifndef FWD_FRAME_OPTIONS_H
#define FWD_FRAME_OPTIONS_H

#include <netinet/in.h>

#include <haul-app/app.h>

enum frame_l4 {
	FRAME_UDP,
	FRAME_TCP,
	FRAME_ICMP, /* requests of ping, of IPv4 or IPv6 */
};

struct frame_options {
	bool ip6; /* --ip */
	enum frame_l4 l4; /* --l4 */
	uint16_t vlan; /* --vlan; 0: none */
	struct in_addr ip[2]; /* --tx-ip: source, destination */
	struct in6_addr ip6s[2];
	uint16_t ports[2]; /* --tx-udp: the source port (of pings: the identifier) of flow 0, the
			     destination port */
};

extern const struct haul_app_option frame_option_table[];

/* Parses the values of the options. flows: that many source ports must exist. Returns
 * HAUL_APP_DONE, or an exit code after a line. */
int frame_options_parse(
	struct frame_options *o, const struct haul_app_program *program, uint64_t flows);

#endif
