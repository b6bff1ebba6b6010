/* SPDX-License-Identifier: BSD-3-Clause */
#include <haul-dpdk/pool.h>

#include <limits.h>
#include <stdio.h>

#include <haul-dpdk/eal.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "base/assert.h"
#include "eal/init.h"
#include "eal/log.h"
#include "port/ethdev.h"
#include "port/kinds/table.h"
#include "port/parse.h"

#define CACHE 256 /* of each lcore; a cache keeps up to one and a half times that */
#define CACHE_SHARE 16 /* of a small pool: 1/16, so that a few caches do not hold all of it */
#define UNDER_WAY 2048 /* of each carrier and port: bursts, and packets that wait to be sent */
#define LEAST 8192
#define BYTES_EACH 2624 /* buffer, header, its slots in the pool's ring and caches */
#define FRAME_USUAL (RTE_MBUF_DEFAULT_BUF_SIZE - RTE_PKTMBUF_HEADROOM)
#define AROUND_FRAME 128u /* bytes that a kernel may reserve in a ring's frame (afpacket) */
#define PAGE 4096u
#define MB_ELSE 64 /* rings, queues, PMDs */

static unsigned held(const char *text, const struct haul_pool_need *need)
{
	uint16_t rx_ring = need->rx_ring, tx_ring = need->tx_ring;
	const struct hauli_kind *kind;
	struct hauli_spec spec;
	char line[HAULI_LOG_LINE];

	if (hauli_spec_parse(&spec, text, line, sizeof(line)) < 0)
		return 0;
	kind = hauli_kind_of_spec(&spec);
	hauli_ethdev_rings(kind, &rx_ring, &tx_ring);
	return kind->held ? kind->held(rx_ring, tx_ring) : rx_ring + tx_ring;
}

unsigned haul_pool_size(const struct haul_pool_need *need)
{
	unsigned n;

	HAUL_MISUSE_IF(!need, "the need is NULL");
	n = need->in_flight + (need->carriers + 1) * (CACHE + CACHE / 2);
	for (unsigned i = 0; i < need->nb_specs; i++)
		n += need->carriers * (held(need->specs[i], need) + UNDER_WAY);
	return n < LEAST ? LEAST : n;
}

/* The bytes of a buffer for frames of up to this size. afpacket's PMD takes no buffer that is
 * smaller than a frame of its ring, which is a number of pages. */
static unsigned room_for(unsigned frame)
{
	if (frame <= FRAME_USUAL)
		return FRAME_USUAL;
	return RTE_ALIGN_CEIL(frame + AROUND_FRAME, PAGE);
}

static unsigned bytes_each(unsigned frame)
{
	return BYTES_EACH - FRAME_USUAL + room_for(frame);
}

unsigned haul_pool_mem_mb_for(unsigned mbufs, unsigned frame)
{
	return MB_ELSE + (unsigned)(((uint64_t)mbufs * bytes_each(frame)) >> 20);
}

unsigned haul_pool_mem_mb(unsigned mbufs)
{
	return haul_pool_mem_mb_for(mbufs, 0);
}

/* NICs use the address that rte_pktmbuf_init() takes from here, and a pool of adjacent buffers has
 * none. Behind an IOMMU it is the virtual address. */
static void set_iova(struct rte_mempool *pool, void *arg, void *obj, unsigned i)
{
	rte_mempool_get_header(obj)->iova = (rte_iova_t)(uintptr_t)obj;
}

/*
 * Adjacent buffers. rte_pktmbuf_pool_create() lets no buffer cross a page, for the sake of physical
 * addresses: with pages of 4 KiB each buffer takes a page. That costs memory, and XDP sockets lose
 * buffers: their PMD registers the memory that adjacent buffers would take, and the kernel discards
 * the buffers beyond.
 */
static struct rte_mempool *create(const char *name, unsigned mbufs, uint16_t size)
{
	const unsigned flags =
		rte_eal_iova_mode() == RTE_IOVA_VA ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0;
	const struct rte_pktmbuf_pool_private info = {.mbuf_data_room_size = size};
	struct rte_mempool *pool =
		rte_mempool_create_empty(name, mbufs, sizeof(struct rte_mbuf) + size,
			RTE_MIN(CACHE, mbufs / CACHE_SHARE), sizeof(info), SOCKET_ID_ANY, flags);

	if (!pool)
		return NULL;
	rte_pktmbuf_pool_init(pool, (void *)(uintptr_t)&info);
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) < 0 ||
		rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	if (rte_eal_iova_mode() == RTE_IOVA_VA)
		rte_mempool_obj_iter(pool, set_iova, NULL);
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

/* The kernel promises more pages than it has, and ends programs that touch them. Huge pages are
 * EAL's already. */
static bool is_too_large(unsigned mbufs, unsigned frame, char *errbuf, size_t errlen)
{
	unsigned long mb = (unsigned long)mbufs * bytes_each(frame) >> 20;
	unsigned long free_mb = rte_eal_has_hugepages() ? ULONG_MAX : haul_memory_free_mb();

	if (mb <= free_mb)
		return false;
	snprintf(errbuf, errlen,
		"no memory for %u packet buffers: they take %lu MB, and %lu MB are free; use fewer",
		mbufs, mb, free_mb);
	return true;
}

struct rte_mempool *haul_pool_create(unsigned mbufs, char *errbuf, size_t errlen)
{
	return haul_pool_create_for(mbufs, 0, errbuf, errlen);
}

struct rte_mempool *haul_pool_create_for(
	unsigned mbufs, unsigned frame, char *errbuf, size_t errlen)
{
	static unsigned made;
	char name[RTE_MEMPOOL_NAMESIZE], line[HAULI_LOG_LINE];
	struct rte_mempool *pool;
	int err;

	if (!hauli_eal_is_up() || mbufs == 0) {
		snprintf(errbuf, errlen, "haul_pool_create: %s",
			mbufs == 0 ? "0 packet buffers are asked for; give as many as "
				     "haul_pool_size() "
				     "says"
				   : "DPDK is not running; call haul_eal_init() first");
		return NULL;
	}
	if (frame > HAUL_POOL_FRAME_MAX) {
		snprintf(errbuf, errlen,
			"haul_pool_create_for: a buffer holds at most %u bytes of a frame",
			HAUL_POOL_FRAME_MAX);
		return NULL;
	}
	if (is_too_large(mbufs, frame, errbuf, errlen))
		return NULL;
	snprintf(name, sizeof(name), "haul%u", made++);
	hauli_log_hold();
	pool = create(name, mbufs, (uint16_t)(RTE_PKTMBUF_HEADROOM + room_for(frame)));
	err = rte_errno;
	hauli_log_release(line);
	if (!pool)
		snprintf(errbuf, errlen,
			"no memory for %u packet buffers (%s); start EAL with -m %u or more", mbufs,
			rte_strerror(err), haul_pool_mem_mb_for(mbufs, frame));
	return pool;
}
