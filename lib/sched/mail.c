/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/mail.h"

#include "sched/carrier.h"
#include "sched/runtime.h"
#include "sched/wait.h"

void hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	switch (hauli_inbox_push(&c->inbox, &msg->node)) {
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

static void start(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_counter_add(&c->spawned, 1);
	if (c->phase != HAULI_RUNS)
		hauli_mark_set(&co->cancelled, true);
	if (co->poller)
		c->poller = co;
	hauli_ready(c, co);
}

static void cancel_if_home(struct hauli_co *slot, void *arg)
{
	struct haul_coro *co = (struct haul_coro *)slot;
	struct haul_carrier *c = arg;

	if (hauli_coro_home(co) == c)
		hauli_cancel_here(c, co);
}

static void stop(struct haul_carrier *c)
{
	c->phase = HAULI_DRAINS;
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
	case HAULI_MSG_STOP:
		stop(c);
		break;
	case HAULI_MSG_FINISH:
		c->phase = HAULI_FINISHED;
		break;
	}
}

void hauli_mail_receive(struct haul_carrier *c)
{
	struct hauli_node *node = hauli_inbox_drain(&c->inbox);
	uint64_t n = 0;

	while (node) {
		struct hauli_msg *msg = CONTAINER(node, struct hauli_msg, node);

		node = node->next; /* handled, the message may be gone or sent again */
		handle(c, msg);
		n++;
	}
	hauli_counter_add(&c->messages, n);
}
