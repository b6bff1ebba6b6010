/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the sockets that a PMD opens and does not tell of. */
#ifndef HAULI_GLUE_SOCKETS_H
#define HAULI_GLUE_SOCKETS_H

#define HAULI_SOCKETS 128

struct hauli_sockets {
	unsigned n;
	int fds[HAULI_SOCKETS];
};

/* All sockets of this address family that the process has now (the first HAULI_SOCKETS). */
void hauli_sockets_list(struct hauli_sockets *s, int domain);

/* Keeps those that are not in before. */
void hauli_sockets_subtract(struct hauli_sockets *s, const struct hauli_sockets *before);

#endif
