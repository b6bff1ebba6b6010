/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/counters.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64 /* bytes of a cache line, or more than one on some machines: only speed */
#define PER_LINE (LINE / sizeof(uint64_t))

/* Each carrier has whole lines, and is the only writer of its sums. */
static struct {
	_Atomic uint64_t *sums;
	size_t stride;
	unsigned counters;
} book;

unsigned hauli_app_counters(const struct hauli_app *a)
{
	unsigned n = 0;

	while (a->hooks->counters && a->hooks->counters[n].name)
		n++;
	return n;
}

int hauli_app_counters_init(struct hauli_app *a)
{
	size_t size;

	book.counters = hauli_app_counters(a);
	book.stride = (book.counters / PER_LINE + 1) * PER_LINE;
	size = a->plan->carriers * book.stride * sizeof(book.sums[0]);
	book.sums = aligned_alloc(LINE, size);
	if (!book.sums) {
		haul_app_say(a->pub.program, "no memory for counters");
		return HAUL_APP_FAILED;
	}
	memset((void *)book.sums, 0, size);
	return HAUL_APP_DONE;
}

void hauli_app_counters_fini(void)
{
	free((void *)book.sums);
	book.sums = NULL;
}

void haul_app_count(unsigned counter, uint64_t n)
{
	const struct haul_carrier *carrier = haul_carrier_self();
	_Atomic uint64_t *sum;

	if (!carrier || counter >= book.counters) {
		fprintf(stderr, "haul: haul_app_count(): %s\n",
			carrier ? "there is no such counter" : "called outside carriers");
		abort();
	}
	sum = &book.sums[haul_carrier_id(carrier) * book.stride + counter];
	/* No atomic addition: other threads only read. */
	atomic_store_explicit(
		sum, atomic_load_explicit(sum, memory_order_relaxed) + n, memory_order_relaxed);
}

uint64_t haul_app_counted(const struct haul_app *app, unsigned counter, unsigned carrier)
{
	const struct haul_app_counter *all = hauli_app_state.hooks->counters;
	uint64_t n = 0;

	if (!app->plan || counter >= book.counters)
		return 0;
	for (unsigned c = 0; c < app->plan->carriers; c++) {
		if (carrier != HAUL_ALL && carrier != c)
			continue;
		n += all[counter].read ? all[counter].read(app, c)
				       : atomic_load_explicit(&book.sums[c * book.stride + counter],
						 memory_order_relaxed);
	}
	return n;
}
