/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: each item that is put is taken once, oldest bulk first; and while there are items and a
 * member sleeps, another member is awake and will look there before it does anything else.
 *
 *	word     written by                          meaning
 *	incoming putters: push; the holder: drain    bulks that are not in the list yet
 *	guard    members: claim, free                its holder takes items
 *	list     the holder                          bulks; the rest of the oldest bulk
 *	left     the holder, when it closes          items in the list
 *	a member's inbox (inbox.c): ASLEEP, POLLING_WAIT by the member; EMPTY by the rouser
 *
 * A bulk is put whole: its items are linked before, and one push publishes them. So a bulk of a
 * million items costs other threads no more than one item. Members only try the guard, so they do
 * not wait for a preempted holder. Putters do not use the guard.
 *
 *	            put, rouse                  close, rouse         may_sleep
 *	putter      CAS, one wins               inbox.E1             D1
 *	holder      push and drain access       the guard            D2
 *	            one word
 *
 * Two pairs. Each side stores to one word and then loads the other's, with a full barrier in
 * between, so that one of the two sees the other's store:
 *
 *	D1  putter: pushes; looks for a sleeper (put, rouse)
 *	    member: is ASLEEP or POLLING_WAIT; looks for items (may_sleep)
 *	D2  holder: stores how many are left; looks for items and for a sleeper (close, rouse)
 *	    member: as in D1. While the holder is between its drain and its close, incoming and left
 *	    may both look empty though there are items. A member that falls asleep because of that
 *	    is found asleep by the holder's rouse().
 *
 * So for each bulk one member is roused, or no member slept. A roused member looks for items
 * before it runs anything, and calls rouse() after its close: if it leaves any items, it wakes one
 * member, which wakes the next. It also calls rouse() when it takes none because it has other work.
 * If it finds the guard taken, or no items, the holder calls rouse() after its close; that is after
 * the barrier, so it sees bulks put in the meantime. An idle member that does not sleep looks
 * again and again.
 *
 *	E1  the barrier of D1 and D2. On x86 a read-modify-write before it is one already; on other
 *	    CPUs it is not, and close() only stores.
 *	inbox.E1  a putter's writes to a bulk before the reads of the member that takes it
 *	inbox.E4  the caller's writes before the roused member's reads
 *	word.E1   a holder's accesses before the next holder's
 *
 * Model: tests/model/injector.c, roused.c. Stress: tests/stress/injector.c.
 */
#include "conc/injector.h"

#include "conc/fence.h"

void hauli_injector_init(
	struct hauli_injector *in, struct hauli_inbox **members, unsigned nb_members)
{
	*in = (struct hauli_injector){.members = members, .nb_members = nb_members};
	hauli_inbox_init(&in->incoming);
}

void hauli_injector_put(struct hauli_injector *in, struct hauli_item *first)
{
	hauli_inbox_push(&in->incoming, &first->bulk);
	hauli_fence_full(); /* injector.E1 */
}

int hauli_injector_rouse(struct hauli_injector *in, unsigned from, enum hauli_inbox_state *slept)
{
	if (hauli_injector_is_empty(in))
		return -1;
	for (unsigned i = 0; i < in->nb_members; i++) {
		unsigned member = (from + i) % in->nb_members;

		*slept = hauli_inbox_rouse(in->members[member]);
		if (*slept != HAULI_INBOX_EMPTY)
			return (int)member;
	}
	return -1;
}

bool hauli_injector_may_sleep(const struct hauli_injector *in)
{
	hauli_fence_full(); /* injector.E1 */
	return hauli_injector_is_empty(in);
}

static struct hauli_item *first_of(struct hauli_node *bulk)
{
	return (struct hauli_item *)((char *)bulk - offsetof(struct hauli_item, bulk));
}

/* Appends the incoming bulks to the list. */
static void count_incoming(struct hauli_injector *in)
{
	struct hauli_node *bulk = hauli_inbox_drain(&in->incoming);

	if (!bulk)
		return;
	if (in->oldest)
		in->newest->bulk.next = bulk;
	else
		in->oldest = first_of(bulk);
	for (; bulk; bulk = bulk->next) {
		in->newest = first_of(bulk);
		in->count += in->newest->n;
	}
}

bool hauli_injector_try_open(struct hauli_injector *in)
{
	if (!hauli_trylock_take(&in->guard))
		return false;
	count_incoming(in);
	return true;
}

/* Takes the oldest item. The next item of its bulk becomes the first one of the bulk. */
static struct hauli_item *take_one(struct hauli_injector *in)
{
	struct hauli_item *item = in->oldest, *next = item->next;

	if (next) {
		next->bulk = item->bulk;
		if (in->newest == item)
			in->newest = next;
		in->oldest = next;
	} else {
		in->oldest = item->bulk.next ? first_of(item->bulk.next) : NULL;
	}
	return item;
}

struct hauli_item *hauli_injector_take(struct hauli_injector *in, uint32_t n)
{
	struct hauli_item *oldest = NULL, **end = &oldest;

	for (; n > 0 && in->oldest; n--, in->count--) {
		*end = take_one(in);
		end = &(*end)->next;
	}
	*end = NULL;
	return oldest;
}

void hauli_injector_close(struct hauli_injector *in)
{
	atomic_store_explicit(&in->left, in->count, memory_order_relaxed /* the barrier */);
	hauli_trylock_release(&in->guard);
	hauli_fence_full(); /* injector.E1 */
}
