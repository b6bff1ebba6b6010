/* SPDX-License-Identifier: BSD-3-Clause */
/* --nb-cores and --lcores (-l): carriers and their CPUs, in the words of testpmd. */
#ifndef FWD_CORES_H
#define FWD_CORES_H

#include <haul-app/app.h>

extern const struct haul_app_option fwd_cores_options[];

/* In parsed(): sets the carriers. Returns an exit code. */
int fwd_cores_parsed(const struct haul_app *app);

#endif
