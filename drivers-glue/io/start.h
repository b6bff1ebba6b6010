/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of pollers: the first one, and each after a stop. */
#ifndef HAULI_IO_START_H
#define HAULI_IO_START_H

#include "io/state.h"

/* Checks options, and sets the time of a policy without one. 0, or -EINVAL with a line that begins
 * with caller, a name of a function. */
int hauli_io_check(struct haul_io_opts *opts, const char *caller, char *errbuf, size_t errlen);

/* 0, or -EINVAL with a line if a port is not started. */
int hauli_io_check_ports(
	const struct haul_io_opts *opts, const char *caller, char *errbuf, size_t errlen);

/* Registers the pollers of io, which is stopped; they wait for hauli_io_let_begin(). 0, or -errno
 * with a line, and io is stopped. */
int hauli_io_launch(struct haul_io *io, const char *caller, char *errbuf, size_t errlen);
void hauli_io_let_begin(struct haul_io *io);

#endif
