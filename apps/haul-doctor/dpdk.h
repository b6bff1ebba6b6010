/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins of DPDK: its drivers, each a shared library. */
#ifndef DOCTOR_DPDK_H
#define DOCTOR_DPDK_H

#include <stdbool.h>

#include "doctor.h"

/* True if EAL finds the plugin ("net_tap") in its directory, with or without the ABI number in the
 * file name. */
bool doctor_has_plugin(const char *name);

/* False: the plugin has no such constant string, so that it takes no argument of that name. */
bool doctor_plugin_takes(const char *name, const char *key);

/* Says that this DPDK has no such plugin, and where it was looked for. */
void doctor_say_no_plugin(
	struct doctor_finding *finding, enum doctor_status status, const char *name);

/* The remedy: Debian's package for Debian's DPDK, else the option of DPDK's build. */
void doctor_todo_plugin(struct doctor_finding *finding, const char *name);

#endif
