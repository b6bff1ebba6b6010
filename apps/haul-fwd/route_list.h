/* SPDX-License-Identifier: BSD-3-Clause */
/* The routes of a file. */
#ifndef FWD_ROUTE_LIST_H
#define FWD_ROUTE_LIST_H

#include "route.h"

#define FWD_HOPS_MAX 32767 /* the tables have 15 bits for each */

struct fwd_route {
	uint8_t prefix[16];
	uint8_t len;
	uint8_t version; /* 4 or 6 */
	uint16_t hop;
};

struct fwd_routes {
	struct fwd_route *routes;
	unsigned nb_routes;
	struct fwd_hop *hops; /* 0 is none */
	unsigned nb_hops;
};

#endif
