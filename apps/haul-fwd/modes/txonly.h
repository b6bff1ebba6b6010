/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode txonly: the frames that it sends. */
#ifndef FWD_MODES_TXONLY_H
#define FWD_MODES_TXONLY_H

#include "../mode.h"

/* Writes the carrier's next frame into pkt, a new buffer from the pool, to which it may append
 * others. Returns false if the pool has none left. On that carrier. */
bool fwd_txonly_fill(const struct fwd *fwd, unsigned port, unsigned carrier, struct rte_mbuf *pkt);

#endif
