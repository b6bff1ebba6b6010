/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists for people: coroutines that have not ended, and carriers that a stop waits for. The
 * carriers run on between their snapshots, so a list is not that of one instant.
 */
#include "sched/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/race.h"
#include "coro/trace.h"
#include "sched/carrier.h"
#include "sched/marks.h"
#include "sched/runtime.h"
#include "sched/snapshot.h"

/* Coroutines of one home, as they were when they were listed. */
struct list {
	const struct haul_coro **cos;
	size_t n, room;
};

struct dump {
	const struct haul_runtime *rt;
	FILE *out;
	struct list *lists; /* by carrier */
	uint64_t lines; /* coroutines that may still be printed */
	uint64_t left_out;
	uint64_t unjoined;
	const char *unjoined_name; /* the name of one of them */
};

static const char *const state_names[] = {
	[HAULI_CORO_READY] = "ready",
	[HAULI_CORO_PARKED] = "parked",
	[HAULI_CORO_PARKED_UNTIL] = "parked",
	[HAULI_CORO_SLEEPING] = "sleeping",
	[HAULI_CORO_JOINING] = "waiting",
	[HAULI_CORO_JOINING_UNTIL] = "waiting",
	[HAULI_CORO_BLOCKED] = "waiting",
	[HAULI_CORO_ORDER_WAIT] = "waiting for its order",
	[HAULI_CORO_HOMELESS] = "waiting for a carrier",
};

static const char *name_of(enum hauli_coro_state state)
{
	return state_names[state < HAULI_CORO_ENDED ? state : HAULI_CORO_READY];
}

/* The values are only printed. */
HAULI_MAY_RACE static const struct haul_coro *running_on(const struct haul_carrier *c)
{
	HAULI_RACES(c);
	return c->current;
}

/* The same. */
HAULI_MAY_RACE static const char *name_of_running(const struct haul_coro *co)
{
	HAULI_RACES(co);
	return co->co.name;
}

static void add_to(struct list *list, const struct haul_coro *co)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		const struct haul_coro **cos = realloc(list->cos, room * sizeof(cos[0]));

		if (!cos)
			return;
		list->cos = cos;
		list->room = room;
	}
	list->cos[list->n++] = co;
}

/* The same. */
HAULI_MAY_RACE static void list_one(void *object, void *arg)
{
	const struct haul_coro *co = object;
	const struct haul_carrier *c = hauli_coro_home(co);
	enum hauli_coro_state state = hauli_coro_state(co);
	struct dump *d = arg;

	if (c && hauli_coro_is_unjoined(co)) {
		d->unjoined++;
		d->unjoined_name = co->co.name;
	} else if (c && state < HAULI_CORO_ENDED) {
		add_to(&d->lists[c->id], co);
	} else if (state == HAULI_CORO_HOMELESS) {
		fprintf(d->out, "  no carrier: %s %p, %s\n", co->co.name, (const void *)co,
			name_of(state));
	}
}

static bool may_print(struct dump *d)
{
	if (d->lines == 0)
		d->left_out++;
	else
		d->lines--;
	return d->lines > 0 || d->left_out == 0;
}

/* How long it has waited, and will at most. With virtual time the begin is not known. */
static void print_times(const struct dump *d, const struct hauli_shot *s)
{
	uint64_t now = hauli_timer_ticks();

	if (s->since && !d->rt->virtual_time)
		fprintf(d->out, ", for %.3f s", (double)hauli_since_ns(s->since, now) / 1e9);
	if (s->until != HAULI_NEVER)
		fprintf(d->out, ", for at most %.3f s more",
			s->until > now ? (double)hauli_ns_from_ticks(s->until - now) / 1e9 : 0.0);
}

/* A holder of another runtime has a name there, but may have ended. One that has ended since the
 * snapshot has unlocked the mutex, if another holds it now. */
HAULI_MAY_RACE static void print_holder(const struct dump *d, const struct hauli_shot *s)
{
	const struct haul_coro *co = s->holder;

	if (!hauli_slab_has(d->rt->coros, co))
		fprintf(d->out, ", held by %p", (const void *)co);
	else if (hauli_coro_home(co) && hauli_coro_state(co) < HAULI_CORO_ENDED)
		fprintf(d->out, ", held by %s %p", co->co.name, (const void *)co);
	else if (hauli_snapshot_holder(s->object) == co)
		fprintf(d->out, ", held by %p, which has ended", (const void *)co);
}

static void print_shot(struct dump *d, const struct haul_carrier *c, const struct hauli_shot *s)
{
	bool waits = !s->runs && !s->stolen && s->state != HAULI_CORO_READY;

	if (!may_print(d))
		return;
	fprintf(d->out, "  carrier %u: %s %p, %s", c->id, s->name, (const void *)s->co,
		s->stolen         ? "stolen"
			: s->runs ? "running"
				  : name_of(s->state));
	if (waits && s->what)
		fprintf(d->out, " for %s %p", s->what, s->object);
	if (waits && s->holder && s->holder != s->co) /* it was handed the mutex */
		print_holder(d, s);
	if (waits && s->n > 0)
		print_times(d, s);
	fputs(s->begun || s->stolen ? "\n" : ", not begun\n", d->out);
	hauli_trace_print(s->pcs, s->n, d->out);
}

/* Of a carrier that does not answer: without call stacks. */
HAULI_MAY_RACE static void print_guess(
	struct dump *d, const struct haul_carrier *c, const struct haul_coro *co)
{
	const char *how = name_of(hauli_coro_state(co));

	if (hauli_coro_home(co) != c || !may_print(d))
		return;
	if (hauli_coro_is_stolen(co))
		how = "stolen";
	else if (running_on(c) == co)
		how = "running";
	fprintf(d->out, "  carrier %u: %s %p, %s\n", c->id, co->co.name, (const void *)co, how);
}

#define PAGE 32 /* shots at a time: the carrier stands still for some 50 us */

/* answers: false once the carrier has not answered. Returns if it does. */
static bool print_some(struct dump *d, const struct haul_carrier *c,
	const struct haul_coro *const *cos, unsigned n, struct hauli_shot *shots, bool answers)
{
	memset(shots, 0, n * sizeof(shots[0]));
	for (unsigned i = 0; i < n; i++)
		shots[i].co = cos[i];
	answers = answers && hauli_snapshot(c, shots, n);
	for (unsigned i = 0; i < n; i++) {
		if (!answers)
			print_guess(d, c, cos[i]);
		else if (shots[i].taken)
			print_shot(d, c, &shots[i]);
	}
	return answers;
}

static void print_carrier(struct dump *d, const struct haul_carrier *c, struct hauli_shot *shots)
{
	const struct list *list = &d->lists[c->id];
	bool answers = true;
	size_t i;

	for (i = 0; i < list->n && d->lines > 0; i += PAGE)
		answers = print_some(d, c, list->cos + i,
			(unsigned)(list->n - i < PAGE ? list->n - i : PAGE), shots, answers);
	d->left_out += i < list->n ? list->n - i : 0;
	free(list->cos);
}

/* Lists first, so that a carrier is asked for many at once. */
static void dump_coroutines(struct dump *d)
{
	struct hauli_shot *shots = malloc(PAGE * sizeof(shots[0]));

	d->lists = calloc(d->rt->nb_carriers, sizeof(d->lists[0]));
	if (d->lists && shots) {
		hauli_slab_for_each(d->rt->coros, list_one, d);
		for (unsigned i = 0; i < d->rt->nb_carriers; i++)
			print_carrier(d, &d->rt->carriers[i], shots);
	}
	free(shots);
	if (!d->lists || !shots)
		fputs("  no memory for a list\n", d->out);
}

/* Counts those that are still records of a spawner (entry.h). */
static void dump_not_begun(const struct dump *d)
{
	for (unsigned i = 0; d->lists && i < d->rt->nb_carriers; i++) {
		int64_t n = (int64_t)(hauli_live(&d->rt->carriers[i]) - d->lists[i].n);

		if (n > 0)
			fprintf(d->out, "  carrier %u: %" PRId64 " more, ready, not begun\n", i, n);
	}
}

void haul_dump(struct haul_runtime *rt, FILE *out)
{
	struct dump d = {.rt = rt, .out = out, .lines = UINT64_MAX};

	HAUL_MISUSE_IF(!rt || !out, "the runtime or the file is NULL");
	dump_coroutines(&d);
	dump_not_begun(&d);
	free(d.lists);
	hauli_marks_print(rt->marks, rt->coros, out);
	if (d.unjoined > 0)
		fprintf(out, "  %" PRIu64 " ended and not joined, as %s\n", d.unjoined,
			d.unjoined_name);
}

void hauli_dump_some(const struct haul_runtime *rt, FILE *out, uint64_t most)
{
	struct dump d = {.rt = rt, .out = out, .lines = most};

	dump_coroutines(&d);
	dump_not_begun(&d);
	free(d.lists);
	if (d.left_out > 0)
		fprintf(out, "  %" PRIu64 " more\n", d.left_out);
}

void hauli_dump_these(
	const struct haul_runtime *rt, FILE *out, const struct haul_coro *const *cos, unsigned n)
{
	struct dump d = {.rt = rt, .out = out, .lines = UINT64_MAX};
	struct hauli_shot shot;

	for (unsigned i = 0; i < n; i++) {
		const struct haul_carrier *home = hauli_coro_home(cos[i]);

		if (home)
			print_some(&d, home, &cos[i], 1, &shot, true);
	}
}

void hauli_tell_silent(const struct haul_carrier *c, char *buf, size_t len)
{
	const struct haul_coro *co = running_on(c);

	if (co)
		snprintf(buf, len, "carrier %u does not answer: %s %p does not suspend", c->id,
			name_of_running(co), (const void *)co);
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
