/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of coroutines, read by another thread while the carriers run.
 *
 * Promise: no carrier waits for a look, and a look reads only memory that is there. A coroutine
 * lies in a slab that stays mapped, so its fields can be read at any time; the values may be those
 * of two instants, and are only shown. Its name, and the wait on its stack, may be gone by then:
 * they are read by a system call, which fails where there is nothing, and a wait counts only if it
 * names its coroutine.
 *
 * The work is bounded: so many coroutines, names that were not seen before, and waits are read, and
 * the rest is counted without.
 */
#include <haul/look.h>

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/race.h"
#include "sched/look/peek.h"
#include "sched/look/snapshot.h"
#include "sched/state/carrier.h"
#include "sched/state/runtime.h"
#include "sched/wait/block.h"
#include "sched/wait/joined.h"

#define MOST 1000000 /* coroutines; of the next ones only the number is known */
#define AT_ONCE 1024
#define NAMES 512 /* addresses of names that are remembered; a power of two */
#define READS_MAX 4096 /* names and waits that are read by system calls */
#define CAUSES_READ_MAX 65536 /* waits that are read for their causes */
#define OLDEST 256
#define CAUSES 64

/* A coroutine as it was read. */
struct seen {
	const struct haul_coro *co;
	const struct haul_carrier *home;
	enum hauli_coro_state state; /* with flags */
	const char *name;
	const void *arg;
	uint64_t ns, left_ns;
	bool unjoined;
	bool homeless; /* spawned from outside, and taken by no carrier yet */
};

struct look {
	const struct haul_runtime *rt;
	struct haul_look *out;
	uint64_t now;
	unsigned reads, causes_read, nb_unread;
	struct seen unread[HAULI_PEEKS]; /* waits for objects, whose causes are to be read */
	const char *causes[CAUSES]; /* the addresses of the texts of out->causes */
	uint64_t begun; /* coroutines with a home that have not ended, and were found */
	struct {
		const char *name;
		struct haul_look_group *group; /* NULL: none was free */
	} names[NAMES];
	unsigned nb_oldest;
	struct seen oldest[OLDEST]; /* waits, the oldest ones first */
};

/* The fields race with the carriers. */
HAULI_MAY_RACE static bool see(const struct look *l, const struct haul_coro *co, struct seen *s)
{
	uint64_t at;

	HAULI_RACES(co);
	*s = (struct seen){.co = co, .state = hauli_coro_state(co), .left_ns = HAUL_FOREVER};
	s->homeless = (s->state & HAULI_CORO_KIND) == HAULI_CORO_HOMELESS;
	s->home = hauli_coro_home(co);
	if (s->homeless) {
		s->name = co->co.name;
		return true;
	}
	if (!s->home)
		return false;
	s->unjoined = hauli_coro_is_unjoined(co);
	if (!s->unjoined && !hauli_state_lives(s->state & HAULI_CORO_KIND))
		return false;
	s->name = co->co.name;
	s->arg = co->arg;
	if (!hauli_state_waits(s->state))
		return true;
	at = co->timer.at;
	if (!l->rt->virtual_time)
		s->ns = hauli_since_ns(co->timer.since, l->now);
	if (s->state & HAULI_CORO_ARMED)
		s->left_ns = at > l->now ? hauli_ns_from_ticks(at - l->now) : 0;
	return true;
}

static void count(struct haul_look_counts *c, const struct seen *s)
{
	switch (s->state & HAULI_CORO_KIND) {
	case HAULI_CORO_READY:
	case HAULI_CORO_HOMELESS:
		c->ready++;
		return;
	case HAULI_CORO_ENDED:
		c->unjoined++;
		return;
	case HAULI_CORO_PARKED:
		c->parked++;
		break;
	case HAULI_CORO_SLEEPING:
		c->sleeping++;
		break;
	case HAULI_CORO_JOINING:
		c->joining++;
		break;
	case HAULI_CORO_BLOCKED:
		c->blocked++;
		break;
	default:
		c->ordered++;
		break;
	}
	c->waiting++;
	if (s->ns > c->longest_ns)
		c->longest_ns = s->ns;
	if (s->left_ns == HAUL_FOREVER)
		return;
	c->timers++;
	if (s->left_ns < c->first_timer_ns)
		c->first_timer_ns = s->left_ns;
}

static const struct haul_look_counts none = {.first_timer_ns = HAUL_FOREVER};

/* The group of a name that was not seen at this address before. */
static struct haul_look_group *group_for(struct look *l, const char *name)
{
	struct haul_look *out = l->out;
	char text[HAUL_LOOK_TEXT];

	if (l->reads++ >= READS_MAX)
		return NULL;
	hauli_peek_text(text, name);
	for (unsigned i = 0; i < out->nb_groups; i++)
		if (strcmp(out->groups[i].name, text) == 0)
			return &out->groups[i];
	if (out->nb_groups == out->groups_max)
		return NULL;
	out->groups[out->nb_groups].counts = none;
	memcpy(out->groups[out->nb_groups].name, text, sizeof(text));
	return &out->groups[out->nb_groups++];
}

static struct haul_look_group *group_of(struct look *l, const char *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15);
	unsigned i = (unsigned)(hash >> 32) & (NAMES - 1);

	if (l->names[i].name != name) {
		l->names[i].group = group_for(l, name);
		l->names[i].name = name;
	}
	return l->names[i].group;
}

/* The wait on the stack of a coroutine that blocks. False: there is none any more. */
static bool read_block(struct look *l, const struct seen *s, struct hauli_block *b)
{
	return l->reads++ < READS_MAX && hauli_peek(b, s->arg, sizeof(*b)) && b->co == s->co;
}

static bool is_asked_for(struct look *l, const struct seen *s)
{
	struct hauli_block b;

	if (l->out->which == HAUL_LOOK_ALL)
		return true;
	return (s->state & HAULI_CORO_KIND) == HAULI_CORO_BLOCKED && read_block(l, s, &b) &&
		b.what ==
		(l->out->which == HAUL_LOOK_MUTEXES ? hauli_block_mutex : hauli_block_children);
}

/* Inserts a wait among the oldest ones, which are sorted. */
static void list(struct look *l, const struct seen *s)
{
	const unsigned max = l->out->waits_max < OLDEST ? l->out->waits_max : OLDEST;
	unsigned at = l->nb_oldest;

	if ((at == max && s->ns <= l->oldest[at - 1].ns) || !is_asked_for(l, s))
		return;
	if (at < max)
		l->nb_oldest++;
	else
		at--;
	for (; at > 0 && l->oldest[at - 1].ns < s->ns; at--)
		l->oldest[at] = l->oldest[at - 1];
	l->oldest[at] = *s;
}

static struct haul_look_cause *add_cause(struct look *l, const char *text)
{
	struct haul_look *out = l->out;

	if (out->nb_causes == out->causes_max || out->nb_causes == CAUSES)
		return NULL;
	l->causes[out->nb_causes] = text;
	out->causes[out->nb_causes] = (struct haul_look_cause){.waiting = 0};
	hauli_peek_text(out->causes[out->nb_causes].what, text);
	return &out->causes[out->nb_causes++];
}

/* The texts are constants; those of two files may be the same text. One that is no text was read
 * while a wait began. */
static struct haul_look_cause *cause_for(struct look *l, const char *text)
{
	struct haul_look *out = l->out;
	char copy[HAUL_LOOK_TEXT];

	for (unsigned i = 0; i < out->nb_causes; i++)
		if (l->causes[i] == text)
			return &out->causes[i];
	hauli_peek_text(copy, text);
	if (!copy[0] || strchr(copy, '?'))
		return cause_for(l, "blocked");
	for (unsigned i = 0; i < out->nb_causes; i++)
		if (strcmp(out->causes[i].what, copy) == 0)
			return &out->causes[i];
	return add_cause(l, text);
}

static const char *const wait_kinds[] = {
	[HAULI_CORO_PARKED] = "parked",
	[HAULI_CORO_SLEEPING] = "sleeping",
	[HAULI_CORO_JOINING] = "joining",
	[HAULI_CORO_BLOCKED] = "blocked",
	[HAULI_CORO_ORDER_WAIT] = "ordered",
};

static void begin_causes(struct look *l)
{
	l->out->nb_causes = 0;
	for (unsigned i = HAULI_CORO_PARKED; i <= HAULI_CORO_ORDER_WAIT; i++)
		if (i != HAULI_CORO_BLOCKED)
			add_cause(l, wait_kinds[i]);
}

static void add_to_cause(struct look *l, const char *text, uint64_t ns)
{
	struct haul_look_cause *cause = cause_for(l, text);

	if (!cause)
		return;
	cause->waiting++;
	if (ns > cause->longest_ns)
		cause->longest_ns = ns;
}

/* A wait that is not there any more has ended. */
static void read_causes(struct look *l)
{
	const void *args[HAULI_PEEKS];
	struct hauli_block b[HAULI_PEEKS];
	unsigned n = 0;

	for (unsigned i = 0; i < l->nb_unread; i++)
		args[i] = l->unread[i].arg;
	while (n < l->nb_unread) {
		unsigned got = hauli_peek_each(b, &args[n], sizeof(b[0]), l->nb_unread - n);

		for (unsigned i = 0; i < got; i++) {
			const struct seen *s = &l->unread[n + i];
			const char *text = b[i].what ? b[i].what : wait_kinds[HAULI_CORO_BLOCKED];

			if (b[i].co == s->co)
				add_to_cause(l, text, s->ns);
		}
		n += got + 1;
	}
	l->nb_unread = 0;
}

static void count_cause(struct look *l, const struct seen *s)
{
	const enum hauli_coro_state kind = s->state & HAULI_CORO_KIND;

	if (kind != HAULI_CORO_BLOCKED || l->causes_read == CAUSES_READ_MAX) {
		add_to_cause(l, wait_kinds[kind], s->ns);
		return;
	}
	l->causes_read++;
	l->unread[l->nb_unread++] = *s;
	if (l->nb_unread == HAULI_PEEKS)
		read_causes(l);
}

/* The holder of a mutex may have ended. */
HAULI_MAY_RACE static void name_holder(const struct look *l, struct haul_look_wait *w)
{
	const struct haul_coro *co = w->holder;

	HAULI_RACES(co);
	if (hauli_slab_has(l->rt->coros, co) && hauli_coro_home(co))
		hauli_peek_text(w->holder_name, co->co.name);
}

static void tell_object(struct look *l, const struct seen *s, struct haul_look_wait *w)
{
	struct hauli_block b;

	if (!read_block(l, s, &b))
		return;
	w->object = b.object;
	if (b.what)
		hauli_peek_text(w->what, b.what);
	if (b.what == hauli_block_mutex)
		w->holder = hauli_snapshot_holder(b.object);
	if (w->holder)
		name_holder(l, w);
}

static void tell_wait(struct look *l, const struct seen *s, struct haul_look_wait *w)
{
	static const char *const whats[] = {
		[HAULI_CORO_PARKED] = "parked",
		[HAULI_CORO_SLEEPING] = "sleeping",
		[HAULI_CORO_JOINING] = "the end of",
		[HAULI_CORO_BLOCKED] = "blocked",
		[HAULI_CORO_ORDER_WAIT] = "order",
	};
	const enum hauli_coro_state kind = s->state & HAULI_CORO_KIND;
	struct hauli_join j;

	*w = (struct haul_look_wait){
		.coro = s->co, .carrier = s->home->id, .ns = s->ns, .left_ns = s->left_ns};
	hauli_peek_text(w->name, s->name);
	strcpy(w->what, whats[kind]);
	if (kind == HAULI_CORO_BLOCKED)
		tell_object(l, s, w);
	if (kind == HAULI_CORO_JOINING && hauli_peek(&j, s->arg, sizeof(j)) && j.waiter == s->co)
		w->object = j.target;
}

static void look_at(void *object, void *arg)
{
	struct look *l = arg;
	struct haul_look *out = l->out;
	struct haul_look_group *group = NULL;
	struct seen s;

	if (!see(l, object, &s))
		return;
	if (!s.unjoined && !s.homeless)
		l->begun++;
	count(&out->all, &s);
	if (!s.homeless && s.home->id < out->nb_carriers)
		count(&out->carriers[s.home->id], &s);
	if (out->groups_max > 0)
		group = group_of(l, s.name);
	if (group)
		count(&group->counts, &s);
	else
		out->other_names++;
	if (!hauli_state_waits(s.state))
		return;
	if (out->causes_max > 0)
		count_cause(l, &s);
	if (out->waits_max > 0)
		list(l, &s);
}

/* Coroutines with a home that have not ended. */
static uint64_t live(const struct haul_runtime *rt)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < rt->nb_carriers; i++)
		n += hauli_live(&rt->carriers[i]) - hauli_ended_at_once(&rt->carriers[i]);
	return n;
}

void haul_look(const struct haul_runtime *rt, struct haul_look *out)
{
	struct look l = {.rt = rt, .out = out, .now = hauli_timer_ticks()};
	struct hauli_slab_walk at = {0};
	uint64_t before, after;

	HAUL_MISUSE_IF(!rt || !out, "the runtime or the result is NULL");
	before = live(rt);
	out->nb_groups = out->nb_waits = 0;
	out->other_names = out->not_begun = 0;
	out->all = none;
	begin_causes(&l);
	for (unsigned i = 0; i < out->nb_carriers; i++)
		out->carriers[i] = none;
	for (unsigned n = 0; n < MOST; n += AT_ONCE)
		if (!hauli_slab_walk(rt->coros, &at, AT_ONCE, look_at, &l))
			break;
	read_causes(&l);
	out->nb_waits = l.nb_oldest;
	l.reads = 0;
	for (unsigned i = 0; i < l.nb_oldest; i++)
		tell_wait(&l, &l.oldest[i], &out->waits[i]);
	/* The smaller one: some have ended meanwhile, others have got their home. */
	after = live(rt);
	if (before > l.begun && after > l.begun)
		out->not_begun = (before < after ? before : after) - l.begun;
	out->all.ready += out->not_begun;
}
