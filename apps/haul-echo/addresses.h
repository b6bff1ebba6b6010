/* SPDX-License-Identifier: BSD-3-Clause */
/* --ip and --ip6: the addresses for which each port answers. */
#ifndef ECHO_ADDRESSES_H
#define ECHO_ADDRESSES_H

#include <haul-app/app.h>
#include <haul/net.h>

extern const struct haul_app_option address_options[];

/* Sets the addresses of all ports: address i belongs to port i; a single address belongs to all
 * ports. Returns HAUL_APP_DONE, or an exit code after one line on stderr. */
int addresses_set(const struct haul_app *app, struct haul_net_if ifs[HAUL_APP_PORTS_MAX]);

/* Prints "ready: ..." with the addresses of the port as one line on stderr. */
void addresses_say_ready(const struct haul_app *app, unsigned port, const struct haul_net_if *nif);

#endif
