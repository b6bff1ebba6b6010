/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/mail.h"

#include "sched/carrier.h"
#include "sched/cluster.h"
#include "sched/runtime.h"
#include "sched/steal.h"
#include "sched/stolen.h"
#include "sched/wait.h"

void hauli_mail_wake(struct haul_carrier *c, enum hauli_inbox_state slept)
{
	switch (slept) {
	case HAULI_INBOX_EMPTY:
		return;
	case HAULI_INBOX_ASLEEP:
		hauli_inbox_wake(&c->inbox);
		break;
	case HAULI_INBOX_AWAY:
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

static void start(struct haul_carrier *c, struct haul_coro *co)
{
	HAUL_CHECK(c->phase == HAULI_RUNS); /* stop() */
	hauli_counter_add(&c->spawned, 1);
	hauli_counter_add(&c->arrived, 1);
	if (hauli_unlikely(co->poller)) {
		c->poller = co;
		if (hauli_steals(c))
			hauli_mark_add(&co->marks, HAULI_MARK_PULLS);
	}
	hauli_ready(c, co); /* or it was stolen, and runs before it was announced */
}

static void cancel_if_home(struct hauli_co *slot, void *arg)
{
	struct haul_coro *co = (struct haul_coro *)slot;
	struct haul_carrier *c = arg;

	if (hauli_coro_home(co) != c)
		return;
	c->unjoined += hauli_coro_is_unjoined(co);
	hauli_cancel_here(c, co);
}

/*
 * All coroutines that this carrier will ever be the home of are at home by now, and are cancelled
 * here. A spawner sends a start, or puts a batch into the cluster's intake, within the runtime's
 * gate (spawn.c, batch.c), and the stop is sent when the gate is closed and quiet. The inbox and
 * the stash keep the order of pushes, so all starts have come before the stop; and this carrier
 * takes what is in the intake now, or another carrier has it.
 */
static void stop(struct haul_carrier *c)
{
	c->phase = HAULI_DRAINS;
	hauli_mark_set(&c->stop_step, HAULI_STOP_SEEN);
	c->spawns = HAULI_WITH_CARE;
	hauli_cluster_fetch_all(c);
	hauli_stacks_for_each(c->rt->stacks, cancel_if_home, c);
}

#define CONTAINER(msg, type, field) ((type *)((char *)(msg)-offsetof(type, field)))

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	switch (msg->kind) {
	case HAULI_MSG_START:
		start(c, CONTAINER(msg, struct haul_coro, start_msg));
		break;
	case HAULI_MSG_REQUEST:
		hauli_requests_here(c, CONTAINER(msg, struct haul_coro, request_msg));
		break;
	case HAULI_MSG_JOIN: {
		struct hauli_join *j = CONTAINER(msg, struct hauli_join, msg);

		if (hauli_join_here(c, j))
			hauli_join_wake(c, j);
		break;
	}
	case HAULI_MSG_BACK:
		hauli_stolen_is_back(c, CONTAINER(msg, struct haul_coro, back_msg));
		break;
	case HAULI_MSG_SEARCH:
		hauli_steal_search(c, CONTAINER(msg, struct hauli_search, msg));
		break;
	case HAULI_MSG_STASH: /* was taken out */
		break;
	case HAULI_MSG_CALL: {
		struct hauli_call *call = CONTAINER(msg, struct hauli_call, msg);

		call->fn(call);
		break;
	}
	case HAULI_MSG_STOP:
		stop(c);
		break;
	case HAULI_MSG_FINISH:
		c->phase = HAULI_FINISHED;
		break;
	}
}

void hauli_stash_init(struct hauli_stash *stash)
{
	stash->oldest = NULL;
	stash->end = &stash->oldest;
	hauli_mark_set(&stash->stealable, false);
	stash->msg.kind = HAULI_MSG_STASH;
}

static struct hauli_msg *msg_of(struct hauli_node *node)
{
	return CONTAINER(node, struct hauli_msg, node);
}

/* The coroutine that a message makes ready, or NULL. */
static struct haul_coro *made_ready(struct hauli_msg *msg)
{
	struct haul_coro *co;

	switch (msg->kind) {
	case HAULI_MSG_START:
		co = CONTAINER(msg, struct haul_coro, start_msg);
		return hauli_coro_is_stolen(co) ? NULL : co;
	case HAULI_MSG_BACK:
		co = CONTAINER(msg, struct haul_coro, back_msg);
		return co->back == HAULI_BACK_YIELD ? co : NULL;
	default:
		return NULL;
	}
}

static void take_out(struct hauli_stash *stash, struct hauli_node *node)
{
	struct hauli_node **at = &stash->oldest;

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	if (stash->end == &node->next)
		stash->end = at;
}

/* Behind what is there. */
static void append(struct hauli_stash *stash, struct hauli_node *node)
{
	for (*stash->end = node; node; node = node->next)
		stash->end = &node->next;
}

struct haul_coro *hauli_mail_rob(struct haul_carrier *v, bool (*may)(const void *item))
{
	struct hauli_stash *stash = &v->stash;
	struct hauli_node **at = &stash->oldest, *node;
	struct haul_coro *found = NULL;
	bool more = false;

	/* Who has pushed and looks finds that there, or then this, until it is taken:
	 * inbox.E5. */
	hauli_mark_set(&stash->stealable, true);
	append(stash, hauli_inbox_replace(&v->inbox, &stash->msg.node));
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
	hauli_mark_set(&stash->stealable, more);
	if (found && hauli_coro_is_stolen(found))
		take_out(stash, &found->back_msg.node);
	/* A start stays, for the home to count it. */
	return found;
}

/* What thieves have gone through, and then what is new. */
static struct hauli_node *drain_with_stash(struct haul_carrier *c)
{
	struct hauli_stash *stash = &c->stash;
	struct hauli_node *new, *oldest;

	hauli_ring_hold(&c->runq.ring);
	new = hauli_inbox_drain(&c->inbox);
	append(stash, new == &stash->msg.node ? new->next : new);
	oldest = stash->oldest;
	hauli_stash_init(stash);
	hauli_ring_release(&c->runq.ring);
	return oldest;
}

static void handle_all(struct haul_carrier *c, struct hauli_node *node)
{
	uint64_t n = 0;

	while (node) {
		struct hauli_msg *msg = CONTAINER(node, struct hauli_msg, node);

		node = node->next; /* handled, the message may be gone or sent again */
		handle(c, msg);
		n++;
	}
	hauli_counter_add(&c->messages, n);
}

void hauli_mail_receive_plainly(struct haul_carrier *c)
{
	handle_all(c, hauli_inbox_drain(&c->inbox));
}

void hauli_mail_receive(struct haul_carrier *c)
{
	if (hauli_steals(c))
		handle_all(c, drain_with_stash(c));
	else
		hauli_mail_receive_plainly(c);
}

void hauli_mail_get_up(struct haul_carrier *c)
{
	if (hauli_steals(c))
		hauli_steal_got_up(c);
	hauli_mail_receive(c);
	if (hauli_cluster_waits(c))
		hauli_cluster_got_up(c);
}
