/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of buckets. */
#ifndef HAULI_IO_BUCKET_H
#define HAULI_IO_BUCKET_H

#include "io/move.h"

/* Moves those of a spread queue's HAUL_IO_BUCKETS that are marked, and that one carrier has, to
 * another one, as haul_io_move_bucket() moves one: for a caller that holds haul_io.moving. */
int hauli_move_buckets(struct haul_io *io, unsigned port, unsigned queue, const bool *buckets,
	unsigned from, unsigned to, uint64_t timeout_ns, char *why, size_t len);

/* True if the carrier may get packets of a queue that is spread. */
bool hauli_bucket_may_go(const struct hauli_tx_proxy *proxy, unsigned carrier);

/* Of a queue that is spread; NULL: it is not. Both numbers exist. */
static inline struct hauli_tx_proxy *hauli_proxy_of(
	const struct haul_io *io, unsigned port, unsigned queue)
{
	return queue < io->nb_pollers ? io->pollers[queue]->rxqs[port].proxy : NULL;
}

#endif
