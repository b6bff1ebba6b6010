/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many packets each source has sent lately, in memory that does not grow with the number of
 * sources: a count-min sketch (Cormode and Muthukrishnan, "An improved data stream summary: the
 * count-min sketch and its applications", J. Algorithms 55(1), 2005), which adds to the smallest
 * counters only (conservative update: Estan and Varghese, "New directions in traffic measurement
 * and accounting", SIGCOMM 2002). A count is never too small; it is too large only if the source
 * shares its counter in each row with others. Halving all counters lets the past fade.
 *
 * Nobody can foresee which sources share counters: the hash has a secret.
 */
#ifndef HAULI_NET_SKETCH_H
#define HAULI_NET_SKETCH_H

#include <stdint.h>

#define HAULI_SKETCH_ROWS 4
#define HAULI_SKETCH_BITS 10 /* of the index in a row */

struct hauli_sketch {
	uint64_t secret[2];
	uint32_t counts[HAULI_SKETCH_ROWS][1 << HAULI_SKETCH_BITS];
};

/* Counters become 0. */
void hauli_sketch_init(struct hauli_sketch *s, uint64_t secret0, uint64_t secret1);
void hauli_sketch_clear(struct hauli_sketch *s);

/* Adds a packet of the source, and returns its count with that packet. */
uint32_t hauli_sketch_add(struct hauli_sketch *s, uint64_t source);

void hauli_sketch_halve(struct hauli_sketch *s);

/* About how many sources have a count: as many as it takes on average to reach so many counters of
 * a row (as linear counting: Whang, Vander-Zanden and Taylor, ACM TODS 15(2), 1990). Within some
 * percent up to a few thousand; no more than 7,700. */
uint32_t hauli_sketch_sources(const struct hauli_sketch *s);

#endif
