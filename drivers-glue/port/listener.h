/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unix sockets that PMDs listen on. With a PMD alone, the umask decides which users may connect,
 * and the PMD removes at its end whatever lies at its path. So the PMD makes the socket in a
 * directory that only its owner can enter. haul sets the socket's mode and moves it to the path
 * that the user gave, unless something lies there. At the end haul removes it if it is still the
 * same socket.
 */
#ifndef HAULI_PORT_LISTENER_H
#define HAULI_PORT_LISTENER_H

#include "port/spec.h"

struct hauli_listener;

/*
 * The spec's "mode", or 0600, becomes the mode of the socket at path. A socket that a program left
 * behind at path when it crashed is removed. 0, or -errno with a line.
 */
int hauli_listener_create(struct hauli_listener **l, const struct hauli_spec *spec,
	const char *path, char *errbuf, size_t errlen);

/* Adds a user, for PMDs that share a socket. */
struct hauli_listener *hauli_listener_share(struct hauli_listener *l);

/* The path for the PMD; the same for all users. */
const char *hauli_listener_made_at(const struct hauli_listener *l);

/* The PMD listens: puts the socket at its path. Only the first call does it. 0, or -errno. */
int hauli_listener_publish(
	struct hauli_listener *l, const struct hauli_spec *spec, char *errbuf, size_t errlen);

/* The last user removes the socket from its path: no peer can connect any more. */
void hauli_listener_withdraw(struct hauli_listener *l);

/* Frees it, after the PMD has closed it. l may be NULL. */
void hauli_listener_destroy(struct hauli_listener *l);

#endif
