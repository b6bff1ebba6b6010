/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/mail.h"

#include "conc/ring.h"
#include "sched/coroutine.h"

void hauli_mail_wake(struct haul_carrier *c, enum hauli_inbox_state slept)
{
	switch (slept) {
	case HAULI_INBOX_EMPTY:
		return;
	case HAULI_INBOX_ASLEEP:
		hauli_inbox_wake(&c->inbox);
		break;
	case HAULI_INBOX_POLLING_WAIT:
		c->poller_wakeup.fn(c->poller_wakeup.arg);
		break;
	}
	hauli_inbox_called(&c->inbox);
}

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept = hauli_inbox_push(&c->inbox, &msg->node);

	hauli_mail_wake(c, slept);
	return slept == HAULI_INBOX_EMPTY;
}

bool hauli_mail_send_asleep(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept = hauli_inbox_push_asleep(&c->inbox, &msg->node);

	hauli_mail_wake(c, slept);
	return slept != HAULI_INBOX_EMPTY;
}

/* Handles the detached mail's own message, which only marks the place of taken mail in the
 * inbox. */
static void do_nothing(struct haul_carrier *c, struct hauli_msg *msg)
{
}

static const struct hauli_msg_kind detached_msg = {.handle = do_nothing};

void hauli_detached_mail_init(struct hauli_detached_mail *detached)
{
	detached->oldest = NULL;
	detached->end = &detached->oldest;
	hauli_u8_owned_set(&detached->stealable, false);
	detached->msg.kind = &detached_msg;
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

static void take_out(struct hauli_detached_mail *detached, struct hauli_node *node)
{
	struct hauli_node **at = &detached->oldest;

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	if (detached->end == &node->next)
		detached->end = at;
}

/* Appends a list of messages. */
static void append(struct hauli_detached_mail *detached, struct hauli_node *node)
{
	for (*detached->end = node; node; node = node->next)
		detached->end = &node->next;
}

struct haul_coro *hauli_mail_steal(struct haul_carrier *v, bool (*may)(const void *item))
{
	struct hauli_detached_mail *detached = &v->detached;
	struct hauli_node **at = &detached->oldest, *node;
	struct haul_coro *found = NULL;
	bool more = false;

	/* A pusher that rechecks sees its node or `stealable`: inbox.E5. */
	hauli_u8_owned_set(&detached->stealable, true);
	append(detached, hauli_inbox_replace(&v->inbox, &detached->msg.node));
	while ((node = *at) && !more) {
		struct haul_coro *co = made_ready(msg_of(node));

		at = &node->next;
		if (!co || !may(co))
			continue;
		more = found != NULL;
		if (found)
			continue;
		found = co;
	}
	hauli_u8_owned_set(&detached->stealable, more);
	if (found && hauli_coro_is_stolen(found))
		take_out(detached, &found->back_msg.node);
	/* A start message stays: the home counts it. */
	return found;
}

/* Drains the detached mail and, behind it, the inbox. */
static struct hauli_node *drain_detached_first(struct haul_carrier *c)
{
	struct hauli_detached_mail *detached = &c->detached;
	struct hauli_node *new, *oldest;

	hauli_ring_hold(&c->runq.ring);
	new = hauli_inbox_drain(&c->inbox);
	append(detached, new == &detached->msg.node ? new->next : new);
	oldest = detached->oldest;
	hauli_detached_mail_init(detached);
	hauli_ring_release(&c->runq.ring);
	return oldest;
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
	hauli_counter_add(&c->messages, n);
}

void hauli_mail_receive_unshared(struct haul_carrier *c)
{
	handle_all(c, hauli_inbox_drain(&c->inbox));
}

void hauli_mail_receive(struct haul_carrier *c)
{
	if (hauli_steals(c))
		handle_all(c, drain_detached_first(c));
	else
		hauli_mail_receive_unshared(c);
}
