/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The injector of a cluster: threads that are not members of the cluster put bulks there, and one
 * member at a time takes items. The argument why no item stays there while all members sleep is in
 * injector.c. Members are numbered from 0.
 */
#ifndef HAULI_CONC_INJECTOR_H
#define HAULI_CONC_INJECTOR_H

#include "conc/inbox.h"
#include "conc/word.h"

/* Embedded in each item. The putter's until the put; after that the holder's. */
struct hauli_item {
	struct hauli_item *next; /* in its bulk; after a take: among the taken items */
	struct hauli_node bulk; /* the next bulk; in the first item of a bulk only */
	uint32_t n; /* items in the bulk; in its first item, when it is put */
};

struct hauli_injector {
	struct hauli_inbox incoming; /* first items of bulks, as they came. Any thread */
	/* The holder of the guard writes these. */
	HAULI_LINE _Atomic uint32_t left; /* count at the last close; any thread reads */
	struct hauli_trylock guard;
	struct hauli_item *oldest, *newest; /* the list: first items of bulks */
	uint32_t count; /* of items in the list's bulks */
	/* where to start to look for a sleeper. Any thread */
	HAULI_LINE struct hauli_ticket ticket;
	unsigned nb_members; /* constant, as the next */
	struct hauli_inbox **members;
};

/* members: the inboxes they sleep in; the caller's array, which must outlive `in`. */
void hauli_injector_init(
	struct hauli_injector *in, struct hauli_inbox **members, unsigned nb_members);

/* Any thread. True: there are no items. A hint. */
static inline bool hauli_injector_is_empty(const struct hauli_injector *in)
{
	return hauli_inbox_is_empty(&in->incoming) &&
		atomic_load_explicit(&in->left, memory_order_relaxed /* a hint */) == 0;
}

/* Any thread. Puts a bulk of first->n items, linked from oldest to newest. The caller must then
 * call hauli_injector_rouse(). */
void hauli_injector_put(struct hauli_injector *in, struct hauli_item *first);

/*
 * After a put or a close. If there are items and a member sleeps: ends the sleep of one, the first
 * from number `from` on, cyclically. Returns its number, and in *slept what hauli_inbox_rouse()
 * returned: the caller must wake it. -1: there is no member to wake.
 */
int hauli_injector_rouse(struct hauli_injector *in, unsigned from, enum hauli_inbox_state *slept);

/* A start for hauli_injector_rouse(), different each time. */
static inline unsigned hauli_injector_ticket(struct hauli_injector *in)
{
	return hauli_ticket_take(&in->ticket) % in->nb_members;
}

/* A member, after hauli_inbox_try_sleep(). False: there are items, so it must not sleep. */
bool hauli_injector_may_sleep(const struct hauli_injector *in);

/*
 * A member, awake. Takes the guard; false: another member has it. After true the member may count
 * the items and take some; then it must close and, if it may have left any, call
 * hauli_injector_rouse(), both before it runs the items, which may take long.
 */
bool hauli_injector_try_open(struct hauli_injector *in);
static inline uint32_t hauli_injector_count(const struct hauli_injector *in)
{
	return in->count;
}
/* Takes the n oldest items, or all if there are fewer, linked by next. NULL: there are none. */
struct hauli_item *hauli_injector_take(struct hauli_injector *in, uint32_t n);
void hauli_injector_close(struct hauli_injector *in);

#endif
