/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FWD_PROMPT_QUIT_H
#define FWD_PROMPT_QUIT_H

#include <stdbool.h>

/* The ports are closed: prints testpmd's lines about it, if fwd_quit_totals() has begun so, and
 * the last line, in that case or with_bye. */
void fwd_quit_print_closed(bool with_bye);

#endif
