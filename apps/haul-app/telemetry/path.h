/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a socket for telemetry, where clients of DPDK's look for one. */
#ifndef HAULI_APP_TELEMETRY_PATH_H
#define HAULI_APP_TELEMETRY_PATH_H

#include <stddef.h>

/* Makes the directory, which only this user can enter. Returns 0, or -errno with a line in errbuf.
 */
int hauli_telemetry_path_make(char *path, size_t len, char *errbuf, size_t errlen);

/* Removes the socket and its directory. */
void hauli_telemetry_path_remove(const char *path);

#endif
