/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of a capture: one file, a row of files, a FIFO or standard output. A FIFO or a pipe is
 * never waited for longer than the caller allows. For the capture's thread, but for open and close.
 */
#ifndef HAULI_CAPTURE_FILE_H
#define HAULI_CAPTURE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct hauli_capture_file {
	const char *name; /* as given; "-": standard output */
	char path[PATH_MAX]; /* of the present file */
	int fd; /* -1: a FIFO without a reader yet, or closed */
	bool is_pipe; /* or a socket: a write may have to wait */
	bool is_own; /* a regular file, and nobody else's */
	bool rotates;
	unsigned number; /* of the present file, from 1 */
	unsigned keep; /* files; 0: all */
	char **kept; /* [keep]: paths of the last files */
	uint64_t bytes; /* of the present file */
	uint64_t total; /* of all files */
	char wrong[128]; /* why the last file was not opened, or "" */
};

/* Opens the first file. Returns 0, or -errno with one line in errbuf. */
int hauli_capture_file_open(struct hauli_capture_file *file, const char *name, bool rotates,
	unsigned keep, char *errbuf, size_t errlen);

/* Tries to open the file. Returns 0, -EAGAIN (a FIFO without a reader) or another -errno. */
int hauli_capture_file_try(struct hauli_capture_file *file);

/* Closes the present file and opens the next one. Returns 0 or -errno. */
int hauli_capture_file_next(struct hauli_capture_file *file);

/*
 * Writes all of iov, which it changes, unless a pipe has no room and may_wait(arg) says no: then
 * the result is smaller. Returns the number of bytes written, or -errno; a regular file then ends
 * where it did before.
 */
ssize_t hauli_capture_file_write(struct hauli_capture_file *file, struct iovec *iov, int n,
	bool (*may_wait)(void *arg), void *arg);

/* "cannot write FILE: ..." in buf. */
void hauli_capture_file_explain(
	const struct hauli_capture_file *file, int err, char *buf, size_t len);

/* Returns 0, or -errno: the file is incomplete. */
int hauli_capture_file_close(struct hauli_capture_file *file);
void hauli_capture_file_free(struct hauli_capture_file *file);

#endif
