/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computing ends at a TSC deadline. A deadline is met late by a part of a turn of the loop; the
 * next one is earlier by as much, so that the mean stays what was asked for.
 */
#include "work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#define LINE 64
#define LATE_MAX_US 2 /* later than that: the thread had lost its CPU */
#define LONG 5000 /* times LATE_MAX_US: 10 ms */
#define LINES_MOST 65536u /* that are accessed between two checks whether the program ends */

const char *fwd_work_plan(
	struct fwd_work_plan *plan, const char *service, uint64_t memory, uint64_t table_mb)
{
	*plan = (struct fwd_work_plan){
		.computes = service != NULL,
		.lines = (memory + LINE - 1) / LINE,
		.table_lines = (table_mb << 20) / LINE,
	};
	return service ? fwd_service_parse(&plan->dist, service) : NULL;
}

void fwd_work_set_clock(struct fwd_work_plan *plan, uint64_t tsc_hz)
{
	plan->ticks_per_ns = (double)tsc_hz / 1e9;
	plan->late_max = tsc_hz / 1000000 * LATE_MAX_US;
}

bool fwd_work_init(struct fwd_work *w, const struct fwd_work_plan *plan, uint64_t seed)
{
	size_t size = plan->table_lines * LINE;

	*w = (struct fwd_work){0};
	arrivals_random_init(&w->random, seed);
	if (plan->lines == 0)
		return true;
	w->table = aligned_alloc(LINE, size);
	if (w->table)
		memset(w->table, 1, size); /* so that each page is a page of its own */
	return w->table;
}

void fwd_work_fini(struct fwd_work *w)
{
	free(w->table);
	w->table = NULL;
}

static double draw(struct fwd_work *w, const struct fwd_work_plan *plan)
{
	return fwd_service_draw(&plan->dist, arrivals_random_next(&w->random));
}

uint64_t fwd_work_draw_ns(struct fwd_work *w, const struct fwd_work_plan *plan)
{
	return (uint64_t)draw(w, plan);
}

/* Ends when the TSC has reached start + ticks, less what the last one was late. */
static void compute(
	struct fwd_work *w, const struct fwd_work_plan *plan, uint64_t start, uint64_t ticks)
{
	uint64_t deadline = start + ticks - (w->late < ticks ? w->late : ticks);
	uint64_t now;

	do
		now = rte_rdtsc();
	while ((int64_t)(now - deadline) < 0 &&
		!(hauli_u8_owned_get(&plan->ends) && deadline - now > LONG * plan->late_max));
	w->late = now - deadline;
	if (w->late > plan->late_max) /* or negative: the work was left undone */
		w->late = 0;
}

void fwd_work_touch(struct fwd_work *w, const struct fwd_work_plan *plan)
{
	for (uint64_t i = 0; i < plan->lines; i++) {
		uint64_t line = arrivals_random_next(&w->random) % plan->table_lines;
		uint64_t *at = (void *)(w->table + LINE * line);

		++*at;
		if (i % LINES_MOST == LINES_MOST - 1 && hauli_u8_owned_get(&plan->ends))
			return;
	}
}

void fwd_work_do(struct fwd_work *w, const struct fwd_work_plan *plan, unsigned n)
{
	uint64_t start = rte_rdtsc(), ticks = 0;

	for (unsigned i = 0; i < n; i++) {
		fwd_work_touch(w, plan);
		if (plan->computes)
			ticks += (uint64_t)llrint(draw(w, plan) * plan->ticks_per_ns);
	}
	if (plan->computes)
		compute(w, plan, start, ticks);
}
