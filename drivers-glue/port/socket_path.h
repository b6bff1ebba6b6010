/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths in specs: of Unix sockets on which a port's PMD listens, or to which it connects. */
#ifndef HAULI_PORT_SOCKET_PATH_H
#define HAULI_PORT_SOCKET_PATH_H

#include "port/spec.h"

/*
 * For a path to listen on: a socket can be made, and no program listens there; removes the socket
 * of a crashed program. 0 or -errno with a line.
 */
int hauli_socket_path_free(
	const struct hauli_spec *spec, const char *path, char *errbuf, size_t errlen);

/* For a path to connect to: a program listens. 0 or -errno with a line. */
int hauli_socket_path_taken(
	const struct hauli_spec *spec, const char *path, char *errbuf, size_t errlen);

/* "mode" is for a listening side: 0, or -EINVAL with a line if a connecting side has it. */
int hauli_socket_path_connecting(const struct hauli_spec *spec, char *errbuf, size_t errlen);

#endif
