/* SPDX-License-Identifier: BSD-3-Clause */
/* Unix sockets, by their paths. */
#ifndef HAULI_LINUX_UNIXPATH_H
#define HAULI_LINUX_UNIXPATH_H

/*
 * 0 when a program has a socket at path; -ECONNREFUSED when it has none any more, -ENOENT when
 * there is nothing, or another -errno. That program does not notice.
 */
int hauli_unixpath_look(const char *path);

/* From now on a write to a socket whose other end has gone is an error, not the end of the program.
 * A SIGPIPE handler of the program's own stays. */
void hauli_unixpath_no_sigpipe(void);

#endif
