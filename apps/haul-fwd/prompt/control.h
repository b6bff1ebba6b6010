/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands through a Unix socket: a client writes lines, and reads output up to the prompt. */
#ifndef FWD_PROMPT_CONTROL_H
#define FWD_PROMPT_CONTROL_H

#include <haul-app/app.h>

/* Listens at path, for this user only (mode 0600). Returns an exit code, after a line. */
int fwd_control_open(struct haul_app *app, const char *path);
void fwd_control_close(void);

#endif
