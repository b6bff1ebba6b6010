/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --record-load: the load that the program receives (load.h), in a small file for haul-compare
 * --load. Times are those at which pollers receive.
 */
#ifndef FWD_RECORD_H
#define FWD_RECORD_H

#include <haul-app/app.h>

/* In parsed(): opens the file. generates: received packets are the program's own. Returns an exit
 * code. */
int fwd_record_parsed(const struct haul_app *app, bool generates);

/* In opened(), before pollers: begins to record. Returns an exit code. */
int fwd_record_opened(struct haul_app *app);

/* After haul_app_main(), which returned rc: writes the file. Returns an exit code. */
int fwd_record_write(const struct haul_app_program *program, int rc);

#endif
