/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What holds of any file of timelines, whatever the program does:
 *	times never go back on a carrier;
 *	what runs stops before something else runs there, and the loop stops nothing;
 *	a carrier that is asleep runs nothing but a poller, and falls asleep once;
 *	a coroutine runs on one carrier at a time;
 *	one that waits is woken before it runs again, and its wake-up says by what;
 *	a counter is followed by its value.
 * Where a coroutine runs, and its wake-ups, are asked of runtimes whose rings have lost no event,
 * up to the time when the copy began.
 */
#ifndef HAUL_TESTS_TIMELINE_CHECK_H
#define HAUL_TESTS_TIMELINE_CHECK_H

#include <inttypes.h>
#include <stdbool.h>

#include "support/timeline.h"

struct timeline_sums {
	uint64_t files, events, runs, waits; /* waits: with their wake-ups */
};

static inline void timeline_fail(
	const struct timeline_ring *r, uint64_t i, const char *what, uint64_t value)
{
	fprintf(stderr, "timeline: runtime %u carrier %u: %s 0x%" PRIx64 "\n", r->head.runtime,
		r->head.carrier, what, value);
	for (uint64_t k = i > 12 ? i - 12 : 0; k < r->n && k < i + 4; k++) {
		const struct timeline_event *e = &r->events[k];

		fprintf(stderr, "%s %" PRIu64 " kind %u sub %u extra %u value 0x%" PRIx64 " %s\n",
			k == i ? ">" : " ", e->ticks, e->kind, e->sub, e->extra, e->value, e->name);
	}
	abort();
}

#define TIMELINE_HOLDS(condition, r, i)                                                \
	do {                                                                           \
		if (!(condition))                                                      \
			timeline_fail(r, i, "not: " #condition, (r)->events[i].value); \
	} while (0)

static inline void timeline_check_ring(const struct timeline_ring *r)
{
	uint64_t ticks = 0, on = 0;
	bool knows_on = r->lost == 0, asleep = false;

	for (uint64_t i = 0; i < r->n; i++) {
		const struct timeline_event *e = &r->events[i];

		TIMELINE_HOLDS(e->kind > HAUL_TRACE_TEXT && e->kind <= HAUL_TRACE_TRIGGER, r, i);
		if (e->kind == HAUL_TRACE_VALUE) {
			TIMELINE_HOLDS(i == 0 || r->events[i - 1].kind == HAUL_TRACE_COUNT, r, i);
			continue;
		}
		TIMELINE_HOLDS(e->ticks >= ticks, r, i);
		ticks = e->ticks;
		switch ((int)e->kind) {
		case HAUL_TRACE_RUN:
			TIMELINE_HOLDS(!knows_on || !on == (e->sub == HAUL_TRACE_BEGAN), r, i);
			TIMELINE_HOLDS(!asleep || !e->value, r, i);
			TIMELINE_HOLDS(!e->value || e->name[0] || r->lost > 0, r, i);
			on = e->value;
			knows_on = true;
			break;
		case HAUL_TRACE_READY:
			TIMELINE_HOLDS(
				e->sub >= HAUL_TRACE_WOKEN && e->sub <= HAUL_TRACE_CANCELLED, r, i);
			break;
		case HAUL_TRACE_SLEEP:
			TIMELINE_HOLDS(!asleep, r, i);
			asleep = true;
			break;
		case HAUL_TRACE_AWAKE:
			asleep = false;
			break;
		case HAUL_TRACE_POLL:
		case HAUL_TRACE_FD:
			TIMELINE_HOLDS(e->value <= e->ticks, r, i);
			break;
		case HAUL_TRACE_COUNT:
			TIMELINE_HOLDS(
				i + 1 == r->n || r->events[i + 1].kind == HAUL_TRACE_VALUE, r, i);
			break;
		}
	}
}

/* What the rings say about a coroutine, in the order of times. */
struct timeline_step {
	uint64_t co, ticks;
	unsigned what, how, ring;
	uint64_t at; /* in the ring */
};

enum { TIMELINE_STOPS, TIMELINE_WOKEN, TIMELINE_RUNS };

static inline int timeline_compare(const void *a, const void *b)
{
	const struct timeline_step *x = a, *y = b;

	if (x->co != y->co)
		return x->co < y->co ? -1 : 1;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->ring == y->ring)
		return x->at < y->at ? -1 : x->at > y->at ? 1 : (int)x->what - (int)y->what;
	return (int)x->what - (int)y->what;
}

/* Adds those of a ring, up to a time; returns their number. steps: room for two for each event. */
static inline uint64_t timeline_steps(
	const struct timeline_file *f, unsigned ring, uint64_t until, struct timeline_step *steps)
{
	const struct timeline_ring *r = &f->rings[ring];
	uint64_t n = 0, on = 0;

	for (uint64_t i = 0; i < r->n; i++) {
		const struct timeline_event *e = &r->events[i];
		struct timeline_step step = {.ticks = e->ticks, .ring = ring, .at = i};

		if (e->ticks > until || (e->kind != HAUL_TRACE_READY && e->kind != HAUL_TRACE_RUN))
			continue;
		step.co = e->value;
		step.what = e->kind == HAUL_TRACE_READY ? TIMELINE_WOKEN : TIMELINE_RUNS;
		if (e->kind == HAUL_TRACE_RUN && on) {
			steps[n] = step;
			steps[n].co = on;
			steps[n].how = e->sub;
			steps[n++].what = TIMELINE_STOPS;
		}
		if (e->value)
			steps[n++] = step;
		if (e->kind == HAUL_TRACE_RUN)
			on = e->value;
	}
	return n;
}

static inline bool timeline_is_wait(unsigned how)
{
	return how >= HAUL_TRACE_PARKED && how <= HAUL_TRACE_ORDERED;
}

static inline void timeline_check_steps(const struct timeline_file *f,
	const struct timeline_step *steps, uint64_t n, struct timeline_sums *sums)
{
	bool runs = false, waits = false;
	unsigned ring = 0;

	for (uint64_t i = 0; i < n; i++) {
		const struct timeline_step *step = &steps[i];
		const struct timeline_ring *r = &f->rings[step->ring];

		if (i == 0 || step->co != steps[i - 1].co)
			runs = waits = false;
		switch (step->what) {
		case TIMELINE_STOPS:
			TIMELINE_HOLDS(runs && ring == step->ring, r, step->at);
			runs = false;
			waits = timeline_is_wait(step->how);
			break;
		case TIMELINE_WOKEN:
			sums->waits += waits;
			waits = false;
			break;
		default:
			TIMELINE_HOLDS(!runs && !waits, r, step->at);
			sums->runs++;
			runs = true;
			ring = step->ring;
			break;
		}
	}
}

/* Of a runtime whose first ring has this number. Returns the number of its rings. */
static inline unsigned timeline_check_runtime(
	const struct timeline_file *f, unsigned first, struct timeline_sums *sums)
{
	struct timeline_step *steps;
	uint64_t n = 0, lost = 0;
	unsigned nb = 0;

	while (first + nb < f->nb &&
		f->rings[first + nb].head.runtime == f->rings[first].head.runtime) {
		lost += f->rings[first + nb].lost;
		n += f->rings[first + nb].n;
		nb++;
	}
	if (lost > 0)
		return nb;
	steps = calloc(2 * n + 1, sizeof(*steps));
	n = 0;
	for (unsigned i = 0; i < nb; i++)
		n += timeline_steps(f, first + i, f->head.ticks, steps + n);
	qsort(steps, n, sizeof(*steps), timeline_compare);
	timeline_check_steps(f, steps, n, sums);
	free(steps);
	return nb;
}

static inline void timeline_check(const struct timeline_file *f, struct timeline_sums *sums)
{
	for (unsigned i = 0; i < f->nb; i++) {
		timeline_check_ring(&f->rings[i]);
		sums->events += f->rings[i].n;
	}
	for (unsigned i = 0; i < f->nb;)
		i += timeline_check_runtime(f, i, sums);
	sums->files++;
}

#endif
