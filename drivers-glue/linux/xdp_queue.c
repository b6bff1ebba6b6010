/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/xdp_queue.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "linux/iface.h"

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

#define WAIT_US 2000000
#define LOOK_US 1000
#define RING 64

/* The parts that a socket needs before it can be bound. */
static int prepare(int fd, void *page, size_t size)
{
	const struct xdp_umem_reg memory = {
		.addr = (uintptr_t)page, .len = size, .chunk_size = (uint32_t)size};
	const int ring = RING;

	if (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)) < 0 ||
		setsockopt(fd, SOL_XDP, XDP_UMEM_FILL_RING, &ring, sizeof(ring)) < 0 ||
		setsockopt(fd, SOL_XDP, XDP_UMEM_COMPLETION_RING, &ring, sizeof(ring)) < 0 ||
		setsockopt(fd, SOL_XDP, XDP_RX_RING, &ring, sizeof(ring)) < 0)
		return -errno;
	return 0;
}

/*
 * Tries to bind with zero-copy, which such an interface does not support. The kernel checks first
 * whether the queue is busy, and refuses in any case, so the try itself does not make the queue
 * busy.
 */
static int try(const char *iface, unsigned queue, void *page, size_t size)
{
	const struct sockaddr_xdp addr = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_ZEROCOPY,
		.sxdp_ifindex = (uint32_t)hauli_iface_index(iface),
		.sxdp_queue_id = queue,
	};
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = prepare(fd, page, size);
	if (err == 0 && bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0 &&
		errno != EOPNOTSUPP)
		err = -errno;
	close(fd);
	return err;
}

int hauli_xdp_queue_wait(const char *iface, unsigned queue)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (page == MAP_FAILED)
		return -errno;
	err = try(iface, queue, page, size);
	for (unsigned us = 0; us < WAIT_US && err == -EBUSY; us += LOOK_US) {
		rte_delay_us_sleep(LOOK_US);
		err = try(iface, queue, page, size);
	}
	munmap(page, size);
	return err;
}
