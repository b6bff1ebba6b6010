/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/timer.h"

#include <stddef.h>

/* Makes the later of two roots the first child of the earlier; either may be NULL. */
static struct hauli_timer *meld(struct hauli_timer *a, struct hauli_timer *b)
{
	if (!a || !b)
		return a ? a : b;
	if (b->at < a->at) {
		struct hauli_timer *t = a;

		a = b;
		b = t;
	}
	b->sibling = a->child;
	if (b->sibling)
		b->sibling->prev = b;
	b->prev = a;
	a->child = b;
	a->sibling = NULL;
	return a;
}

/* Melds a list of siblings: in pairs from the left, then the pairs from the right. */
static struct hauli_timer *meld_list(struct hauli_timer *list)
{
	struct hauli_timer *pairs = NULL;
	struct hauli_timer *root = NULL;

	while (list) {
		struct hauli_timer *a = list;
		struct hauli_timer *b = a->sibling;

		list = b ? b->sibling : NULL;
		a->sibling = NULL;
		if (b)
			b->sibling = NULL;
		a = meld(a, b);
		a->sibling = pairs;
		pairs = a;
	}
	while (pairs) {
		struct hauli_timer *a = pairs;

		pairs = a->sibling;
		a->sibling = NULL;
		root = meld(root, a);
	}
	return root;
}

static void set_first(struct hauli_timers *ts, struct hauli_timer *first)
{
	ts->first = first;
	ts->next_at = first ? first->at : HAULI_NEVER;
	if (first)
		first->prev = NULL;
}

void hauli_timer_arm(struct hauli_timers *ts, struct hauli_timer *t)
{
	t->child = t->sibling = t->prev = NULL;
	set_first(ts, meld(ts->first, t));
}

void hauli_timer_disarm(struct hauli_timers *ts, struct hauli_timer *t)
{
	struct hauli_timer *children = meld_list(t->child);

	if (t == ts->first) {
		set_first(ts, children);
		return;
	}
	if (t->prev->child == t)
		t->prev->child = t->sibling;
	else
		t->prev->sibling = t->sibling;
	if (t->sibling)
		t->sibling->prev = t->prev;
	set_first(ts, meld(ts->first, children));
}
