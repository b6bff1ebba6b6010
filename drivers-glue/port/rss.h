/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of RSS functions, as in dpdk-testpmd. */
#ifndef HAULI_PORT_RSS_H
#define HAULI_PORT_RSS_H

#include <stdint.h>

/* The name of one function, a single bit; NULL: it has none. */
const char *hauli_rss_name(uint64_t function);

#endif
