/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes are counted by haul, or by the PMDs. */
#ifndef HAULI_IO_STATS_H
#define HAULI_IO_STATS_H

#include "io/state.h"

/* Changes haul_io_opts.count_bytes between two runs of the pollers; the sums of haul_io_get_stats()
 * continue. False: no memory. */
bool hauli_stats_count_bytes(struct haul_io *io, bool count);

/* Before the pollers are freed: what they have counted stays in the sums. False: no memory. */
bool hauli_stats_keep(struct haul_io *io);

#endif
