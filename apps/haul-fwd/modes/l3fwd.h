/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode l3fwd: its options. */
#ifndef FWD_MODES_L3FWD_H
#define FWD_MODES_L3FWD_H

#include "../mode.h"

extern const struct haul_app_option fwd_l3fwd_options[];

/* In parsed(). Reads the file of --routes, if it was given, and sets *mem_mb
 * (haul_app_hooks.mem_mb); it must be given if the mode is l3fwd. Returns an exit code. */
int fwd_l3fwd_parsed(struct haul_app *app, bool is_mode, unsigned *mem_mb);

/* Reads the file again. Main thread, while no pollers run. Returns HAUL_APP_DONE, or an exit code
 * after a line, and the routes are as before. */
int fwd_l3fwd_reload(struct fwd *fwd);

/* Frees the routes, in closed(). */
void fwd_l3fwd_closed(void);

#endif
