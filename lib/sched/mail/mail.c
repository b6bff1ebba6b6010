/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: the owner handles each message once, in the order of the pushes; one call does a bounded
 * number of steps, so that the carrier polls in between; and the carrier does not sleep before all
 * messages are handled.
 *
 * The inbox gives all its nodes at once, newest first. Three places, in the order of age:
 *
 *	list      in order       taken by the owner, oldest first; searched by thieves
 *	reversal  newest first   reversed some at a time; when complete, behind the list
 *	inbox     newest first   taken when the reversal is complete
 *
 * While the list or the reversal is not empty, the inbox is not empty either (conc/inbox.c, keep):
 * a thief that takes the mail leaves a mark there, and so does the owner if it does not handle all
 * of it. So a test of the inbox alone tells whether there is mail, and the owner cannot mark the
 * inbox asleep while there is some.
 *
 * If the owner wakes up and finds a reversal under way, a thief has begun it during the sleep: with
 * an older one the inbox would not have been empty, so the owner could not have slept. The thief
 * took what the thread that ended the sleep has pushed, or later mail.
 *
 * While the owner runs a hog, each thief continues the search of the list where the last one has
 * stopped. A message that one of them has passed is of no use to the others: it makes no coroutine
 * ready, or one that is pinned or stolen.
 *
 * Model: tests/model/detached.c, detached_hogged.c, detached_rest.c, detached_search.c.
 */
#include "sched/mail/mail.h"

#include "conc/ring.h"
#include "sched/state/coroutine.h"
#include "sched/state/traced.h"

/* Messages that a call reverses, searches, or hands out to be handled. A message to a coroutine
 * among many costs cache misses: about 0.1 us each. */
#ifndef HAULI_MAIL_MOST /* a model sets it */
#define HAULI_MAIL_MOST 32
#endif

void hauli_mail_wake(struct haul_carrier *c, enum hauli_inbox_state slept)
{
	switch (slept) {
	case HAULI_INBOX_EMPTY:
		return;
	case HAULI_INBOX_ASLEEP:
		hauli_inbox_wake(&c->mail.inbox);
		break;
	case HAULI_INBOX_POLLING_WAIT:
		c->poller.wakeup.fn(c->poller.wakeup.arg);
		break;
	case HAULI_INBOX_FDS_WAIT:
		c->fds.kind->wake(c);
		break;
	}
	hauli_inbox_called(&c->mail.inbox);
}

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept = hauli_inbox_push(&c->mail.inbox, &msg->node);

	hauli_mail_wake(c, slept);
	return slept == HAULI_INBOX_EMPTY;
}

bool hauli_mail_send_asleep(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept = hauli_inbox_push_asleep(&c->mail.inbox, &msg->node);

	hauli_mail_wake(c, slept);
	return slept != HAULI_INBOX_EMPTY;
}

void hauli_detached_mail_init(struct hauli_detached_mail *d)
{
	*d = (struct hauli_detached_mail){.oldest = NULL};
	d->end = d->unsearched = &d->oldest;
}

static struct hauli_msg *msg_of(struct hauli_node *node)
{
	return HAULI_CONTAINER(node, struct hauli_msg, node);
}

/* The coroutine that a message makes ready and that a thief may take, or NULL. */
static struct haul_coro *made_ready(struct hauli_msg *msg)
{
	return msg->kind->stealable ? msg->kind->stealable(msg) : NULL;
}

/* Reverses some more of the mail; moves it to the end of the list when all of it is reversed. */
static void reverse_some(struct hauli_detached_mail *d)
{
	if (!hauli_reverse(&d->reversal, &d->mark, HAULI_MAIL_MOST) || !d->reversal.oldest)
		return;
	*d->end = d->reversal.oldest;
	d->end = &d->reversal.newest->next;
	d->reversal = (struct hauli_reversal){.left = NULL};
}

/* Takes out the node at this link. */
static void take_out(struct hauli_detached_mail *d, struct hauli_node **at)
{
	struct hauli_node *node = *at;

	*at = node->next;
	if (d->end == &node->next)
		d->end = at;
}

/* Searches the next messages. Returns a coroutine that is to be stolen, or NULL. */
static struct haul_coro *search(struct hauli_detached_mail *d, bool (*may)(const void *item))
{
	struct hauli_node **at = d->unsearched;
	struct haul_coro *found = NULL;

	for (unsigned n = 0; *at && n < HAULI_MAIL_MOST; n++) {
		struct haul_coro *co = made_ready(msg_of(*at));

		if (co && may(co)) {
			if (found)
				break;
			found = co;
			if (hauli_coro_is_stolen(co)) {
				take_out(d, at);
				continue;
			}
			/* A spawn message stays in the list, for the home to count it. */
		}
		at = &(*at)->next;
	}
	d->unsearched = at;
	return found;
}

static bool is_searched(const struct hauli_detached_mail *d)
{
	return !*d->unsearched && !d->reversal.left;
}

struct haul_coro *hauli_mail_steal(struct haul_carrier *v, bool (*may)(const void *item))
{
	struct hauli_detached_mail *d = &v->mail.detached;
	struct haul_coro *found;

	/* A pusher that rechecks sees its node or `stealable`: inbox.E5. */
	hauli_u8_owned_set(&d->stealable, true);
	if (!d->reversal.left)
		d->reversal.left = hauli_inbox_replace(&v->mail.inbox, &d->mark);
	reverse_some(d);
	found = search(d, may);
	hauli_u8_owned_set(&d->stealable, !is_searched(d));
	return found;
}

/* Takes out the oldest messages that are in order. */
static struct hauli_node *take_oldest(struct hauli_detached_mail *d)
{
	struct hauli_node *oldest = d->oldest, **at = &d->oldest;
	unsigned n = 0;

	for (; *at && n < HAULI_MAIL_MOST; n++)
		at = &(*at)->next;
	d->oldest = *at;
	*at = NULL;
	if (!d->oldest)
		d->end = &d->oldest;
	d->unsearched = &d->oldest; /* the link may have been handed out */
	return oldest;
}

/* The common case: nothing is detached, and all new mail is taken at once. NULL: there is none, or
 * some is left to be reversed. */
static inline struct hauli_node *take_few(struct haul_carrier *c)
{
	struct hauli_detached_mail *d = &c->mail.detached;
	struct hauli_reversal all = {.left = hauli_inbox_take(&c->mail.inbox)};

	if (hauli_likely(hauli_reverse(&all, &d->mark, HAULI_MAIL_MOST)))
		return all.oldest;
	d->reversal = all;
	return NULL;
}

/* Takes the oldest messages, from the inbox too if all that was detached before is in order. */
static inline struct hauli_node *take_some(struct haul_carrier *c)
{
	struct hauli_detached_mail *d = &c->mail.detached;
	struct hauli_node *some;

	if (hauli_likely(!d->oldest && !d->reversal.left)) {
		some = take_few(c);
	} else {
		if (!d->reversal.left)
			d->reversal.left = hauli_inbox_take(&c->mail.inbox);
		else
			hauli_inbox_was_woken(
				&c->mail.inbox); /* a thief took the mail that ended the sleep */
		reverse_some(d);
		some = take_oldest(d);
	}
	if (hauli_unlikely(d->oldest || d->reversal.left))
		hauli_inbox_keep(&c->mail.inbox, &d->mark);
	return some;
}

static struct hauli_node *take_some_shared(struct haul_carrier *c)
{
	struct hauli_node *some;

	hauli_ring_hold(&c->runq.ring);
	some = take_some(c);
	hauli_u8_owned_set(&c->mail.detached.stealable, !is_searched(&c->mail.detached));
	hauli_ring_release(&c->runq.ring);
	return some;
}

static void handle_all(struct haul_carrier *c, struct hauli_node *node)
{
	uint64_t n = 0;

	while (node) {
		struct hauli_msg *msg = msg_of(node);

		node = node->next; /* handle() may free the message or send it again */
		msg->kind->handle(c, msg);
		n++;
	}
	hauli_counter_add(&c->counts.messages, n);
}

void hauli_mail_receive_unshared(struct haul_carrier *c)
{
	struct hauli_node *some = take_some(c);

	hauli_traced_mail(c, some != NULL);
	handle_all(c, some);
}

void hauli_mail_receive(struct haul_carrier *c)
{
	struct hauli_node *some;

	if (!hauli_steals(c)) {
		hauli_mail_receive_unshared(c);
		return;
	}
	some = take_some_shared(c);
	hauli_traced_mail(c, some != NULL);
	handle_all(c, some);
}
