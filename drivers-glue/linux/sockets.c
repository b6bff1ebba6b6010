/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/sockets.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void add(struct hauli_sockets *s, int fd)
{
	int *more = realloc(s->fds, (s->n + 1) * sizeof(s->fds[0]));

	if (!more)
		return;
	s->fds = more;
	s->fds[s->n++] = fd;
}

void hauli_sockets_free(struct hauli_sockets *s)
{
	free(s->fds);
	*s = (struct hauli_sockets){0};
}

void hauli_sockets_list(struct hauli_sockets *s, int domain)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	s->n = 0;
	while (dir && (entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name);
		int is = -1;
		socklen_t len = sizeof(is);

		if (entry->d_name[0] != '.' &&
			getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &is, &len) == 0 && is == domain)
			add(s, fd);
	}
	if (dir)
		closedir(dir);
	/* Sorts them by descriptor number: mostly the order in which they were opened. */
	if (s->n > 1)
		qsort(s->fds, s->n, sizeof(s->fds[0]), compare);
}

static bool has(const struct hauli_sockets *s, int fd)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (s->fds[i] == fd)
			return true;
	}
	return false;
}

void hauli_sockets_subtract(struct hauli_sockets *s, const struct hauli_sockets *before)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		if (!has(before, s->fds[i]))
			s->fds[n++] = s->fds[i];
	}
	s->n = n;
}
