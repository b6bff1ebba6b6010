/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unix sockets on which PMDs listen. With a PMD alone, the umask decides which users may connect,
 * and at its end the PMD removes any file at its path. So the PMD makes the socket in a directory
 * that only its owner can enter. haul sets the socket's mode and moves it to the path in the spec,
 * unless a file exists there. At the end haul removes it if it is still the same socket.
 */
#ifndef HAULI_PORT_LISTENER_H
#define HAULI_PORT_LISTENER_H

#include "port/spec.h"

struct hauli_listener;

/*
 * The socket at path gets the spec's "mode", or 0600. Removes a socket at path left by a crashed
 * program. 0, or -errno with a line.
 */
int hauli_listener_create(struct hauli_listener **l, const struct hauli_spec *spec,
	const char *path, char *errbuf, size_t errlen);

/* Adds a user, for PMDs that share a socket. */
struct hauli_listener *hauli_listener_share(struct hauli_listener *l);

/* The path for the PMD; the same for all users. */
const char *hauli_listener_made_at(const struct hauli_listener *l);

/* Call when the PMD listens: moves the socket to its path. Only the first call does. 0, or
 * -errno. */
int hauli_listener_publish(
	struct hauli_listener *l, const struct hauli_spec *spec, char *errbuf, size_t errlen);

/* The last user removes the socket from its path: no peer can connect any more. */
void hauli_listener_withdraw(struct hauli_listener *l);

/* Frees it, after the PMD has closed it. l may be NULL. */
void hauli_listener_destroy(struct hauli_listener *l);

#endif
