/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The intake of a cluster: where threads that are none of its members put batches, and of which its
 * members take in turn. The argument why nothing is left there while a member sleeps is in
 * intake.c. Members are numbered from 0.
 */
#ifndef HAULI_CONC_INTAKE_H
#define HAULI_CONC_INTAKE_H

#include "conc/inbox.h"
#include "conc/word.h"

/* Embedded in what is put there. Who puts, until it is there; then whoever holds the intake. */
struct hauli_item {
	struct hauli_item *next; /* of the same batch; in what was taken: the next of all */
	struct hauli_node batch; /* of the first of a batch: the next batch */
	uint32_t n; /* of the first, as it is put there: how many the batch has */
};

struct hauli_intake {
	struct hauli_inbox fresh; /* batches as they came, by their first items. Any thread */
	/* Who holds it. */
	HAULI_LINE _Atomic uint32_t left; /* the count, as it was when it was closed; read by any */
	struct hauli_slot guard;
	struct hauli_item *oldest, *newest; /* the list: first items of batches */
	uint32_t count; /* of items in the list */
	HAULI_LINE struct hauli_turn turn; /* where to begin to look for a sleeper. Any thread */
	unsigned nb_members; /* constant, as the next */
	struct hauli_inbox **members;
};

/* members: the inboxes that they sleep in; the caller's array, which has to stay. */
void hauli_intake_init(struct hauli_intake *in, struct hauli_inbox **members, unsigned nb_members);

/* Any thread. Whether there is nothing; a hint. */
static inline bool hauli_intake_is_empty(const struct hauli_intake *in)
{
	return hauli_inbox_is_empty(&in->fresh) &&
		atomic_load_explicit(&in->left, memory_order_relaxed /* a hint */) == 0;
}

/* Any thread. Puts a batch there, oldest first; first->n says how many. hauli_intake_call() must
 * follow. */
void hauli_intake_put(struct hauli_intake *in, struct hauli_item *first);

/*
 * Who has put something there, or closed it. When it is not empty and a member sleeps: ends the
 * sleep of one, from that number on, which the caller then has to wake. Returns its number, and in
 * *slept what hauli_inbox_rouse() said; -1: nobody is to be woken.
 */
int hauli_intake_call(struct hauli_intake *in, unsigned from, enum hauli_inbox_state *slept);

/* Where who has put something there begins to look for a sleeper. */
static inline unsigned hauli_intake_turn(struct hauli_intake *in)
{
	return hauli_turn_take(&in->turn) % in->nb_members;
}

/* A member, after hauli_inbox_try_sleep(). False: there is something, it has to get up. */
bool hauli_intake_may_sleep(const struct hauli_intake *in);

/*
 * A member, awake. Takes the intake for itself, or false when another one has it. After true it may
 * look how many there are and take some, closes it, and then calls: before it turns to what it
 * took, which may keep it for long.
 */
bool hauli_intake_try_open(struct hauli_intake *in);
static inline uint32_t hauli_intake_count(const struct hauli_intake *in)
{
	return in->count;
}
/* The n oldest, or as many as there are, linked by next; NULL: there are none. */
struct hauli_item *hauli_intake_take(struct hauli_intake *in, uint32_t n);
void hauli_intake_close(struct hauli_intake *in);

#endif
