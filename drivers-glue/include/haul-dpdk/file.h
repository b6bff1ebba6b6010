/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a program writes under names that its user gives, in directories where other users may
 * have prepared these names. */
#ifndef HAUL_DPDK_FILE_H
#define HAUL_DPDK_FILE_H

#include <sys/types.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens path for writing, and decides by what it finds there:
 *	nothing			makes a file with these permissions, less the umask
 *	a regular file		of this user, with one name: opens it as it is, to be truncated by
 *				the caller, and takes from it permissions that are not among these
 *	a FIFO			of this user or root; of anybody, if only the directory's owner can
 *				write there: opens it, if it has a reader
 *	a device		opens it: /dev/null, a terminal
 *	a symbolic link		of this user or root: goes on with its target
 * Everything else, which another user may have put there, is refused.
 *
 * Returns a descriptor (O_CLOEXEC), which the caller closes; or -errno, with what is wrong in
 * errbuf, to be printed after the name: "it belongs to another user (1000); ...". -ENXIO: a FIFO
 * without a reader. Any thread, also without EAL. Does not suspend.
 */
HAUL_API int haul_file_create(const char *path, mode_t mode, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
