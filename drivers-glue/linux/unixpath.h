/* SPDX-License-Identifier: BSD-3-Clause */
/* Unix sockets, by their paths. */
#ifndef HAULI_LINUX_UNIXPATH_H
#define HAULI_LINUX_UNIXPATH_H

/*
 * 0 if a program has a socket at path; -ECONNREFUSED if the program has ended, -ENOENT if the path
 * does not exist, or another -errno. The program does not notice the check.
 */
int hauli_unixpath_look(const char *path);

/* From now on a write to a socket whose other end has gone is an error and does not end the
 * program. A SIGPIPE handler of the program's own stays. */
void hauli_unixpath_no_sigpipe(void);

#endif
