/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts for each flow which packets have arrived, from the sequence numbers of their stamps:
 *
 * lost		have not arrived (RFC 7680)
 * reordered	arrived after one with a higher number (RFC 4737, 3.3)
 * duplicated	arrived more than once: each further copy counts (RFC 5560)
 *
 * A flow remembers its last RECEIVER_WINDOW numbers. Older packets count as reordered, duplicates
 * among them too.
 *
 * A carrier has a receiver of its own: a port that spreads flows over queues (RSS) delivers all
 * packets of a flow to one carrier. Sums over carriers are made in the main thread, when pollers
 * have stopped.
 */
#ifndef FWD_RECEIVER_H
#define FWD_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#define RECEIVER_WINDOW 4096u
#define RECEIVER_FLOWS_MAX 65536u /* those of a stamp */

struct receiver_flow {
	uint64_t first, next; /* lowest number, highest number + 1; both 0: nothing yet */
	uint64_t received, reordered, duplicated;
	uint64_t seen[RECEIVER_WINDOW / 64]; /* bit n % RECEIVER_WINDOW: n has arrived */
};

enum receiver_verdict { RECEIVER_NEW, RECEIVER_REORDERED, RECEIVER_DUPLICATED };

/* Counts a packet. Memory of the flow is touched only here. */
enum receiver_verdict receiver_note(struct receiver_flow *f, uint32_t sequence);

/* Adds the counts of from, the same flow on another carrier. */
void receiver_merge(struct receiver_flow *to, const struct receiver_flow *from);

#endif
