/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the sockets that a PMD opens and does not tell. */
#ifndef HAULI_LINUX_SOCKETS_H
#define HAULI_LINUX_SOCKETS_H

struct hauli_sockets {
	unsigned n;
	int *fds;
};

/* Replaces the list by all sockets of this address family that the process has now. Lists fewer if
 * there is no memory, or no permission. */
void hauli_sockets_list(struct hauli_sockets *s, int domain);
void hauli_sockets_free(struct hauli_sockets *s);

/* Removes the sockets that are in before. */
void hauli_sockets_subtract(struct hauli_sockets *s, const struct hauli_sockets *before);

#endif
