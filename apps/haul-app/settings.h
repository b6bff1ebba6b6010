/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that all packet programs have. */
#ifndef HAULI_APP_SETTINGS_H
#define HAULI_APP_SETTINGS_H

#include "options/table.h"
#include "process/state.h"

/* Sets the defaults, and returns the command line of a->pub.program. */
struct hauli_command hauli_app_settings(struct hauli_app *a);

/* Checks the values, and fills a->io_opts and a->pub from them and from the hooks. Returns an exit
 * code. */
int hauli_app_settings_check(struct hauli_app *a);

/* Called with the plan, and the CPU time that the cgroup allows (0: no limit). Where the carriers
 * cannot spin in it, a program whose user has not chosen a poller gets one that sleeps. */
void hauli_app_settings_fit(struct hauli_app *a, double cpus);

#endif
