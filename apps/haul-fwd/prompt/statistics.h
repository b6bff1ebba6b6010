/* SPDX-License-Identifier: BSD-3-Clause */
/* Forward statistics: what was forwarded since the last start. */
#ifndef FWD_PROMPT_STATISTICS_H
#define FWD_PROMPT_STATISTICS_H

#include "command.h"

/* Counts from 0. */
void fwd_statistics_begin(const struct haul_app *app);

/* Prints the blocks of testpmd, for each port and for all. */
void fwd_statistics_print(const struct fwd_call *call);

/* "io packet forwarding - ports=2 - cores=1 ...", and where each port forwards to. */
void fwd_print_forwarding(const struct fwd_call *call);

#endif
