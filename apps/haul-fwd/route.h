/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes of mode l3fwd, from a file with lines "PREFIX/LENGTH PORT [NEXT-HOP-MAC]"; "#" begins a
 * comment. The longest prefix that matches wins. Main thread, but for the tables of next hops and
 * the lookups.
 */
#ifndef FWD_ROUTE_H
#define FWD_ROUTE_H

#include <rte_fib.h>
#include <rte_fib6.h>

#include "mode.h"

/* Where packets go. */
struct fwd_hop {
	struct rte_ether_addr macs[2]; /* destination, source */
	uint16_t port;
	bool has_mac; /* from the file; else the port's peer (--eth-peer) is the destination */
};

/* What lookups need. */
struct fwd_fib {
	struct rte_fib *ip4;
	struct rte_fib6 *ip6;
	struct fwd_versions
		hops; /* struct fwd_hop []: what the tables return is an index; 0: no route */
	struct fwd_hop *other; /* their second version */
};

#define FWD_FIB_MEM_MB 96 /* EAL's memory for the tables of a few thousand routes */

struct fwd_routes;

/* Reads a file. Returns HAUL_APP_DONE, and the caller frees *routes by fwd_routes_free(); or
 * HAUL_APP_USAGE after a line with the file, the number of the line, and the reason. */
int fwd_routes_read(struct fwd_routes **routes, const struct haul_app_program *program,
	const char *path, unsigned nb_ports);
void fwd_routes_free(struct fwd_routes *routes);

/* Makes the tables. routes must outlive them. Returns HAUL_APP_DONE, and the caller frees what is
 * in *fib by fwd_fib_free(); or HAUL_APP_FAILED after a line. */
int fwd_fib_make(struct fwd_fib *fib, struct fwd_routes *routes, const struct fwd *fwd);
void fwd_fib_free(struct fwd_fib *fib);
/* A port has a new address. While pollers run (versions.h). */
void fwd_fib_attached(
	struct fwd_fib *fib, const struct fwd_routes *routes, const struct fwd *fwd, unsigned port);

#endif
