/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of Unix sockets that PMDs listen on or connect to. */
#ifndef HAULI_PORT_UNIXPATH_H
#define HAULI_PORT_UNIXPATH_H

#include "port/spec.h"

/*
 * 0 when a program has a socket at path; -ECONNREFUSED when it has none any more, -ENOENT when
 * there is nothing, or another -errno. That program does not notice.
 */
int hauli_unixpath_look(const char *path);

/*
 * For a path to listen on: it can be made, and nobody listens there; a socket that a program left
 * behind when it crashed is removed. 0 or -errno with a line.
 */
int hauli_unixpath_free(
	const struct hauli_spec *spec, const char *path, char *errbuf, size_t errlen);

/* For a path to connect to: somebody listens. The same. */
int hauli_unixpath_taken(
	const struct hauli_spec *spec, const char *path, char *errbuf, size_t errlen);

/* "mode" is for a side that listens: 0, or -EINVAL with a line if a side that connects has it. */
int hauli_unixpath_connecting(const struct hauli_spec *spec, char *errbuf, size_t errlen);

/* Writing to a socket whose other end has gone is an error here, not the end of the program. */
void hauli_unixpath_no_sigpipe(void);

#endif
