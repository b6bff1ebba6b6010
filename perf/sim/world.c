/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual time: the carrier with the earliest event runs next. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim.h"

#define TOO_LONG 100 /* limit, in multiples of the arrival time, for tasks that never end */

static bool before(const struct sim_carrier *a, const struct sim_carrier *b)
{
	return a->next_at < b->next_at || (a->next_at == b->next_at && a->id < b->id);
}

static void put(struct sim_world *w, unsigned at, struct sim_carrier *c)
{
	w->heap[at] = c;
	c->in_heap = at;
}

static unsigned earlier_child(const struct sim_world *w, unsigned at)
{
	unsigned left = 2 * at + 1;

	return left + 1 < w->nb_heap && before(w->heap[left + 1], w->heap[left]) ? left + 1 : left;
}

void sim_schedule(struct sim_carrier *c, uint64_t at)
{
	struct sim_world *w = c->w;
	unsigned i = c->in_heap, child;

	c->next_at = at;
	for (; i > 0 && before(c, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		put(w, i, w->heap[(i - 1) / 2]);
	for (; (child = earlier_child(w, i)) < w->nb_heap && before(w->heap[child], c); i = child)
		put(w, i, w->heap[child]);
	put(w, i, c);
}

struct sim_task *sim_task_new(struct sim_world *w, unsigned home, uint64_t service)
{
	struct sim_task *t = w->free;

	if (t)
		w->free = t->next;
	else
		t = malloc(sizeof(*t));
	if (!t) {
		fprintf(stderr, "no memory for another task\n");
		abort();
	}
	*t = (struct sim_task){.came = w->now,
		.service = service,
		.left = service,
		.home = home,
		.slices = (unsigned)w->o->slices,
		.is_short = w->o->service == SIM_BIMODAL && service == w->o->mean};
	w->counts.came++;
	w->counts.offered += service * t->slices;
	return t;
}

void sim_task_end(struct sim_world *w, struct sim_task *t, uint64_t at)
{
	bool warm =
		w->o->arrive == SIM_SOURCE || t->came >= w->o->us * 100; /* not the first tenth */

	w->counts.ended++;
	w->counts.twice += t->ended;
	t->ended = true;
	if (!t->source && warm)
		sim_times_add(&w->times, at - t->came);
	if (t->is_short && warm)
		sim_times_add(&w->short_times, at - t->came);
	t->next = w->free;
	w->free = t;
}

static void arrive(struct sim_world *w)
{
	unsigned home = sim_load_carrier(&w->load);

	w->now = w->load.next_at;
	for (unsigned i = 0; i < w->o->burst; i++) {
		w->outside.cost = 0;
		sim_carrier_arrive(
			&w->carriers[home], sim_task_new(w, home, sim_load_service(&w->load)));
	}
	sim_load_next(&w->load);
}

static void start_sources(struct sim_world *w)
{
	for (unsigned i = 0; i < w->o->carriers; i++) {
		double share = w->load.upto[i] - (i ? w->load.upto[i - 1] : 0);
		struct sim_task *t = sim_task_new(w, i, 0);

		t->source = true;
		t->slices = (unsigned)((double)w->o->tasks * share + 0.5);
		sim_carrier_push(&w->carriers[i], t);
	}
}

int sim_run(struct sim_world *w)
{
	struct sim_counts *n = &w->counts;

	/* All carriers have the same time, and rescuers a later one, so the heap is in order. */
	for (unsigned i = 0; i < w->o->carriers; i++)
		put(w, w->nb_heap++, &w->carriers[i]);
	for (unsigned i = 0; i < w->o->rescuers; i++)
		put(w, w->nb_heap++, &w->rescuers[i]);
	if (w->o->arrive == SIM_SOURCE)
		start_sources(w);
	while (w->load.next_at != SIM_NEVER || n->ended < n->came) {
		struct sim_carrier *first = w->heap[0];

		if (w->now / 1000 > w->o->us * TOO_LONG) {
			fprintf(stderr, "sim: after %d times the time given, tasks still wait\n",
				TOO_LONG);
			return -1;
		}

		if (w->load.next_at <= first->next_at) {
			if (w->load.next_at == SIM_NEVER) {
				fprintf(stderr,
					"sim: %" PRIu64 " of %" PRIu64
					" tasks wait, and everybody sleeps\n",
					n->came - n->ended, n->came);
				return -1;
			}
			arrive(w);
			continue;
		}
		w->now = first->next_at;
		sim_carrier_step(first);
	}
	if (n->twice > 0 || n->worked != n->offered) {
		fprintf(stderr,
			"sim: %" PRIu64 " tasks ended twice; %" PRIu64
			" ns of work were asked for and %" PRIu64 " were done\n",
			n->twice, n->offered, n->worked);
		return -1;
	}
	return 0;
}
