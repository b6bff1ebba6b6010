/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ports forward, and to which port each of them. */
#ifndef FWD_TOPOLOGY_H
#define FWD_TOPOLOGY_H

#include <haul-app/app.h>

extern const struct haul_app_option fwd_topology_options[];

/* In parsed(): sets what the options say in *io, which follows later changes from the next start
 * on. Returns an exit code. */
int fwd_topology_parsed(struct haul_app *app, struct haul_io_opts *io);

/* The port to which a port forwards, and whether it forwards. After fwd_topology_parsed(). */
unsigned fwd_topology_peer(unsigned port);
bool fwd_topology_forwards(unsigned port);
unsigned fwd_topology_ports(void); /* that forward */

/* Lets the ports of this list forward, or those of the mask, or the first n of the last list;
 * others are idle. The order of a list decides which port is whose peer. False after a line on
 * out. */
bool fwd_topology_set_list(const struct haul_app *app, const char *list, FILE *out);
bool fwd_topology_set_mask(const struct haul_app *app, const char *mask, FILE *out);
bool fwd_topology_set_number(const struct haul_app *app, uint64_t n, FILE *out);

#endif
