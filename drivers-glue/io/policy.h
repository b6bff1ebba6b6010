/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of pollers. */
#ifndef HAULI_IO_POLICY_H
#define HAULI_IO_POLICY_H

#include <haul-dpdk/io.h>

/* Whether pollers with these options can treat the port so; fills in what was left to us. 0 or
 * -EINVAL with a line. */
int hauli_policy_check(const struct haul_io_opts *opts, const struct haul_port *port,
	struct haul_poll_policy *policy, char *errbuf, size_t errlen);

#endif
