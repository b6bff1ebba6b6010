/* SPDX-License-Identifier: BSD-3-Clause */
/* --ip and --ip6: which addresses each port answers for. */
#ifndef ECHO_ADDRESSES_H
#define ECHO_ADDRESSES_H

#include <haul/net.h>

#include "common/engine.h"

extern const struct app_option address_options[];

/* Sets the addresses of all ports given by --port: the i-th port has the i-th address, a single
 * one is for all. An exit code; other than APP_DONE after one line on stderr. */
int addresses_set(const struct app_engine *e, struct haul_net_if ifs[APP_PORTS_MAX]);

/* Prints "ready: ..." with what the port answers for as one line on stderr. */
void addresses_say_ready(const struct app_engine *e, unsigned port, const struct haul_net_if *nif);

void addresses_free(void);

#endif
