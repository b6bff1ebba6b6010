/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode l3fwd. */
#ifndef FWD_MODES_L3FWD_H
#define FWD_MODES_L3FWD_H

#include "../mode.h"

/* Reads the file again. Main thread, while no pollers run. Returns HAUL_APP_DONE, or an exit code
 * after a line, and the routes are as before. */
int fwd_l3fwd_reload(struct fwd *fwd);

#endif
