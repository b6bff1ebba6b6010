/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Maps the same memory twice, one mapping behind the other. Uses no file (memfd), whose size a
 * limit may forbid (ulimit -f). */
static uint8_t *map_twice(size_t size)
{
	const int how = MREMAP_MAYMOVE | MREMAP_FIXED;
	uint8_t *both = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (both == MAP_FAILED)
		return NULL;
	if (mmap(both, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) != MAP_FAILED &&
		mremap(both, 0, size, how, both + size) != MAP_FAILED)
		return both;
	munmap(both, 2 * size);
	return NULL;
}

int hauli_capture_ring_init(struct hauli_capture_ring *ring, uint32_t size)
{
	ring->bytes = map_twice(size);
	ring->size = size;
	ring->whole = malloc(HAULI_CAPTURE_FRAME_MOST);
	return ring->bytes && ring->whole ? 0 : -ENOMEM;
}

void hauli_capture_ring_fini(struct hauli_capture_ring *ring)
{
	if (ring->bytes)
		munmap(ring->bytes, 2 * (size_t)ring->size);
	free(ring->whole);
}
