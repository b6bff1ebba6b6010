/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers that wait, and those that a stop has cancelled. */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "io/handler.h"
#include "io/state.h"

_Static_assert(HAUL_IO_CANCELLED_MAX == HAULI_SITES + 1, "one without a call stack");

void haul_io_get_waits(const struct haul_io *io, struct haul_io_waits *waits, unsigned n)
{
	struct hauli_waits *found;

	HAUL_MISUSE_IF(!io || !waits, HAULI_NO_IO);
	found = calloc(n, sizeof(found[0]));
	for (unsigned i = 0; i < n; i++)
		waits[i] = (struct haul_io_waits){0};
	if (!found)
		return;
	hauli_waits_count(io->rt, hauli_is_handler, found, n);
	for (unsigned i = 0; i < n; i++) {
		waits[i].handlers = found[i].n;
		waits[i].longest_ns = found[i].longest_ns;
		if (found[i].longest_ns >= HAUL_IO_LONG_WAIT)
			hauli_site_of_waiting(
				found[i].co, waits[i].longest_at, sizeof(waits[i].longest_at));
	}
	free(found);
}

static int by_number(const void *a, const void *b)
{
	const struct hauli_site *x = a, *y = b;

	return (x->coroutines < y->coroutines) - (x->coroutines > y->coroutines);
}

unsigned haul_io_get_cancelled(const struct haul_io *io,
	struct haul_io_cancelled cancelled[HAUL_IO_CANCELLED_MAX], uint64_t *sum)
{
	struct hauli_sites all = {0};
	unsigned n = 0;

	HAUL_MISUSE_IF(!io || !cancelled || !sum, HAULI_NO_IO);
	for (unsigned i = 0; i < io->nb_pollers; i++)
		hauli_sites_merge(&all, &io->pollers[i]->cancelled);
	qsort(all.of, HAULI_SITES, sizeof(all.of[0]), by_number);
	*sum = all.others;
	for (; n < HAULI_SITES && all.of[n].coroutines > 0; n++) {
		cancelled[n].handlers = all.of[n].coroutines;
		hauli_site_print(&all.of[n], cancelled[n].at, sizeof(cancelled[n].at));
		*sum += all.of[n].coroutines;
	}
	if (all.others > 0)
		cancelled[n++] = (struct haul_io_cancelled){.handlers = all.others};
	return n;
}
