/* SPDX-License-Identifier: BSD-3-Clause */
#include "coroutines.h"

#include <stdlib.h>

static struct trace_coroutine *place_of(const struct trace_coroutines *all, uint64_t address)
{
	uint64_t i = address * UINT64_C(0x9e3779b97f4a7c15) >> 20;

	while (all->places[i &= all->size - 1].address && all->places[i].address != address)
		i++;
	return &all->places[i];
}

static bool grow(struct trace_coroutines *all)
{
	struct trace_coroutines more = {.n = all->n, .size = all->size ? 2 * all->size : 1024};

	more.places = calloc(more.size, sizeof(more.places[0]));
	if (!more.places)
		return false;
	for (uint64_t i = 0; i < all->size; i++)
		if (all->places[i].address)
			*place_of(&more, all->places[i].address) = all->places[i];
	free(all->places);
	*all = more;
	return true;
}

struct trace_coroutine *trace_coroutine(struct trace_coroutines *all, uint64_t address)
{
	struct trace_coroutine *co;

	if (2 * all->n >= all->size && !grow(all))
		return NULL;
	co = place_of(all, address);
	if (!co->address) {
		co->address = address;
		all->n++;
	}
	return co;
}

void trace_coroutines_free(struct trace_coroutines *all)
{
	free(all->places);
}
