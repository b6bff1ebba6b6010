/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MEMORY_WEAK: messages and views, an operational form of C11's atomics.
 *
 * From J. Kang, C.-K. Hur, O. Lahav, V. Vafeiadis, D. Dreyer, "A promising semantics for
 * relaxed-memory concurrency", POPL 2017, without promises; the effect of the kernel's barriers is
 * from D. Goldblatt, "Asymmetric fences", WG21 P1202.
 *
 *	location  an atomic word: its messages, in modification order
 *	message   a stored value, and the released part of its writer's view
 *	view      for each location, the oldest message that may still be read
 *
 *	load      reads any message not older than the thread's view, which moves up to it. Acquire:
 *	          takes in the message's view; relaxed: keeps it for the next acquire fence
 *	store     puts a message anywhere above the thread's view, but not between an RMW and the
 *	          message that it has read. Release: with the thread's view; relaxed: with the view
 *	          of its last release fence
 *	RMW, CAS  reads, as a load does, a message that no other RMW has read; its own message
 *	          follows it immediately, and has its view too (release sequence). A CAS that fails
 *	          is a load
 *	fence     acquire, release: above. seq_cst: both; all such fences share one more view: the
 *	          fence takes it in and adds its own
 *	heavy     the caller passes a seq_cst fence; so does each other thread, between two of its
 *	          steps. Only steps before the thread's last light fence are before this one, and
 *	          only steps after its next light fence are after it: in between the compiler may
 *	          reorder accesses
 *	futex     the kernel's calls pass a seq_cst fence. The wait compares by a relaxed load
 *	seq_cst   load, store, RMW: acquire, release, with a seq_cst fence before and after. That is
 *	          stronger than in C11; lib has none, in models they stand for devices or the kernel
 *
 * Messages carry happens-before, by which plain accesses are checked for races, in the same way as
 * views. A release sequence has read-modify-writes only, as in C++20: a relaxed
 * store of the same thread ends it.
 *
 * Left out: load buffering, a store that passes an earlier load of its thread (promises: C11 and
 * aarch64 allow it where no order forbids it); a weak CAS that fails spuriously; words that are
 * accessed in parts. And everything that all searches leave out (explorer.h).
 *
 * The number of states depends on two rules:
 *	- A store that can go to one place only is done at once: other threads need not read it, and
 *	  may put theirs above or below it. The same holds for a load by the only thread that ever
 *	  stores there, and for a light fence that follows another step of its thread. Each run
 *	  collects the accessors of each location; a run with a new accessor restarts the search.
 *	- A message is removed when no thread that accesses the location can read it.
 * weak_axioms.py compares the outcomes with those of C11's axioms.
 */
#include "weak.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX OPTIONS_MAX

struct message {
	uint64_t value;
	struct view view;
	struct clock clock; /* happens-before, for acquirers */
	bool follows; /* written by a read-modify-write that has read the one before it */
};

static struct location {
	char *addr;
	unsigned size;
	/* In all runs: the threads that read or write it; the threads that write it; and whether it
	 * was freed, or written by a plain access. */
	uint8_t users, writers;
	bool plain;
	bool is_stale; /* a plain write came after the last message */
	unsigned nb;
	struct message messages[MESSAGES_MAX];
} locations[LOCATIONS_MAX];

static unsigned nb_locations;
static uint8_t location_at[MODEL_BYTES_MAX]; /* of each byte: its location's number + 1 */
static struct view fences; /* of all seq_cst fences so far */
static const struct model *model;
static struct thread *threads;
static bool is_otherwise;

static void raise_to(struct view *v, const struct location *l, unsigned i)
{
	uint8_t *at = &v->at[l - locations];

	if (*at < i)
		*at = (uint8_t)i;
}

static void take_in(struct view *to, const struct view *from)
{
	for (unsigned i = 0; i < LOCATIONS_MAX; i++)
		to->at[i] = from->at[i] > to->at[i] ? from->at[i] : to->at[i];
}

/* The views of a thread lie in memory in this order, without gaps. */
static struct view *views_of(struct thread *t)
{
	return &t->views.now;
}

#define NB_VIEWS (sizeof(struct views) / sizeof(struct view))

static void one_message(struct location *l)
{
	l->nb = 1;
	l->is_stale = false;
	l->messages[0] = (struct message){.value = peek(l->addr, l->size)};
}

void weak_init(const struct model *m)
{
	model = m;
	nb_locations = 0;
	memset(location_at, 0, sizeof(location_at));
}

void weak_begin(struct thread *t)
{
	threads = t;
	fences = (struct view){0};
	is_otherwise = false;
	for (unsigned i = 0; i < nb_locations; i++)
		one_message(&locations[i]);
}

bool weak_is_otherwise(void)
{
	return is_otherwise;
}

/* Calls fn for location i of every view. */
static void for_each_view(unsigned i, void (*fn)(uint8_t *at, unsigned arg), unsigned arg)
{
	for (unsigned t = 0; t < model->nb_threads; t++)
		for (unsigned k = 0; k < NB_VIEWS; k++)
			fn(&views_of(&threads[t])[k].at[i], arg);
	fn(&fences.at[i], arg);
	for (unsigned k = 0; k < nb_locations; k++)
		for (unsigned n = 0; n < locations[k].nb; n++)
			fn(&locations[k].messages[n].view.at[i], arg);
}

static void make_room(uint8_t *at, unsigned from)
{
	*at += *at >= from;
}

static void move_down(uint8_t *at, unsigned by)
{
	*at = (uint8_t)(*at > by ? *at - by : 0);
}

static void occupy(struct location *l, unsigned size)
{
	uint8_t *at = &location_at[memory_offset(l->addr)];

	for (; l->size < size; l->size++) {
		if (at[l->size])
			model_fail("two atomics that lie over each other");
		at[l->size] = (uint8_t)(l - locations + 1);
	}
}

static struct location *new_location(const void *addr, unsigned size)
{
	struct location *l = &locations[nb_locations];

	if (nb_locations == LOCATIONS_MAX)
		model_fail("more atomics than the explorer's views have places");
	nb_locations++;
	*l = (struct location){.addr = (char *)addr};
	occupy(l, size);
	one_message(l);
	return l;
}

/* A futex, which may access the word first, compares its low half. */
static void widen(struct location *l, unsigned size)
{
	if (l->nb > 1)
		model_fail("two atomics that lie over each other");
	occupy(l, size);
	l->messages[0].value = peek(l->addr, size);
}

/* The location of a step that t is about to do. */
static struct location *locate(const struct thread *t, const struct step *s)
{
	bool write = s->kind == STEP_STORE || s->kind == STEP_RMW || s->kind == STEP_CAS;
	uint8_t bit = (uint8_t)(1u << t->id);
	struct location *l;

	/* The outcome of a CAS is not known yet. */
	memory_check_atomic(t, s->addr, s->size, write && s->kind != STEP_CAS);
	l = location_at[memory_offset(s->addr)]
		? &locations[location_at[memory_offset(s->addr)] - 1]
		: new_location(s->addr, s->size);
	if (l->addr != s->addr)
		model_fail("two atomics that lie over each other");
	if (l->size < s->size)
		widen(l, s->size);
	if (!(l->users & bit) || (write && !(l->writers & bit)))
		is_otherwise = true;
	l->users |= bit;
	if (write)
		l->writers |= bit;
	if (l->is_stale) {
		for_each_view((unsigned)(l - locations), move_down, UINT8_MAX);
		one_message(l);
	}
	return l;
}

void weak_plain_write(const void *addr, size_t size)
{
	for (size_t i = memory_offset(addr); i < memory_offset(addr) + size; i++)
		if (location_at[i]) {
			struct location *l = &locations[location_at[i] - 1];

			is_otherwise |= !l->plain;
			l->plain = l->is_stale = true;
		}
}

/* The oldest message of l that t can read. */
static unsigned oldest(const struct thread *t, const struct location *l, bool fenced)
{
	unsigned i = (unsigned)(l - locations);
	const struct views *v = &t->views;
	unsigned at = v->now.at[i];

	if (!fenced)
		return at;
	at = v->acquirable.at[i] > at ? v->acquirable.at[i] : at;
	at = v->pending.at[i] > at ? v->pending.at[i] : at;
	return fences.at[i] > at ? fences.at[i] : at;
}

static bool is_fenced(const struct step *s)
{
	return s->kind == STEP_FUTEX_WAIT || s->kind == STEP_FUTEX_WAKE ||
		(s->order == __ATOMIC_SEQ_CST && s->kind != STEP_DRAIN && s->kind != STEP_YIELD);
}

/* True if the step can use message i: read it, or store next to it. */
static bool may_use(const struct step *s, const struct location *l, unsigned i)
{
	bool is_last = i + 1 == l->nb || !l->messages[i + 1].follows;
	uint64_t value = peek(&l->messages[i].value, s->size);

	switch (s->kind) {
	case STEP_STORE:
	case STEP_RMW:
		return is_last;
	case STEP_CAS:
		return value != s->expected || is_last;
	case STEP_AWAIT:
		return value == s->value;
	case STEP_YIELD: /* any value that ends the wait */
		return value != s->value;
	default:
		return true;
	}
}

/* Counted from the newest. */
static unsigned count(const struct step *s, const struct location *l, unsigned from)
{
	unsigned n = 0;

	for (unsigned i = l->nb; i-- > from;)
		n += may_use(s, l, i);
	return n;
}

static unsigned find(const struct step *s, const struct location *l, unsigned option)
{
	for (unsigned i = l->nb; i-- > 0;)
		if (may_use(s, l, i) && option-- == 0)
			return i;
	abort();
}

unsigned weak_options(const struct thread *t)
{
	const struct step *s = &t->step;
	const struct location *l;

	switch (s->kind) {
	case STEP_FENCE:
	case STEP_LIGHT_FENCE:
	case STEP_FUTEX_WAKE:
		return 1;
	case STEP_DRAIN:
		return (unsigned)__builtin_popcountll(s->value);
	default:
		l = locate(t, s);
		return s->kind == STEP_YIELD ? count(s, l, oldest(t, l, false)) > 0
					     : count(s, l, oldest(t, l, is_fenced(s)));
	}
}

bool weak_is_nobodys_business(struct thread *t, const struct step *s, bool membarriers)
{
	const struct location *l;

	switch (s->kind) {
	case STEP_FENCE:
		return s->order != __ATOMIC_SEQ_CST;
	case STEP_LIGHT_FENCE:
		return !membarriers || !t->may_drain;
	case STEP_LOAD:
	case STEP_STORE:
	case STEP_RMW:
	case STEP_CAS:
		if (s->order == __ATOMIC_SEQ_CST)
			return false;
		l = locate(t, s);
		if (l->users == 1u << t->id)
			return true;
		if (s->kind == STEP_LOAD)
			return (l->writers & ~(1u << t->id)) == 0;
		return s->kind == STEP_STORE && !l->plain && weak_options(t) == 1;
	default:
		return false;
	}
}

static void full_fence(struct thread *t)
{
	struct views *v = &t->views;

	take_in(&v->now, &v->acquirable);
	take_in(&v->now, &v->pending);
	take_in(&v->now, &fences);
	fences = v->acquirable = v->released = v->lit = v->now;
	v->pending = (struct view){0};
	t->may_drain = true;
}

static void light_fence(struct thread *t)
{
	struct views *v = &t->views;

	take_in(&v->now, &v->pending);
	take_in(&v->acquirable, &v->now);
	v->lit = v->now;
	v->pending = (struct view){0};
	t->may_drain = true;
}

/* One of the barriers of t's membarrier. Steps of t before the first one or after the last one
 * count for each of them. */
static void drain(struct thread *t, struct thread *other)
{
	full_fence(t);
	take_in(&fences, &other->views.lit);
	take_in(&other->views.pending, &fences);
	full_fence(t);
}

static void fence(struct thread *t, int order)
{
	struct views *v = &t->views;

	memory_fence(t, order);
	if (order == __ATOMIC_SEQ_CST)
		full_fence(t);
	else if (is_acquire(order))
		take_in(&v->now, &v->acquirable);
	if (is_release(order))
		v->released = v->now;
}

static uint64_t read_message(
	struct thread *t, const struct location *l, unsigned i, unsigned size, int order)
{
	const struct message *m = &l->messages[i];
	struct views *v = &t->views;

	raise_to(&v->now, l, i);
	raise_to(&v->acquirable, l, i);
	take_in(&v->acquirable, &m->view);
	memory_join(&t->acquirable, &m->clock);
	if (is_acquire(order)) {
		take_in(&v->now, &m->view);
		memory_join(&t->now, &m->clock);
	}
	return peek(&m->value, size);
}

/* Puts the message right above message i, which the same step has read if this follows it. */
static void write_message(
	struct thread *t, struct location *l, unsigned i, const struct step *s, bool follows)
{
	struct message *m = &l->messages[i + 1];
	struct views *v = &t->views;

	if (l->nb == MESSAGES_MAX)
		model_fail("more messages than the explorer has places for");
	if (i + 1 < l->nb) {
		for_each_view((unsigned)(l - locations), make_room, i + 1);
		memmove(m + 1, m, (l->nb - i - 1) * sizeof(*m));
	}
	l->nb++;
	raise_to(&v->now, l, i + 1);
	raise_to(&v->acquirable, l, i + 1);
	*m = (struct message){.value = s->value,
		.view = is_release(s->order) ? v->now : v->released,
		.clock = memory_release_clock(t, s->order),
		.follows = follows};
	if (follows) {
		take_in(&m->view, &l->messages[i].view);
		memory_join(&m->clock, &l->messages[i].clock);
	}
	memcpy(l->addr, &l->messages[l->nb - 1].value, l->size);
}

static uint64_t access(struct thread *t, struct location *l, unsigned i)
{
	struct step *s = &t->step;
	uint64_t old;

	switch (s->kind) {
	case STEP_STORE:
		write_message(t, l, i, s, false);
		return 0;
	case STEP_RMW:
		old = read_message(t, l, i, s->size, s->order);
		s->value = memory_combine(s->rmw, old, s->value);
		write_message(t, l, i, s, true);
		return old;
	case STEP_CAS:
		if (peek(&l->messages[i].value, s->size) != s->expected)
			return read_message(t, l, i, s->size, s->failure_order);
		memory_check_atomic(t, s->addr, s->size, true);
		old = read_message(t, l, i, s->size, s->order);
		write_message(t, l, i, s, true);
		return old;
	case STEP_FUTEX_WAIT:
		return read_message(t, l, i, s->size, __ATOMIC_RELAXED) == s->value;
	default:
		return read_message(t, l, i, s->size, s->order);
	}
}

uint64_t weak_step(struct thread *t, unsigned option)
{
	struct step *s = &t->step;
	uint64_t result;

	switch (s->kind) {
	case STEP_FENCE:
		fence(t, s->order);
		return 0;
	case STEP_LIGHT_FENCE:
		light_fence(t);
		return 0;
	case STEP_FUTEX_WAKE:
		full_fence(t);
		return 0;
	case STEP_DRAIN:
		result = memory_nth(s->value, option);
		drain(t, &threads[result]);
		return result;
	case STEP_YIELD:
		return 0;
	default:
		break;
	}
	if (is_fenced(s))
		full_fence(t);
	result = access(t, locate(t, s), find(s, locate(t, s), option));
	if (is_fenced(s))
		full_fence(t);
	return result;
}

/* Removes messages that no accessor of l can read. */
static void forget(struct location *l)
{
	unsigned i = (unsigned)(l - locations), oldest_read = l->nb - 1;

	for (unsigned t = 0; t < model->nb_threads; t++)
		if (threads[t].status != THREAD_ENDED && l->users & (1u << t) &&
			threads[t].views.now.at[i] < oldest_read)
			oldest_read = threads[t].views.now.at[i];
	if (oldest_read == 0)
		return;
	l->nb -= oldest_read;
	memmove(l->messages, l->messages + oldest_read, l->nb * sizeof(l->messages[0]));
	l->messages[0].follows = false;
	for_each_view(i, move_down, oldest_read);
}

static uint64_t mix_view(uint64_t hash, const struct view *v)
{
	for (unsigned i = 0; i < nb_locations; i += 8)
		hash = mix(hash, peek(v->at + i, 8));
	return hash;
}

uint64_t weak_hash(void)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < nb_locations; i++)
		if (locations[i].nb > 1)
			forget(&locations[i]);
	hash = mix_view(hash, &fences);
	for (unsigned t = 0; t < model->nb_threads; t++)
		for (unsigned k = 0; k < NB_VIEWS; k++)
			hash = mix_view(mix(hash, threads[t].may_drain), &views_of(&threads[t])[k]);
	for (unsigned i = 0; i < nb_locations; i++) {
		const struct location *l = &locations[i];

		hash = mix(hash, l->nb << 1 | l->is_stale);
		for (unsigned k = 0; k < l->nb; k++) {
			const struct message *m = &l->messages[k];

			hash = mix(hash, m->value);
			hash = mix(hash, peek(&m->clock, sizeof(m->clock)));
			hash = mix_view(mix(hash, m->follows), &m->view);
		}
	}
	return hash;
}
