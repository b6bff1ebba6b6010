/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of RSS functions, as in dpdk-testpmd. */
#ifndef FWD_RSS_H
#define FWD_RSS_H

#include <stdbool.h>
#include <stdint.h>

/* The functions (RTE_ETH_RSS_...) of a name ("ip", "udp", "ipv4-tcp", "all", "none"); false: there
 * is none of that name. */
bool fwd_rss_functions(const char *name, uint64_t *functions);

/* The name of one function, a single bit; NULL: it has none. */
const char *fwd_rss_name(uint64_t function);

#endif
