/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that send generated frames, for --tx-first and for txonly with coroutines. */
#ifndef FWD_GENERATOR_H
#define FWD_GENERATOR_H

#include <haul-app/app.h>

#include "mode.h"

/* Starts one coroutine per carrier and port. count: number of frames that each sends; 0: until it
 * is cancelled. Returns 0 or -errno. */
int generator_start(struct fwd *fwd, struct haul_app *app, uint64_t count);

#endif
