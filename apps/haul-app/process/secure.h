/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_APP_PROCESS_SECURE_H
#define HAULI_APP_PROCESS_SECURE_H

#include <haul-app/options.h>

/*
 * To be called first. If the program has more privileges than the user who started it (setcap), it
 * gives up those over files, which only the user's own permissions shall open, and forgets the
 * user's environment, in which libraries look for code to load. Returns HAUL_APP_DONE, or an exit
 * code after a line: with setuid or setgid no program runs.
 */
int hauli_app_secure_begin(const struct haul_app_program *program);

#endif
