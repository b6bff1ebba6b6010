/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/xdp_rings.h"

#include <inttypes.h>
#include <linux/if_xdp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_io.h>
#include <rte_mbuf.h>

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

/* The sizes that the PMD uses. */
#define FILL_SIZE 4096
#define DONE_SIZE 2048

#define CATCH_UP_US 100
#define CATCH_UP_LOOKS 1000

struct ring {
	const char *map; /* shared with the kernel */
	struct xdp_ring_offset off;
	uint32_t size; /* a power of two */
	uint32_t entry; /* bytes */
};

struct rings {
	struct ring rx, tx, fill, done;
};

struct hauli_xdp_left {
	struct rte_mempool *pool;
	int fd;
	uint64_t inode;
	uint32_t n;
	struct rte_mbuf *bufs[];
};

static uint32_t produced(const struct ring *r)
{
	return rte_read32(r->map + r->off.producer);
}

static uint32_t consumed(const struct ring *r)
{
	return rte_read32(r->map + r->off.consumer);
}

/* An entry begins with the address of a buffer; its high bits, an offset within the buffer, are
 * masked out. */
static uint64_t address(const struct ring *r, uint32_t number)
{
	uint64_t addr;

	memcpy(&addr, r->map + r->off.desc + (size_t)(number & (r->size - 1)) * r->entry,
		sizeof(addr));
	return addr & XSK_UNALIGNED_BUF_ADDR_MASK;
}

struct mapping {
	char *from;
	size_t size;
	uint64_t offset;
};

/* The process's i-th mapping of a socket; false if there are fewer. */
static bool find_mapping(struct mapping *m, uint64_t inode, unsigned i)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t from, to, node;
	char line[512];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64, &from, &to,
			    &m->offset, &node) == 4 &&
			node == inode && strstr(line, "socket:"))
			found = i-- == 0;
	}
	if (maps)
		fclose(maps);
	m->from = found ? (char *)(uintptr_t)from : NULL;
	m->size = found ? to - from : 0;
	return found;
}

/* The address of the socket's ring with this mapping offset, if its size is right. */
static bool find_ring(struct ring *r, uint64_t inode, uint64_t offset)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = r->off.desc + (size_t)r->size * r->entry;
	struct mapping m;

	size = (size + page - 1) / page * page;
	r->map = NULL;
	for (unsigned i = 0; !r->map && find_mapping(&m, inode, i); i++) {
		if (m.offset == offset && m.size == size)
			r->map = m.from;
	}
	return r->map != NULL;
}

static bool find_rings(struct rings *r, int fd, uint32_t ring_size)
{
	struct xdp_mmap_offsets off;
	socklen_t len = sizeof(off);
	struct stat st;

	if (fstat(fd, &st) < 0 || getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len) < 0 ||
		len != sizeof(off))
		return false;
	r->rx = (struct ring){.off = off.rx, .size = ring_size, .entry = sizeof(struct xdp_desc)};
	r->tx = (struct ring){.off = off.tx, .size = ring_size, .entry = sizeof(struct xdp_desc)};
	r->fill = (struct ring){.off = off.fr, .size = FILL_SIZE, .entry = sizeof(uint64_t)};
	r->done = (struct ring){.off = off.cr, .size = DONE_SIZE, .entry = sizeof(uint64_t)};
	return find_ring(&r->rx, st.st_ino, XDP_PGOFF_RX_RING) &&
		find_ring(&r->tx, st.st_ino, XDP_PGOFF_TX_RING) &&
		find_ring(&r->fill, st.st_ino, XDP_UMEM_PGOFF_FILL_RING) &&
		find_ring(&r->done, st.st_ino, XDP_UMEM_PGOFF_COMPLETION_RING);
}

bool hauli_xdp_rings_sending(int fd, uint32_t ring_size)
{
	struct rings r;

	/* Both count since the start. */
	return find_rings(&r, fd, ring_size) && produced(&r.tx) != produced(&r.done);
}

/* Adds the buffers of entries from..to. */
static void take(struct hauli_xdp_left *left, const struct ring *r, uint32_t from, uint32_t to)
{
	const struct rte_mempool_memhdr *chunk = STAILQ_FIRST(&left->pool->mem_list);
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t base = (uintptr_t)chunk->addr & ~(page - 1); /* the PMD's base of all addresses */

	/* More than a ring's worth: the numbers are invalid. */
	for (uint32_t i = from; i != to && to - from <= r->size; i++) {
		uint64_t addr = address(r, i);

		if (base + addr >= (uintptr_t)chunk->addr &&
			base + addr < (uintptr_t)chunk->addr + chunk->len)
			left->bufs[left->n++] =
				(struct rte_mbuf *)(base + addr + left->pool->header_size);
	}
}

static int compare(const void *a, const void *b)
{
	const struct rte_mbuf *x = *(struct rte_mbuf *const *)a;
	const struct rte_mbuf *y = *(struct rte_mbuf *const *)b;

	return (x > y) - (x < y);
}

/* The kernel continues while the rings are read: a buffer that moved between rings was seen
 * twice. */
static void drop_doubles(struct hauli_xdp_left *left)
{
	uint32_t n = 0;

	qsort(left->bufs, left->n, sizeof(struct rte_mbuf *), compare);
	for (uint32_t i = 0; i < left->n; i++) {
		if (n == 0 || left->bufs[n - 1] != left->bufs[i])
			left->bufs[n++] = left->bufs[i];
	}
	left->n = n;
}

/* The number of fill entries that the kernel has taken, which it publishes a moment after the
 * number of received packets. */
static uint32_t stable_count(const struct ring *fill, uint32_t received)
{
	uint32_t taken = consumed(fill);

	for (unsigned i = 0; (int32_t)(taken - received) < 0 && i < CATCH_UP_LOOKS; i++) {
		rte_delay_us_sleep(CATCH_UP_US);
		taken = consumed(fill);
	}
	return taken;
}

struct hauli_xdp_left *hauli_xdp_rings_read(int fd, uint32_t ring_size, struct rte_mempool *pool)
{
	const uint32_t most = 2 * FILL_SIZE + 2 * ring_size + DONE_SIZE;
	struct hauli_xdp_left *left = calloc(1, sizeof(*left) + most * sizeof(struct rte_mbuf *));
	struct rings r;
	struct stat st;
	uint32_t received, taken;

	if (!left || fstat(fd, &st) < 0 || !find_rings(&r, fd, ring_size)) {
		free(left);
		return NULL;
	}
	left->pool = pool;
	left->fd = fd;
	left->inode = st.st_ino;
	/* In this order: a buffer that moves on meanwhile is found in the next ring. */
	received = produced(&r.rx);
	taken = stable_count(&r.fill, received);
	take(left, &r.fill, taken, produced(&r.fill));
	take(left, &r.fill, received, taken);
	take(left, &r.rx, consumed(&r.rx), produced(&r.rx));
	take(left, &r.tx, consumed(&r.tx), produced(&r.tx));
	take(left, &r.done, consumed(&r.done), produced(&r.done));
	drop_doubles(left);
	return left;
}

/* Versions of the PMD (22.11 is one) do not close the socket, which lives as long as its
 * mappings. */
static void close_socket(const struct hauli_xdp_left *left)
{
	struct mapping m;
	struct stat st;

	while (find_mapping(&m, left->inode, 0) && munmap(m.from, m.size) == 0)
		;
	if (fstat(left->fd, &st) == 0 && st.st_ino == left->inode && S_ISSOCK(st.st_mode))
		close(left->fd);
}

void hauli_xdp_left_free(struct hauli_xdp_left *left)
{
	if (!left)
		return;
	close_socket(left);
	rte_pktmbuf_free_bulk(left->bufs, left->n);
	free(left);
}
