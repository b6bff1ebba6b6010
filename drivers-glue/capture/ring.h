/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier's ring of captured frames: each block that the carrier publishes is read once, whole,
 * in order, by the capture's thread; the carrier waits for nobody: it drops a frame without room.
 *
 * Memory is mapped twice, one mapping behind the other, so that each block lies in one piece.
 * Positions count bytes modulo 2^32; the size is a power of two of at most 2^30.
 *
 *	word      writer   value
 *	head      carrier  end of the published blocks
 *	tail      thread   end of the blocks that have been written to the file
 *	written   carrier  its copy of head
 *	seen      carrier  a tail; the present one may be further
 *	read      thread   its copy of tail
 *	bytes     carrier from head to tail + size, thread from tail to head
 *
 * Both words are word.h's u32_published, whose edge word.E4 orders:
 *
 *	carrier                               thread
 *	write blocks behind head
 *	head = their end               E4 ->  head: read the blocks, write their times into them,
 *	                                      write them to the file
 *	tail: write over their bytes   <- E4  tail = their end
 *
 * Blocks behind head are the carrier's: those of packets that a PMD has not taken are never
 * published, and the next ones are written over them.
 *
 * Not needed: a store-load barrier, because no side sleeps until the other acts. The thread looks
 * again after a rest; a carrier that reads an old tail finds less room than there is. The last
 * look is complete: haul_capture_stop() has joined a coroutine of each carrier before
 * hauli_capture_finish() publishes `ends`, and the thread reads `ends` before it reads the heads.
 *
 * Model: tests/model/capture_ring.c. Stress: tests/stress/capture_ring.c.
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
	uint32_t seen; /* tail as last read; it may be further by now */
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
