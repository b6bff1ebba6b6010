/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of haul-fwd about its ports: their configuration. */
#ifndef FWD_PORTS_H
#define FWD_PORTS_H

#include <haul-app/app.h>

extern const struct haul_app_option fwd_ports_options[];

/* In parsed(): sets what the options say in app->port_config. Returns an exit code. */
int fwd_ports_parsed(struct haul_app *app);

/* Bytes of a frame that packet buffers are to hold, 0: as the MTU needs. After
 * fwd_ports_parsed(). */
unsigned fwd_ports_frame(void);

/* In opened(): checks what depends on the number of carriers. Returns an exit code. */
int fwd_ports_check(const struct haul_app *app);

#endif
