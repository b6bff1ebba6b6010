/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier's ring of captured frames: bytes, written by the carrier and read by the capture's
 * thread. Its memory is mapped twice, one mapping behind the other, so that each block lies in one
 * piece. Positions count bytes modulo 2^32.
 *
 * The carrier writes blocks behind the head, which the reader does not see, and then publishes the
 * head (word.E4: the blocks before it). The reader reads up to the head and publishes the tail: the
 * carrier writes over bytes only after it has seen a tail behind them (word.E4: the reader's reads
 * before it).
 */
#ifndef HAULI_CAPTURE_RING_H
#define HAULI_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cacheline.h"
#include "base/counter.h"
#include "conc/word.h"

#define HAULI_CAPTURE_RING_LEAST (128u << 10) /* has room for the longest block */

#define HAULI_CAPTURE_FRAME_MOST 65536u /* bytes that a frame in pieces may have */
#define HAULI_CAPTURE_SNAP_MOST (HAULI_CAPTURE_FRAME_MOST - 8) /* without two VLAN tags */

struct hauli_capture_ring {
	/* Carrier. */
	HAULI_LINE struct hauli_u32_published head;
	uint32_t written; /* head */
	uint32_t seen; /* a tail; the present one may be further */
	uint8_t *bytes; /* constant, as the next */
	uint32_t size;
	uint8_t *whole; /* a frame that lies in pieces, in one; HAULI_CAPTURE_FRAME_MOST bytes */

	/* The capture's thread. */
	HAULI_LINE struct hauli_u32_published tail;
	uint32_t read; /* tail */
	uint64_t last_ns; /* time of the last block */
};

HAULI_ASSERT_LINE(struct hauli_capture_ring, tail);

/* Maps the ring. Returns 0 or -errno. */
int hauli_capture_ring_init(struct hauli_capture_ring *ring, uint32_t size);
void hauli_capture_ring_fini(struct hauli_capture_ring *ring);

/* Carrier. The place for len bytes at position "at", which lies between head and tail; NULL: there
 * is no room. */
static inline uint8_t *hauli_capture_ring_room(
	struct hauli_capture_ring *ring, uint32_t at, uint32_t len)
{
	if (hauli_unlikely(ring->size - (at - ring->seen) < len)) {
		ring->seen = hauli_u32_published_get(&ring->tail);
		if (ring->size - (at - ring->seen) < len)
			return NULL;
	}
	return ring->bytes + (at & (ring->size - 1));
}

/* Carrier. */
static inline void hauli_capture_ring_publish(struct hauli_capture_ring *ring, uint32_t head)
{
	ring->written = head;
	hauli_u32_published_set(&ring->head, head);
}

/* The capture's thread. */
static inline uint8_t *hauli_capture_ring_at(const struct hauli_capture_ring *ring, uint32_t at)
{
	return ring->bytes + (at & (ring->size - 1));
}

static inline void hauli_capture_ring_release(struct hauli_capture_ring *ring, uint32_t tail)
{
	ring->read = tail;
	hauli_u32_published_set(&ring->tail, tail);
}

#endif
