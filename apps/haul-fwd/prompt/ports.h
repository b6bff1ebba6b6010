/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of ports that commands change. */
#ifndef FWD_PROMPT_PORTS_H
#define FWD_PROMPT_PORTS_H

#include <stdio.h>

#include <haul-app/app.h>

/* False after a line: "port stop" has stopped one. */
bool fwd_ports_are_started(const struct haul_app *app, FILE *out);
/* The same of one port, or false after a line if it has no device. */
bool fwd_port_is_started(const struct haul_app *app, unsigned port, FILE *out);

/* Stops all ports. Returns an exit code. */
int fwd_ports_stop(struct haul_app *app);

/* As dpdk-testpmd: the ports from the first one on that lacks what the options ask for are stopped,
 * after lines, and cannot be started until commands ask for less. */
int fwd_ports_stop_refused(struct haul_app *app);

/* At the start: all ports receive only what flow rules give to queues. Returns an exit code. */
int fwd_ports_isolate(struct haul_app *app);

#endif
