/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes and subtracts samples. */
#include "report/sample.h"

#include <stdlib.h>
#include <string.h>

#include "report/counters.h"

/* Adds (sign 1) or subtracts (-1) structs that consist of counters only. */
static void accumulate(void *to, const void *from, size_t size, int sign)
{
	const uint64_t *b = from;
	uint64_t *a = to;
	size_t i;

	for (i = 0; i < size / sizeof(*a); i++)
		a[i] += sign > 0 ? b[i] : -b[i];
}

static unsigned nb_times(const struct hauli_app *a)
{
	return a->io_opts.times ? a->nb_ports * HAUL_STAGES : 0;
}

static size_t size_of(const struct hauli_app *a)
{
	return sizeof(struct hauli_app_sample) +
		a->plan->carriers * sizeof(((struct hauli_app_sample *)NULL)->carriers[0]) +
		nb_times(a) * sizeof(struct haul_hist);
}

/* [nb_times()], behind the carriers. */
static struct haul_hist *times_of(const struct hauli_app *a, const struct hauli_app_sample *s)
{
	return (struct haul_hist *)&s->carriers[a->plan->carriers];
}

static void read_counters(const struct hauli_app *a, unsigned carrier, uint64_t *counters)
{
	for (unsigned i = 0; i < hauli_app_counters(a); i++)
		counters[i] = haul_app_counted(&a->pub, i, carrier);
}

/* Looks at each coroutine, so only if there are handlers. */
static void read_waits(const struct hauli_app *a, struct hauli_app_sample *s)
{
	unsigned n = a->plan->carriers;
	struct haul_io_waits *waits;
	uint64_t in_flight = 0;

	for (unsigned c = 0; c < n; c++)
		in_flight += s->carriers[c].io.in_flight;
	waits = in_flight > 0 ? malloc(n * sizeof(waits[0])) : NULL;
	if (!waits)
		return;
	haul_io_get_waits(a->pub.io, waits, n);
	for (unsigned c = 0; c < n; c++)
		s->carriers[c].waits = waits[c];
	free(waits);
}

struct hauli_app_sample *hauli_app_sample_counters(const struct hauli_app *a)
{
	struct hauli_app_sample *s = calloc(1, size_of(a));
	unsigned c, i;

	if (!s)
		abort();
	s->at = haul_now();
	for (i = 0; i < a->nb_ports; i++)
		haul_io_get_stats(a->pub.io, i, HAUL_ALL, &s->ports[i]);
	for (i = 0; i < nb_times(a); i++)
		haul_io_get_times(a->pub.io, i / HAUL_STAGES, HAUL_ALL,
			(enum haul_stage)(i % HAUL_STAGES), &times_of(a, s)[i]);
	for (c = 0; c < a->plan->carriers; c++) {
		struct hauli_app_carrier_sample *cs = &s->carriers[c];

		read_counters(a, c, cs->counters);
		haul_io_get_wait_stats(a->pub.io, c, &cs->wait);
		haul_io_get_share(a->pub.io, c, &cs->share);
		haul_carrier_get_stats(haul_carrier(a->pub.rt, c), &cs->sched);
		for (i = 0; i < a->nb_ports; i++) {
			haul_io_get_stats(a->pub.io, i, c, &cs->queues[i]);
			accumulate(&cs->io, &cs->queues[i], sizeof(cs->io), 1);
		}
	}
	return s;
}

struct hauli_app_sample *hauli_app_sample_take(const struct hauli_app *a)
{
	struct hauli_app_sample *s = hauli_app_sample_counters(a);

	read_waits(a, s);
	return s;
}

static void subtract_io(struct haul_io_stats *st, const struct haul_io_stats *base)
{
	const struct haul_io_stats now = *st;

	accumulate(st, base, sizeof(*st), -1);
	st->in_flight = now.in_flight;
	st->tx_queued = now.tx_queued;
}

static void subtract_wait(struct haul_io_wait_stats *st, const struct haul_io_wait_stats *base)
{
	st->sleeps -= base->sleeps;
	st->wakes -= base->wakes;
	st->slept_ns -= base->slept_ns;
	haul_hist_subtract(&st->latency, &base->latency);
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The clock of the reader may be a little behind that of the carrier. */
static void subtract_share(struct haul_io_share *s, const struct haul_io_share *base)
{
	s->work_ns = minus(s->work_ns, base->work_ns);
	s->empty_ns = minus(s->empty_ns, base->empty_ns);
	s->asleep_ns = minus(s->asleep_ns, base->asleep_ns);
}

static void subtract_counters(const struct hauli_app *a, uint64_t *counters, const uint64_t *base)
{
	for (unsigned i = 0; i < hauli_app_counters(a); i++)
		if (!a->hooks->counters[i].gauge)
			counters[i] -= base[i];
}

struct hauli_app_sample *hauli_app_sample_since(const struct hauli_app *a,
	const struct hauli_app_sample *now, const struct hauli_app_sample *base)
{
	struct hauli_app_sample *s = malloc(size_of(a));
	unsigned c, i;

	if (!s)
		abort();
	memcpy(s, now, size_of(a));
	if (!base)
		return s;
	for (i = 0; i < a->nb_ports; i++)
		subtract_io(&s->ports[i], &base->ports[i]);
	for (i = 0; i < nb_times(a); i++)
		haul_hist_subtract(&times_of(a, s)[i], &times_of(a, base)[i]);
	for (c = 0; c < a->plan->carriers; c++) {
		struct hauli_app_carrier_sample *cs = &s->carriers[c];
		const struct hauli_app_carrier_sample *bs = &base->carriers[c];

		subtract_io(&cs->io, &bs->io);
		subtract_counters(a, cs->counters, bs->counters);
		for (i = 0; i < a->nb_ports; i++)
			subtract_io(&cs->queues[i], &bs->queues[i]);
		subtract_wait(&cs->wait, &bs->wait);
		subtract_share(&cs->share, &bs->share);
		accumulate(&cs->sched, &bs->sched, sizeof(cs->sched), -1);
	}
	return s;
}

const struct haul_hist *hauli_app_sample_times(const struct hauli_app *a,
	const struct hauli_app_sample *s, unsigned port, enum haul_stage stage)
{
	return a->io_opts.times ? &times_of(a, s)[port * HAUL_STAGES + stage] : NULL;
}

uint64_t hauli_app_sample_counter(
	const struct hauli_app *a, const struct hauli_app_sample *s, unsigned counter)
{
	uint64_t n = 0;

	for (unsigned c = 0; c < a->plan->carriers; c++)
		n += s->carriers[c].counters[counter];
	return n;
}
