/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service time of a packet, which stands for an application: computing or sleeping for a time
 * drawn from a distribution, and accesses to memory.
 */
#ifndef FWD_SERVICE_H
#define FWD_SERVICE_H

#include "mode.h"

/* In parsed(). Checks the options. Returns an exit code. */
int fwd_service_parsed(const struct haul_app *app);

/* Puts the service before the handlers in *io, if there is one. */
void fwd_service_set(struct haul_io_opts *io);

/* Begin and end as those of a mode (mode.h). */
int fwd_service_begin(struct fwd *fwd);
void fwd_service_end(void);

/* The pollers are to stop: services of more than 10 ms end early. Main thread. */
void fwd_service_cut(void);

#endif
