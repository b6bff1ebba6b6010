/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint8_t *map_twice(int fd, size_t size)
{
	uint8_t *both = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int how = MAP_SHARED | MAP_FIXED;

	if (both == MAP_FAILED)
		return NULL;
	if (mmap(both, size, PROT_READ | PROT_WRITE, how, fd, 0) != MAP_FAILED &&
		mmap(both + size, size, PROT_READ | PROT_WRITE, how, fd, 0) != MAP_FAILED)
		return both;
	munmap(both, 2 * size);
	return NULL;
}

int hauli_capture_ring_init(struct hauli_capture_ring *ring, uint32_t size)
{
	int fd = memfd_create("haul-capture", MFD_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, size) == 0)
		ring->bytes = map_twice(fd, size);
	if (!ring->bytes)
		err = -errno;
	close(fd);
	ring->size = size;
	if (err)
		return err;
	ring->whole = malloc(HAULI_CAPTURE_FRAME_MOST);
	return ring->whole ? 0 : -ENOMEM;
}

void hauli_capture_ring_fini(struct hauli_capture_ring *ring)
{
	if (ring->bytes)
		munmap(ring->bytes, 2 * (size_t)ring->size);
	free(ring->whole);
}
