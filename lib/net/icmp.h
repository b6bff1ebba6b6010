/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP and ICMPv6. */
#ifndef HAULI_NET_ICMP_H
#define HAULI_NET_ICMP_H

#include <haul/net.h>

/* Parses the ICMP header of pkt, whose fields up to l4 and the payload are set. */
enum haul_verdict hauli_parse_icmp(struct haul_pkt *pkt);

#endif
