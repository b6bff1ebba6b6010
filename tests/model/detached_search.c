/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of one thread after another, as owner and as thief, with a bound of two messages a call: a
 * thief finds a start behind requests, also after the owner has handled some of them.
 */
#define HAULI_MAIL_MOST 2
#include "sched/mail/mail.c"

#include "explorer.h"
#include "sched/mail/spawn_remote.h"
#include "sched/state/group.h"

#define REQUESTS 5

static struct {
	struct haul_carrier c;
	struct hauli_group group;
	struct hauli_msg requests[REQUESTS];
	struct haul_coro first, second;
	uint64_t handled;
} m;

static void handle_request(struct haul_carrier *c, struct hauli_msg *msg)
{
	MODEL_ASSERT(msg == &m.requests[m.handled]);
	m.handled++;
	msg->node.next = NULL; /* its sender's again */
}

static const struct hauli_msg_kind request = {.handle = handle_request};

static void init(void)
{
	m.c.steal.group = &m.group;
	hauli_inbox_init(&m.c.mail.inbox);
	hauli_detached_mail_init(&m.c.mail.detached);
	hauli_ring_init(&m.c.runq.ring);
	m.c.runq.lifo_at = UINT32_MAX / 2;
	for (unsigned i = 0; i < REQUESTS; i++)
		m.requests[i].kind = &request;
}

static bool any(const void *item)
{
	return true;
}

static void send_start(struct haul_coro *co)
{
	hauli_ptr_published_set(&co->home, &m.c);
	co->spawn_msg.kind = &hauli_spawn_msg;
	hauli_mail_send(&m.c, &co->spawn_msg);
}

/* As thieves, until there is nothing to search. */
static struct haul_coro *steal(void)
{
	struct haul_coro *co = NULL;

	while (!co && hauli_mail_is_stealable(&m.c)) {
		MODEL_ASSERT(hauli_ring_try_steal(&m.c.runq.ring));
		co = hauli_mail_steal(&m.c, any);
		if (co)
			hauli_u8_shared_set_bits(&co->flags, HAULI_FLAG_STOLEN);
		hauli_ring_end_steal(&m.c.runq.ring);
	}
	return co;
}

static void steps(void)
{
	for (unsigned i = 0; i < REQUESTS; i++)
		hauli_mail_send(&m.c, &m.requests[i]);
	MODEL_ASSERT(!steal());
	hauli_mail_receive(&m.c);
	MODEL_ASSERT(m.handled == HAULI_MAIL_MOST);
	send_start(&m.first);
	MODEL_ASSERT(steal() == &m.first);
	hauli_mail_receive(&m.c);
	MODEL_ASSERT(!steal());
	while (m.handled < REQUESTS)
		hauli_mail_receive(&m.c);
	send_start(&m.second);
	MODEL_ASSERT(steal() == &m.second);
	MODEL_ASSERT(!steal());
	while (hauli_counter_read(&m.c.counts.spawned) < 2)
		hauli_mail_receive(&m.c);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "mail that thieves search",
			.nb_threads = 1,
			.threads = {steps},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
