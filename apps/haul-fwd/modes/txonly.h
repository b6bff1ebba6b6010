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

/* For the next runs. Main thread.
 * set_segments: the sizes of a list such as "64,128"; NULL: one segment, of --size bytes. Returns
 *     NULL, or what is wrong with the list. set_random: frames have some of them.
 * segments: *sizes gets the sizes; returns their number, 0: one segment.
 */
const char *fwd_txonly_set_segments(const char *text);
void fwd_txonly_set_random(bool on);
unsigned fwd_txonly_segments(const uint16_t **sizes);
bool fwd_txonly_is_random(void);

#endif
