/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice between the kinds of polls. */
#ifndef HAULI_FD_OPEN_H
#define HAULI_FD_OPEN_H

struct haul_carrier;

/* Owner. Opens what c's calls wait by, if it is not open. 0, -ENOMEM, or -ENOTSUP where time is
 * virtual. */
int hauli_fds_open(struct haul_carrier *c);

#endif
