/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins of DPDK: its drivers, each a shared library. */
#ifndef DOCTOR_DPDK_H
#define DOCTOR_DPDK_H

#include <stdbool.h>
#include <stddef.h>

/* True if EAL finds the plugin ("net_tap") in its directory, with or without the ABI number in the
 * file name. */
bool doctor_has_plugin(const char *name);

/* Writes the name of the Debian package of a plugin: "librte-net-af-xdp23" for "net_af_xdp". */
void doctor_plugin_package(char *package, size_t size, const char *name);

#endif
