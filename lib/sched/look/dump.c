/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists for people: coroutines that have not ended, and carriers that a stop waits for. The
 * carriers run on between their snapshots, so a list is not that of one instant.
 *
 * Of coroutines that are alike (alike.h) the first few are shown, so that thousands of handlers at
 * one call do not hide the others, and at the end a line says how many more there are. But if a
 * coroutine that is shown waits for a mutex, its holder is shown, too.
 */
#include "sched/look/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/delay.h"
#include "base/race.h"
#include "coro/frozen.h"
#include "coro/trace.h"
#include "sched/look/alike.h"
#include "sched/look/snapshot.h"
#include "sched/state/carrier.h"
#include "sched/state/marks.h"
#include "sched/state/runtime.h"
#include "sched/wait/block.h"

/* Coroutines of one home, as they were when they were listed. */
struct list {
	const struct haul_coro **cos;
	size_t n, room;
	/* the first ones of cos are used again: this many coroutines that were left out as alike */
	size_t alike;
};

#define PAGE 32 /* shots at a time: each time the carrier stands still for some 50 us */
#define SOME_PAGES 512 /* of hauli_dump_some(): 16,384 coroutines are looked at */
#define MOST_HOLDERS 64
#define BETWEEN_LOOKS_NS (100 * HAUL_MS)

/* What a dump needs in addition to the lists. All zero at the beginning. */
struct work {
	struct hauli_shot shots[PAGE];
	struct hauli_alikes alikes;
	const struct haul_coro *holders[MOST_HOLDERS]; /* of mutexes that those shown wait for */
	unsigned nb_holders;
};

struct dump {
	const struct haul_runtime *rt;
	FILE *out;
	struct list *lists; /* by carrier */
	struct work *work; /* NULL: all are printed, also those that are alike */
	bool holders; /* the second pass: prints holders of mutexes that were left out */
	uint64_t pages; /* snapshots that may still be taken */
	uint64_t lines; /* coroutines that may still be printed */
	uint64_t left_out; /* coroutines left out because of these limits */
	uint64_t homeless;
	uint64_t unjoined;
	const char *unjoined_name; /* the name of one of them */
};

static const char *const state_names[] = {
	[HAULI_CORO_READY] = "ready",
	[HAULI_CORO_PARKED] = "parked",
	[HAULI_CORO_SLEEPING] = "sleeping",
	[HAULI_CORO_JOINING] = "waiting",
	[HAULI_CORO_BLOCKED] = "waiting",
	[HAULI_CORO_ORDER_WAIT] = "waiting for its order",
	[HAULI_CORO_HOMELESS] = "waiting for a carrier",
};

static const char *name_of(enum hauli_coro_state state)
{
	return state_names[hauli_state_lives(state) ? state : HAULI_CORO_READY];
}

/* A guess, as the carrier may run on: the values are only printed. */
HAULI_MAY_RACE static const struct haul_coro *running_on(const struct haul_carrier *c)
{
	HAULI_RACES(c);
	return c->current;
}

/* The same for the name of a coroutine. */
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

/* Adds a coroutine to the list of its home, or counts it. The same: its state may be outdated. */
HAULI_MAY_RACE static void list_one(void *object, void *arg)
{
	const struct haul_coro *co = object;
	const struct haul_carrier *c = hauli_coro_home(co);
	enum hauli_coro_state state = hauli_coro_state(co);
	struct dump *d = arg;

	if (c && hauli_coro_is_unjoined(co)) {
		d->unjoined++;
		d->unjoined_name = co->co.name;
	} else if (c && hauli_state_lives(state)) {
		add_to(&d->lists[c->id], co);
	} else if (state == HAULI_CORO_HOMELESS && d->homeless++ < HAULI_ALIKE_SHOWN) {
		fprintf(d->out, "  no carrier: %s %p, %s\n", co->co.name, (const void *)co,
			name_of(state));
	}
}

static bool may_print(struct dump *d)
{
	if (d->lines == 0) {
		d->left_out++;
		return false;
	}
	d->lines--;
	return true;
}

/* True if it is known how long the coroutine has waited. With virtual time the start is not
 * known. */
static bool has_age(const struct dump *d, const struct hauli_shot *s)
{
	return s->since && !d->rt->virtual_time;
}

/* Prints how long the coroutine has waited, and how long it will wait at most. */
static void print_times(const struct dump *d, const struct hauli_shot *s)
{
	uint64_t now = hauli_timer_ticks();

	if (has_age(d, s))
		fprintf(d->out, ", for %.3f s", (double)hauli_since_ns(s->since, now) / 1e9);
	if (s->until != HAULI_NEVER)
		fprintf(d->out, ", for at most %.3f s more",
			s->until > now ? (double)hauli_ns_from_ticks(s->until - now) / 1e9 : 0.0);
}

/* Of a holder of another runtime the name is not read, as it may have ended. A holder of this
 * runtime that has ended since the snapshot is printed only if the mutex still has it as its
 * holder: it has not unlocked it. */
HAULI_MAY_RACE static void print_holder(const struct dump *d, const struct hauli_shot *s)
{
	const struct haul_coro *co = s->holder;

	if (!hauli_slab_has(d->rt->coros, co))
		fprintf(d->out, ", held by %p", (const void *)co);
	else if (hauli_coro_home(co) && hauli_state_lives(hauli_coro_state(co)))
		fprintf(d->out, ", held by %s %p", co->co.name, (const void *)co);
	else if (hauli_snapshot_holder(s->object) == co)
		fprintf(d->out, ", held by %p, which has ended", (const void *)co);
}

static bool waits(const struct hauli_shot *s)
{
	return !s->runs && !s->stolen && s->state != HAULI_CORO_READY;
}

static bool is_known_holder(const struct work *w, const void *co)
{
	unsigned i;

	for (i = 0; i < w->nb_holders && w->holders[i] != co; i++)
		;
	return i < w->nb_holders;
}

/* True if enough like it are shown; it is counted as left out then. */
static bool is_left_out(struct dump *d, const struct haul_carrier *c, const struct hauli_shot *s)
{
	struct hauli_alike *a = d->work ? hauli_alike_find(&d->work->alikes, c, s) : NULL;
	struct list *list = d->work ? &d->lists[c->id] : NULL;
	uint64_t age = has_age(d, s) ? hauli_since_ns(s->since, hauli_timer_ticks()) : 0;

	if (!a)
		return false;
	if (d->holders && a->left_out > 0)
		a->left_out--;
	if (d->holders || a->shown < HAULI_ALIKE_SHOWN || is_known_holder(d->work, s->co)) {
		a->shown++;
		return false;
	}
	list->cos[list->alike++] = s->co;
	a->left_out++;
	if (age > a->longest_ns)
		a->longest_ns = age;
	return true;
}

static const char *how_is(const struct hauli_shot *s)
{
	if (s->stolen)
		return "stolen";
	return s->runs ? "running" : name_of(s->state);
}

/* The object of a wait: in place of an address it may be a descriptor's number. */
static void print_object(const struct dump *d, const void *object)
{
	if ((uintptr_t)object < HAULI_BLOCK_NUMBERS)
		fprintf(d->out, " %u", (unsigned)(uintptr_t)object);
	else
		fprintf(d->out, " %p", object);
}

/* A mutex that was just handed to the waiter has the waiter as its holder. */
static void print_wait(struct dump *d, const struct hauli_shot *s)
{
	struct work *w = d->work;

	if (s->what) {
		fprintf(d->out, " for %s", s->what);
		print_object(d, s->object);
	}
	if (s->holder && s->holder != s->co) {
		print_holder(d, s);
		if (w && w->nb_holders < MOST_HOLDERS && !is_known_holder(w, s->holder))
			w->holders[w->nb_holders++] = s->holder;
	}
	if (s->n > 0)
		print_times(d, s);
}

static void print_shot(struct dump *d, const struct haul_carrier *c, const struct hauli_shot *s)
{
	if ((d->lines > 0 && is_left_out(d, c, s)) || !may_print(d))
		return;
	fprintf(d->out, "  carrier %u: %s %p, %s", c->id, s->name, (const void *)s->co, how_is(s));
	if (waits(s))
		print_wait(d, s);
	if (waits(s) && s->hibernates)
		fputs(", hibernates", d->out);
	fputs(s->begun || s->stolen ? "\n" : ", not begun\n", d->out);
	hauli_trace_print(s->pcs, s->n, d->out);
}

/* For a carrier that does not answer: reads co from here, without its call stack. */
HAULI_MAY_RACE static void print_guess(
	struct dump *d, const struct haul_carrier *c, const struct haul_coro *co)
{
	const struct hauli_shot s = {
		.co = co,
		.begun = true, /* not known */
		.stolen = hauli_coro_is_stolen(co),
		.hibernates = hauli_frozen_of(&co->co) != NULL,
		.runs = running_on(c) == co,
		.state = hauli_coro_kind(co),
		.name = co->co.name,
		.until = HAULI_NEVER,
	};

	if (hauli_coro_home(co) == c)
		print_shot(d, c, &s);
}

/* shots: room for n. answers: false if the carrier has not answered before. Returns whether it
 * answers. */
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

/* The one that runs may be what keeps the others, and the list may be cut. */
static void put_running_first(struct list *list, const struct haul_carrier *c)
{
	const struct haul_coro *runs = running_on(c);

	for (size_t i = 0; i < list->n; i++) {
		if (list->cos[i] != runs)
			continue;
		memmove(&list->cos[1], &list->cos[0], i * sizeof(list->cos[0]));
		list->cos[0] = runs;
		return;
	}
}

static void print_carrier(struct dump *d, const struct haul_carrier *c)
{
	struct list *list = &d->lists[c->id];
	bool answers = true;
	size_t i;

	put_running_first(list, c);
	for (i = 0; i < list->n && d->lines > 0 && d->pages > 0; i += PAGE, d->pages--)
		answers = print_some(d, c, list->cos + i,
			(unsigned)(list->n - i < PAGE ? list->n - i : PAGE), d->work->shots,
			answers);
	d->left_out += i < list->n ? list->n - i : 0;
}

/* Prints co if it was left out, on carrier c. */
static void print_if_left_out(
	struct dump *d, const struct haul_carrier *c, const struct haul_coro *co)
{
	const struct list *list = &d->lists[c->id];

	for (size_t i = 0; i < list->alike; i++) {
		if (list->cos[i] != co)
			continue;
		print_some(d, c, &co, 1, d->work->shots, true);
		return;
	}
}

/* Each line printed may add holders to the list. */
static void print_holders(struct dump *d)
{
	d->holders = true;
	for (unsigned i = 0; i < d->work->nb_holders && d->lines > 0; i++)
		for (unsigned k = 0; k < d->rt->nb_carriers; k++)
			print_if_left_out(d, &d->rt->carriers[k], d->work->holders[i]);
}

static void print_alike(const struct dump *d, const struct hauli_alike *a)
{
	const struct hauli_shot *s = &a->first;

	fprintf(d->out, "  carrier %u: %" PRIu64 " more like %s %p, %s", a->home->id, a->left_out,
		a->name, (const void *)s->co, how_is(s));
	if (waits(s) && s->what)
		fprintf(d->out, " for %s",
			s->state == HAULI_CORO_BLOCKED ? s->what : "the end of another");
	if (s->n > 0)
		fputs(" at the same place", d->out);
	if (waits(s) && s->hibernates)
		fputs(", hibernating", d->out);
	if (waits(s) && has_age(d, s))
		fprintf(d->out, ", for up to %.3f s", (double)a->longest_ns / 1e9);
	fputs(s->begun || s->stolen ? "\n" : ", not begun\n", d->out);
}

static void print_all(struct dump *d)
{
	hauli_slab_for_each(d->rt->coros, list_one, d);
	for (unsigned i = 0; i < d->rt->nb_carriers; i++)
		print_carrier(d, &d->rt->carriers[i]);
	print_holders(d);
	for (unsigned i = 0; i < d->work->alikes.n; i++)
		if (d->work->alikes.of[i].left_out > 0)
			print_alike(d, &d->work->alikes.of[i]);
	if (d->homeless > HAULI_ALIKE_SHOWN)
		fprintf(d->out, "  no carrier: %" PRIu64 " more\n",
			d->homeless - HAULI_ALIKE_SHOWN);
}

/* Lists the coroutines first, so that a carrier is asked about many at a time. */
static void dump_coroutines(struct dump *d)
{
	d->work = calloc(1, sizeof(*d->work));
	d->lists = calloc(d->rt->nb_carriers, sizeof(d->lists[0]));
	if (d->lists && d->work)
		print_all(d);
	else
		fputs("  no memory for a list\n", d->out);
	for (unsigned i = 0; d->lists && i < d->rt->nb_carriers; i++)
		free(d->lists[i].cos);
	free(d->work);
}

/* Counts those that are still calls, or records of a spawner (entry.h). */
static void dump_not_begun(const struct dump *d)
{
	for (unsigned i = 0; d->lists && i < d->rt->nb_carriers; i++) {
		const struct haul_carrier *c = &d->rt->carriers[i];
		int64_t n = (int64_t)(hauli_live(c) - d->lists[i].n) - hauli_ended_at_once(c);

		if (n > 0)
			fprintf(d->out, "  carrier %u: %" PRId64 " more, ready, not begun\n", i, n);
	}
}

void haul_dump(struct haul_runtime *rt, FILE *out)
{
	struct dump d = {.rt = rt, .out = out, .pages = UINT64_MAX, .lines = UINT64_MAX};

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
	struct dump d = {.rt = rt, .out = out, .pages = SOME_PAGES, .lines = most};

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

/* What a thread has done between two looks, which the kernel may not tell. */
static const char *thread_does(
	const struct hauli_delay_look *first, const struct hauli_delay_look *then)
{
	if (!first->at || !then->at)
		return "is gone";
	if (then->ran != first->ran)
		return "runs";
	return then->ready ? "waits for a CPU" : "sleeps";
}

static struct hauli_delay_look look_at_thread(uint32_t tid)
{
	struct hauli_delay_look look;

	return hauli_delay_look(tid, &look) ? look : (struct hauli_delay_look){0};
}

void hauli_tell_silent(const struct haul_carrier *c, char *buf, size_t len)
{
	const struct timespec between = {.tv_nsec = BETWEEN_LOOKS_NS};
	uint32_t tid = hauli_u32_published_get(&c->run.tid);
	struct hauli_delay_look first = look_at_thread(tid), then;
	uint32_t popped = hauli_ring_popped(&c->runq.ring);
	const struct haul_coro *co = running_on(c);
	int n = snprintf(buf, len, "carrier %u does not answer", c->id);

	if (tid == 0) {
		snprintf(buf + n, len - (size_t)n, ": its thread has not begun");
		return;
	}
	nanosleep(&between, NULL);
	then = look_at_thread(tid);
	if (popped != hauli_ring_popped(&c->runq.ring))
		snprintf(buf + n, len - (size_t)n, ", but runs one coroutine after the other");
	else if (co)
		snprintf(buf + n, len - (size_t)n, ": %s %p does not suspend, and its thread %s",
			name_of_running(co), (const void *)co, thread_does(&first, &then));
	else
		snprintf(buf + n, len - (size_t)n, ": no coroutine runs there, and its thread %s",
			thread_does(&first, &then));
}

void hauli_dump_unfinished(const struct haul_runtime *rt, FILE *out)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		const struct haul_carrier *c = &rt->carriers[i];
		uint8_t step = hauli_u8_owned_get(&c->stop.step);
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
