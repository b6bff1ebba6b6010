/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode txonly: the frames that it sends. */
#ifndef FWD_MODES_TXONLY_H
#define FWD_MODES_TXONLY_H

#include "../mode.h"

/* Makes the carrier's next n frames, in new buffers from the pool. Returns their number: 0 if the
 * pool has fewer buffers left, or less than n if their further segments found none. On that
 * carrier. */
uint16_t fwd_txonly_make(
	const struct fwd *fwd, unsigned port, unsigned carrier, struct rte_mbuf **pkts, uint16_t n);

#endif
