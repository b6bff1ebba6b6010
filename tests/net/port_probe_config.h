/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of the port probe that configure and read a port:
 *
 *	stop PORT			ok
 *	mtu|promisc|allmulti|link|vlan PORT N	ok
 *	offloads PORT RX TX		ok; masks in hexadecimal
 *	rss PORT NAME [KEY]		ok
 *	fc PORT				ok; turns flow control on
 *	reset PORT			ok
 *	show PORT WHAT			ok TEXT; WHAT: info, xstats, stats, rss, fc,
 *					rx-used, rx-has, tx-used, tx-has
 */
#ifndef PORT_PROBE_CONFIG_H
#define PORT_PROBE_CONFIG_H

#include <stdbool.h>

struct haul_port;

/* Does the command and answers. False: there is no such command. */
bool probe_config(struct haul_port *port, const char *verb, const char *args);

#endif
