/* SPDX-License-Identifier: BSD-3-Clause */
/* A command line of dpdk-testpmd without -i. */
#ifndef FWD_PROMPT_UNATTENDED_H
#define FWD_PROMPT_UNATTENDED_H

#include <haul-app/app.h>

/* Packets flow: prints statistics every --stats-period, or ends the program with the next character
 * of stdin or its end, as testpmd. Returns an exit code. */
int fwd_unattended_begin(struct haul_app *app);
void fwd_unattended_end(void);

#endif
