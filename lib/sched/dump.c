/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists for people: coroutines that have not ended, and carriers that a stop waits for. The
 * carriers run on meanwhile, so a list is no snapshot.
 */
#include "sched/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/race.h"
#include "sched/carrier.h"
#include "sched/marks.h"
#include "sched/runtime.h"

struct dump {
	FILE *out;
	/* by carrier: coroutines of this home that have a struct haul_coro; or NULL */
	uint64_t *begun;
	uint64_t unjoined;
	const char *unjoined_name; /* the name of one of them */
	uint64_t lines; /* that may still be printed */
	uint64_t left_out; /* coroutines */
};

static const char *const state_names[] = {
	[HAULI_CORO_READY] = "ready",
	[HAULI_CORO_PARKED] = "parked",
	[HAULI_CORO_PARKED_UNTIL] = "parked with a deadline",
	[HAULI_CORO_SLEEPING] = "sleeping",
	[HAULI_CORO_JOINING] = "joining",
	[HAULI_CORO_JOINING_UNTIL] = "joining with a deadline",
	[HAULI_CORO_BLOCKED] = "waiting for another coroutine",
	[HAULI_CORO_ORDER_WAIT] = "waiting for its order",
	[HAULI_CORO_HOMELESS] = "waiting for a carrier",
};

/* The values are only printed. */
HAULI_MAY_RACE static const struct haul_coro *running_on(const struct haul_carrier *c)
{
	HAULI_RACES(c);
	return c->current;
}

static void print_one(
	struct dump *d, const struct haul_carrier *c, const struct haul_coro *co, const char *how)
{
	if (d->lines == 0) {
		d->left_out++;
		return;
	}
	d->lines--;
	fprintf(d->out, "  carrier %u: %s %p, %s\n", c->id, co->co.name, (const void *)co, how);
}

/* The same. */
HAULI_MAY_RACE static void dump_one(void *object, void *arg)
{
	const struct haul_coro *co = object;
	const struct haul_carrier *c = hauli_coro_home(co);
	enum hauli_coro_state state = hauli_coro_state(co);
	const char *how = state_names[state < HAULI_CORO_ENDED ? state : HAULI_CORO_READY];
	struct dump *d = arg;

	if (c && d->begun && state < HAULI_CORO_ENDED)
		d->begun[c->id]++;
	if (c && hauli_coro_is_unjoined(co)) {
		d->unjoined++;
		d->unjoined_name = co->co.name;
	} else if (c && state < HAULI_CORO_ENDED) {
		if (hauli_coro_is_stolen(co))
			how = "stolen";
		else if (running_on(c) == co)
			how = "running";
		print_one(d, c, co, how);
	} else if (state == HAULI_CORO_HOMELESS) {
		fprintf(d->out, "  no carrier: %s %p, %s\n", co->co.name, (const void *)co, how);
	}
}

/* Counts those that are still records of a spawner (entry.h). */
static void dump_not_begun(const struct haul_runtime *rt, const struct dump *d)
{
	for (unsigned i = 0; d->begun && i < rt->nb_carriers; i++) {
		int64_t n = (int64_t)(hauli_live(&rt->carriers[i]) - d->begun[i]);

		if (n > 0)
			fprintf(d->out, "  carrier %u: %" PRId64 " more, ready, not begun\n", i, n);
	}
}

void haul_dump(struct haul_runtime *rt, FILE *out)
{
	struct dump d = {.out = out, .lines = UINT64_MAX};

	HAUL_MISUSE_IF(!rt || !out, "the runtime or the file is NULL");
	d.begun = calloc(rt->nb_carriers, sizeof(d.begun[0]));
	hauli_slab_for_each(rt->coros, dump_one, &d);
	dump_not_begun(rt, &d);
	free(d.begun);
	hauli_marks_print(rt->marks, rt->coros, out);
	if (d.unjoined > 0)
		fprintf(out, "  %" PRIu64 " ended and not joined, as %s\n", d.unjoined,
			d.unjoined_name);
}

void hauli_dump_some(const struct haul_runtime *rt, FILE *out, uint64_t most)
{
	struct dump d = {.out = out, .lines = most};

	hauli_slab_for_each(rt->coros, dump_one, &d);
	if (d.left_out > 0)
		fprintf(out, "  %" PRIu64 " more\n", d.left_out);
}

void hauli_tell_silent(const struct haul_carrier *c, char *buf, size_t len)
{
	const struct haul_coro *co = running_on(c);

	if (co)
		snprintf(buf, len, "carrier %u does not answer: %s %p does not suspend", c->id,
			co->co.name, (const void *)co);
	else
		snprintf(buf, len, "carrier %u does not answer: no coroutine runs there", c->id);
}

void hauli_dump_unfinished(const struct haul_runtime *rt, FILE *out)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		const struct haul_carrier *c = &rt->carriers[i];
		uint8_t step = hauli_u8_owned_get(&c->stop_step);
		char line[160] = "";

		if (step == HAULI_STOP_UNHANDLED)
			hauli_tell_silent(c, line, sizeof(line));
		else if (step == HAULI_STOP_HANDLED && hauli_live(c) == 0)
			snprintf(line, sizeof(line),
				"carrier %u has no coroutine left, but has not reported that yet",
				c->id);
		if (line[0])
			fprintf(out, "  %s\n", line);
	}
}
