/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet buffers of simulated hosts. DPDK's own pools take three of its 2,560 memory zones each;
 * these take one, so that there can be two thousand, and their memory is that of the process.
 * The buffer that was freed last is the next one: no step of the order depends on an address.
 */
#include "simnet/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_malloc.h>
#include <rte_mbuf_pool_ops.h>

#include "sim/world.h"

#define OPS "haul_sim"

struct stack {
	unsigned n;
	void *objs[];
};

/* A pool of a host, or other memory of DPDK's. */
struct owned {
	void *at;
	unsigned host;
	struct owned *next;
};

static struct owned *pools, *others;

/* False: no memory. */
static bool own(struct owned **all, void *at)
{
	struct owned *o = malloc(sizeof(*o));

	if (o)
		*o = (struct owned){at, hauli_sim_is_on() ? hauli_sim_host() : 0, *all};
	*all = o ? o : *all;
	return o;
}

static void disown(struct owned **all, const void *at)
{
	struct owned *o;

	while (*all && (*all)->at != at)
		all = &(*all)->next;
	o = *all;
	if (o)
		*all = o->next;
	free(o);
}

static int stack_alloc(struct rte_mempool *mp)
{
	mp->pool_data = calloc(1, sizeof(struct stack) + mp->size * sizeof(void *));
	if (mp->pool_data && own(&pools, mp))
		return 0;
	free(mp->pool_data);
	return -ENOMEM;
}

static void stack_free(struct rte_mempool *mp)
{
	disown(&pools, mp);
	free(mp->pool_data);
}

void *hauli_simnet_zmalloc_socket(const char *type, size_t size, unsigned align, int socket)
{
	void *at = rte_zmalloc_socket(type, size, align, socket);

	if (!at || own(&others, at))
		return at;
	rte_free(at);
	return NULL;
}

void hauli_simnet_free(void *at)
{
	disown(&others, at);
	rte_free(at);
}

static void free_those_of(unsigned host, struct owned *first, void (*fn)(void *at))
{
	for (struct owned *next; first; first = next) {
		next = first->next;
		if (first->host == host)
			fn(first->at);
	}
}

static void free_pool(void *pool)
{
	rte_mempool_free(pool);
}

void hauli_simnet_free_host(unsigned host)
{
	free_those_of(host, others, hauli_simnet_free);
	free_those_of(host, pools, free_pool);
}

static int stack_enqueue(struct rte_mempool *mp, void *const *objs, unsigned n)
{
	struct stack *s = mp->pool_data;

	if (n > mp->size - s->n)
		return -ENOBUFS; /* freed twice */
	memcpy(&s->objs[s->n], objs, n * sizeof(void *));
	s->n += n;
	return 0;
}

static int stack_dequeue(struct rte_mempool *mp, void **objs, unsigned n)
{
	struct stack *s = mp->pool_data;

	if (n > s->n)
		return -ENOBUFS;
	for (unsigned i = 0; i < n; i++)
		objs[i] = s->objs[--s->n];
	return 0;
}

static unsigned stack_count(const struct rte_mempool *mp)
{
	return ((const struct stack *)mp->pool_data)->n;
}

static const struct rte_mempool_ops ops = {
	.name = OPS,
	.alloc = stack_alloc,
	.free = stack_free,
	.enqueue = stack_enqueue,
	.dequeue = stack_dequeue,
	.get_count = stack_count,
};

int hauli_simnet_pools_init(void)
{
	int err = rte_mempool_register_ops(&ops);

	return err < 0 ? err : rte_mbuf_set_platform_mempool_ops(OPS);
}

struct rte_mempool *hauli_simnet_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned private_size, int socket, unsigned flags)
{
	return rte_mempool_create_empty(name, n, size, 0, private_size, socket, flags);
}

static void unmap(struct rte_mempool_memhdr *mem, void *arg)
{
	munmap(mem->addr, mem->len);
}

int hauli_simnet_mempool_populate_default(struct rte_mempool *mp)
{
	size_t each = (size_t)mp->header_size + mp->elt_size + mp->trailer_size;
	size_t len = RTE_ALIGN_CEIL(each * mp->size, (size_t)4096);
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int n;

	if (memory == MAP_FAILED)
		return -ENOMEM;
	n = rte_mempool_populate_iova(mp, memory, (rte_iova_t)(uintptr_t)memory, len, unmap, NULL);
	if (n < 0)
		munmap(memory, len);
	return n;
}
