/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: what is put there is taken once, oldest batch first; and while something is there and a
 * member sleeps, another one is awake and about to look there before it does anything else.
 *
 *	word     written by                          meaning
 *	fresh    who puts: push; holder: drain       batches that nobody has counted
 *	guard    members: claim, free                who takes: the holder
 *	list     the holder                          batches, of the oldest what is left of it
 *	left     the holder, as it closes            how many are in the list
 *	a member's inbox (inbox.c): ASLEEP, AWAY by itself; EMPTY by who rouses it
 *
 * A batch is put there whole, by one push: the items are linked before. So a million cost the
 * others no more than one. The guard is only tried: nobody waits for a holder who is preempted, and
 * who puts something there never has it.
 *
 *	            put, call                   close, call          may_sleep
 *	put         CAS, one wins               inbox.E1             D1
 *	holder      push and drain are          the guard            D2
 *	            of one word
 *
 * Two pairs of a store and a load of another word, each with a full barrier on both sides, so that
 * one of the two sees the other's store:
 *
 *	D1  who puts: pushes; looks for a sleeper (put, call)
 *	    member: is asleep; looks whether there is something (may_sleep)
 *	D2  holder: says how many are left; looks whether there is something, and for a
 *	    sleeper (close, call)
 *	    member: as above. While the holder is at it, fresh and left may both say that there
 *	    is nothing though there is: a member that believes it is found asleep by the holder.
 *
 * So for each batch a member is roused, or none slept. A roused member looks before it runs
 * anything, and calls again when it leaves something: it wakes one member, which wakes the next. It
 * also calls when it takes nothing because it has something else to do. If it finds the guard
 * taken, or nothing there, the holder will call, after it has closed; that call comes after the
 * barrier, so it sees what was put there since. A member that is idle and does not sleep looks
 * again and again.
 *
 *	E1  the barrier of D1 and D2. After a read-modify-write x86 needs none; others do, and
 *	    closing is by stores.
 *	inbox.E1  what was written to a batch before it is taken
 *	inbox.E4  what the caller did before what the roused one does
 *	word.E1   what a holder has done before what the next one does
 *
 * Model: tests/model/intake.c, roused.c. Stress: tests/stress/intake.c.
 */
#include "conc/intake.h"

#include "conc/fence.h"

void hauli_intake_init(struct hauli_intake *in, struct hauli_inbox **members, unsigned nb_members)
{
	*in = (struct hauli_intake){.members = members, .nb_members = nb_members};
	hauli_inbox_init(&in->fresh);
}

void hauli_intake_put(struct hauli_intake *in, struct hauli_item *first)
{
	hauli_inbox_push(&in->fresh, &first->batch);
	hauli_fence_full(); /* intake.E1 */
}

int hauli_intake_call(struct hauli_intake *in, unsigned from, enum hauli_inbox_state *slept)
{
	if (hauli_intake_is_empty(in))
		return -1;
	for (unsigned i = 0; i < in->nb_members; i++) {
		unsigned member = (from + i) % in->nb_members;

		*slept = hauli_inbox_rouse(in->members[member]);
		if (*slept != HAULI_INBOX_EMPTY)
			return (int)member;
	}
	return -1;
}

bool hauli_intake_may_sleep(const struct hauli_intake *in)
{
	hauli_fence_full(); /* intake.E1 */
	return hauli_intake_is_empty(in);
}

static struct hauli_item *first_of(struct hauli_node *batch)
{
	return (struct hauli_item *)((char *)batch - offsetof(struct hauli_item, batch));
}

/* Puts what is fresh behind the list. */
static void count_fresh(struct hauli_intake *in)
{
	struct hauli_node *batch = hauli_inbox_drain(&in->fresh);

	if (!batch)
		return;
	if (in->oldest)
		in->newest->batch.next = batch;
	else
		in->oldest = first_of(batch);
	for (; batch; batch = batch->next) {
		in->newest = first_of(batch);
		in->count += in->newest->n;
	}
}

bool hauli_intake_try_open(struct hauli_intake *in)
{
	if (!hauli_slot_claim(&in->guard))
		return false;
	count_fresh(in);
	return true;
}

/* The oldest of all. What comes after it in its batch is the first of the batch then. */
static struct hauli_item *take_one(struct hauli_intake *in)
{
	struct hauli_item *item = in->oldest, *next = item->next;

	if (next) {
		next->batch = item->batch;
		if (in->newest == item)
			in->newest = next;
		in->oldest = next;
	} else {
		in->oldest = item->batch.next ? first_of(item->batch.next) : NULL;
	}
	return item;
}

struct hauli_item *hauli_intake_take(struct hauli_intake *in, uint32_t n)
{
	struct hauli_item *oldest = NULL, **end = &oldest;

	for (; n > 0 && in->oldest; n--, in->count--) {
		*end = take_one(in);
		end = &(*end)->next;
	}
	*end = NULL;
	return oldest;
}

void hauli_intake_close(struct hauli_intake *in)
{
	atomic_store_explicit(&in->left, in->count, memory_order_relaxed /* the barrier */);
	hauli_slot_free(&in->guard);
	hauli_fence_full(); /* intake.E1 */
}
