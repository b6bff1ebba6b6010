/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes and subtracts samples. */
#include "sample.h"

#include <stdlib.h>
#include <string.h>

/* Adds (sign 1) or subtracts (-1) structs that consist of counters only. */
static void accumulate(void *to, const void *from, size_t size, int sign)
{
	const uint64_t *b = from;
	uint64_t *a = to;
	size_t i;

	for (i = 0; i < size / sizeof(*a); i++)
		a[i] += sign > 0 ? b[i] : -b[i];
}

static size_t size_of(const struct app_engine *e)
{
	return sizeof(struct app_sample) +
		e->plan->carriers * sizeof(((struct app_sample *)NULL)->carriers[0]);
}

struct app_sample *app_sample_take(const struct app_engine *e)
{
	struct app_sample *s = calloc(1, size_of(e));
	unsigned c, i;

	if (!s)
		abort();
	s->at = haul_now();
	for (i = 0; i < e->nb_ports; i++)
		haul_io_get_stats(e->io, i, -1, &s->ports[i]);
	for (c = 0; c < e->plan->carriers; c++) {
		struct app_carrier_sample *cs = &s->carriers[c];

		haul_io_get_wait_stats(e->io, (int)c, &cs->wait);
		haul_carrier_get_stats(haul_carrier(e->rt, c), &cs->sched);
		for (i = 0; i < e->nb_ports; i++) {
			haul_io_get_stats(e->io, i, (int)c, &cs->queues[i]);
			accumulate(&cs->io, &cs->queues[i], sizeof(cs->io), 1);
		}
	}
	return s;
}

static void subtract_io(struct haul_io_stats *st, const struct haul_io_stats *base)
{
	uint64_t in_flight = st->in_flight;

	accumulate(st, base, sizeof(*st), -1);
	st->in_flight = in_flight;
}

struct app_sample *app_sample_since(
	const struct app_engine *e, const struct app_sample *now, const struct app_sample *base)
{
	struct app_sample *s = malloc(size_of(e));
	unsigned c, i;

	if (!s)
		abort();
	memcpy(s, now, size_of(e));
	if (!base)
		return s;
	for (i = 0; i < e->nb_ports; i++)
		subtract_io(&s->ports[i], &base->ports[i]);
	for (c = 0; c < e->plan->carriers; c++) {
		struct app_carrier_sample *cs = &s->carriers[c];
		const struct app_carrier_sample *bs = &base->carriers[c];

		subtract_io(&cs->io, &bs->io);
		for (i = 0; i < e->nb_ports; i++)
			subtract_io(&cs->queues[i], &bs->queues[i]);
		accumulate(&cs->wait, &bs->wait, sizeof(cs->wait), -1);
		accumulate(&cs->sched, &bs->sched, sizeof(cs->sched), -1);
	}
	return s;
}
