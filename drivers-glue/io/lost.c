/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of free buffers tells whether something is wrong. Then the free buffers are listed: a
 * buffer that is not in the list is lost, one that is there twice was freed twice. With
 * -Dchecks=true, lost packets also tell which handler had them last (net/given.h).
 */
#include "io/lost.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "net/given.h"
#include "sched/glue.h"

#define HANDLERS 3 /* that the line names */

struct handler {
	uintptr_t fn;
	unsigned packets;
};

struct lost {
	void **free; /* addresses, ascending */
	unsigned nb_free;
	unsigned twice; /* of these */
	unsigned buffers; /* lost */
	struct handler handlers[HANDLERS];
	unsigned others; /* packets of more handlers */
};

/* Free buffers in the pool itself, without the lcores' caches. (rte_mempool_avail_count() returns
 * at most the pool's size, which hides buffers that were freed twice.) */
static unsigned not_cached(const struct rte_mempool *pool)
{
	return rte_mempool_get_ops(pool->ops_index)->get_count(pool);
}

/* Free buffers in the caches of lcores. */
static unsigned cached(const struct rte_mempool *pool, void **to)
{
	unsigned n = 0;

	for (unsigned i = 0; pool->cache_size > 0 && i < RTE_MAX_LCORE; i++) {
		const struct rte_mempool_cache *cache = &pool->local_cache[i];

		for (unsigned j = 0; to && j < cache->len; j++)
			to[n + j] = cache->objs[j];
		n += cache->len;
	}
	return n;
}

static int by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (void *const *)a, y = (uintptr_t) * (void *const *)b;

	return (x > y) - (x < y);
}

/* Lists the free buffers. Those behind the caches are taken out for that, and put back. */
static bool list_free(struct lost *l, struct rte_mempool *pool)
{
	unsigned in_caches = cached(pool, NULL);
	unsigned room = in_caches + not_cached(pool);

	l->free = malloc((room + 1) * sizeof(l->free[0]));
	if (!l->free)
		return false;
	l->nb_free = cached(pool, l->free);
	while (l->nb_free < room &&
		rte_mempool_generic_get(pool, &l->free[l->nb_free], 1, NULL) == 0)
		l->nb_free++;
	if (l->nb_free > in_caches)
		rte_mempool_generic_put(pool, &l->free[in_caches], l->nb_free - in_caches, NULL);
	qsort(l->free, l->nb_free, sizeof(l->free[0]), by_address);
	for (unsigned i = 1; i < l->nb_free; i++)
		l->twice += l->free[i] == l->free[i - 1];
	return true;
}

static void count_handler(struct lost *l, uintptr_t fn)
{
	for (struct handler *h = l->handlers; h < &l->handlers[HANDLERS]; h++) {
		if (h->packets > 0 && h->fn != fn)
			continue;
		h->fn = fn;
		h->packets++;
		return;
	}
	l->others++;
}

static void examine(struct rte_mempool *pool, void *arg, void *buffer, unsigned i)
{
	struct lost *l = arg;
	uintptr_t fn;

	if (bsearch(&buffer, l->free, l->nb_free, sizeof(buffer), by_address))
		return;
	l->buffers++;
	fn = hauli_pkt_owner(buffer);
	if (fn)
		count_handler(l, fn);
}

static void print_handler(const struct handler *h, const char *before, FILE *out)
{
	void *pc = (void *)h->fn;

	fprintf(out, "%s%u by ", before, h->packets);
	hauli_trace_print_line(&pc, 1, out);
}

static void print_handlers(const struct lost *l, FILE *out)
{
	for (unsigned i = 0; i < HANDLERS && l->handlers[i].packets > 0; i++)
		print_handler(&l->handlers[i],
			i > 0 ? ", " : ": packets that handlers neither sent nor dropped: ", out);
	if (l->others > 0)
		fprintf(out, ", %u by others", l->others);
}

static void print(const struct lost *l, const struct rte_mempool *pool, FILE *out)
{
	fprintf(out, "pool %s: ", pool->name);
	/* This comes first: a buffer that was freed twice becomes two packets, and makes the other
	 * figures wrong, too. */
	if (l->twice > 0)
		fprintf(out,
			"%u packet buffers came back twice: they were sent, dropped or freed "
			"twice%s%s",
			l->twice,
			HAUL_CHECKS ? "" : "; libhaul with -Dchecks=true ends the program there",
			l->buffers > 0 ? "; " : "");
	if (l->buffers > 0) {
		fprintf(out,
			"%u of %u packet buffers did not come back; a handler or a port keeps "
			"them%s",
			l->buffers, pool->size,
			HAUL_CHECKS || l->twice > 0
				? ""
				: "; libhaul with -Dchecks=true names the handler");
		print_handlers(l, out);
	}
}

int hauli_lost_check(struct rte_mempool *pool, char *errbuf, size_t errlen)
{
	unsigned avail = not_cached(pool) + cached(pool, NULL);
	struct lost l = {0};
	FILE *out;

	if (avail == pool->size)
		return 0;
	if (list_free(&l, pool))
		rte_mempool_obj_iter(pool, examine, &l);
	else
		l.buffers = avail < pool->size ? pool->size - avail : 0;
	out = errlen > 0 ? fmemopen(errbuf, errlen, "w") : NULL;
	if (out) {
		print(&l, pool, out);
		fclose(out);
		errbuf[errlen - 1] = '\0';
	}
	free(l.free);
	return -EIO;
}
