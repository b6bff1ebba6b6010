/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a carrier, by the real mail.c, round.c and sleep.c: it sleeps, a thread sends it its
 * last message, and it ends by that. The thread may still have to wake it then; the carrier may be
 * freed only after that.
 */
#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/run/round.c"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* its injector stays empty */
	struct hauli_msg last;
} m;

static void finish(struct haul_carrier *c, struct hauli_msg *msg)
{
	m.c.phase = HAULI_PHASE_FINISHED;
}

static const struct hauli_msg_kind last_msg = {.handle = finish};

static void init(void)
{
	struct haul_carrier *c = &m.c;

	c->cluster = &m.cluster;
	c->timers.next_at = HAULI_NEVER;
	hauli_inbox_init(&c->mail.inbox);
	hauli_detached_mail_init(&c->mail.detached);
	m.last.kind = &last_msg;
}

static void carrier(void)
{
	hauli_round_main(&m.c);
	hauli_fence_full(); /* stands for the join, after which the carrier is freed */
	model_free(&m.c, sizeof(m.c));
}

static void sender(void)
{
	hauli_mail_send(&m.c, &m.last);
}

/* Per-thread state of a coroutine runner. */
void hauli_self_set(struct haul_carrier *c)
{
}

void hauli_co_init_thread(struct hauli_co *co)
{
}

void hauli_co_fini_thread(struct hauli_co *co)
{
}

struct hauli_exceptions *hauli_exceptions_here(void)
{
	return NULL;
}

void hauli_overflow_thread_init(void)
{
}

void hauli_locals_release(struct haul_carrier *c)
{
}

void hauli_overflow_thread_fini(void)
{
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a carrier's end",
			.nb_threads = 2,
			.threads = {carrier, sender},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
