/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that users name, for programs to read at their start: a regular file, or what a shell
 * passes instead (a pipe, /dev/stdin, <(command), a FIFO). A signal that ends the program ends the
 * reading, too; a file without an end is read up to a length.
 *
 *	struct haul_app_input in;
 *	int err = haul_app_input_open(&in, path, 1 << 20, errbuf, sizeof(errbuf));
 *
 *	if (!err) {
 *		while (getline(&line, &size, in.file) >= 0)
 *			...
 *		err = haul_app_input_close(&in, errbuf, sizeof(errbuf));
 *	}
 *
 * Main thread.
 */
#ifndef HAUL_APP_FILE_H
#define HAUL_APP_FILE_H

#include <stdint.h>
#include <stdio.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_app_input {
	FILE *file; /* NULL: closed by somebody else, such as pcap_close() */
	/* The library's. */
	int fd;
	bool waits; /* a read may have to wait: not a regular file */
	uint64_t most, left; /* bytes */
	int err;
};

/* Opens a file of at most so many bytes. Returns 0, and the caller calls haul_app_input_close(); or
 * -errno, with what is wrong in errbuf, without the file's name: "Permission denied". -EINVAL if
 * stdout or stderr of the program goes to the file: what is printed while it is read would be read,
 * too. */
HAUL_API int haul_app_input_open(
	struct haul_app_input *in, const char *path, uint64_t most, char *errbuf, size_t errlen);

/* Returns 0 if everything up to here could be read; otherwise, with what is wrong in errbuf, -EFBIG
 * (longer than permitted), -ECANCELED (a signal has come that ends the program) or the error of the
 * reading: what was read until then is a part of the file. */
HAUL_API int haul_app_input_close(struct haul_app_input *in, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
