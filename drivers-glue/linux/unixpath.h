/* SPDX-License-Identifier: BSD-3-Clause */
/* Unix sockets, by their paths. */
#ifndef HAULI_LINUX_UNIXPATH_H
#define HAULI_LINUX_UNIXPATH_H

/* From now on a write to a socket whose other end has gone is an error and does not end the
 * program. A SIGPIPE handler of the program's own stays. */
void hauli_unixpath_no_sigpipe(void);

#endif
