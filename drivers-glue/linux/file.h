/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose names haul chooses, in directories of its user's choice. */
#ifndef HAULI_LINUX_FILE_H
#define HAULI_LINUX_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* As haul_file_create(), for a file that must not exist yet, under any owner or as any link:
 * -EEXIST. */
int hauli_file_create_new(const char *path, mode_t mode, char *errbuf, size_t errlen);

#endif
