/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FWD_PROMPT_VERBOSE_H
#define FWD_PROMPT_VERBOSE_H

#include <haul-app/app.h>

/* The ports have other queues: those are watched, if any are. False: no memory. No poller runs. */
bool fwd_verbose_goes_on(struct haul_app *app);

/* Prints what has not been printed yet. */
void fwd_verbose_print(void);

#endif
