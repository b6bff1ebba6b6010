/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-top on a terminal. */
#ifndef TOP_LIVE_H
#define TOP_LIVE_H

/* Until the user, a signal or --duration ends it. Returns an exit code. */
int top_live(void);

#endif
