/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two carriers send messages to each other in turn, and fall asleep in between; a third thread
 * looks whether they are quiet. When a look finds them so, the last message has been handled, and
 * it has the time of the timer that was armed last.
 */
#include "sched/look/quiet.c"

#include "explorer.h"

enum { Z, Y, CARRIERS };

#define TIMER_AT 7
#define MESSAGES 4 /* one less, and a look that counts no naps would be right */

static struct {
	struct haul_runtime rt;
	struct haul_carrier carriers[CARRIERS];
	struct hauli_cluster cluster;
	struct hauli_node nodes[MESSAGES];
	unsigned sent; /* by one carrier after the other */
	unsigned handled[CARRIERS];
	bool found;
} m;

static const unsigned expected[CARRIERS] = {MESSAGES / 2, MESSAGES / 2};

static void init(void)
{
	m.rt.carriers = m.carriers;
	m.rt.nb_carriers = CARRIERS;
	hauli_injector_init(&m.cluster.injector, NULL, 0);
	for (unsigned i = 0; i < CARRIERS; i++) {
		m.carriers[i].cluster = &m.cluster;
		hauli_inbox_init(&m.carriers[i].mail.inbox);
		hauli_u64_owned_set(&m.carriers[i].run.wakes_at, HAULI_NEVER);
	}
	(void)hauli_inbox_try_sleep(&m.carriers[Y].mail.inbox, HAULI_INBOX_ASLEEP);
	model_constant(&m.rt, sizeof(m.rt));
	model_constant(&m.cluster, sizeof(m.cluster));
}

/* By the carrier that has handled the message before, or Z, which begins. */
static void send_next(unsigned to)
{
	struct hauli_inbox *in = &m.carriers[to].mail.inbox;

	if (hauli_inbox_push(in, &m.nodes[m.sent++]) == HAULI_INBOX_ASLEEP) {
		hauli_inbox_wake(in);
		hauli_inbox_called(in);
	}
}

static void round_of(unsigned me)
{
	struct haul_carrier *c = &m.carriers[me];

	for (struct hauli_node *n = hauli_inbox_drain(&c->mail.inbox); n; n = n->next) {
		m.handled[me]++;
		if (m.sent < MESSAGES)
			send_next(!me);
	}
	if (me == Z && m.handled[Z] == expected[Z])
		hauli_u64_owned_set(&c->run.wakes_at, TIMER_AT);
}

/* As sleep_until_needed() in round.c. */
static bool falls_asleep(struct haul_carrier *c)
{
	hauli_u32_published_set(&c->run.sleeps, hauli_u32_published_get(&c->run.sleeps) + 1);
	return hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_ASLEEP);
}

static void carrier(unsigned me)
{
	struct haul_carrier *c = &m.carriers[me];

	for (;;) {
		if (c->mail.inbox.sleeps || falls_asleep(c)) {
			if (m.handled[me] == expected[me])
				return; /* it sleeps for ever */
			hauli_inbox_wait(&c->mail.inbox, NULL);
		}
		round_of(me);
	}
}

static void z(void)
{
	send_next(Y);
	carrier(Z);
}

static void y(void)
{
	carrier(Y);
}

static void looker(void)
{
	struct look look;

	if (!is_quiet(&m.rt, &look))
		return;
	m.found = true;
	MODEL_ASSERT(m.handled[Z] == expected[Z] && m.handled[Y] == expected[Y]);
	MODEL_ASSERT(look.next == &m.carriers[Z] && look.next_at == TIMER_AT);
}

/* When all sleep, a look finds that. */
static void check(void)
{
	struct look look;

	MODEL_ASSERT(is_quiet(&m.rt, &look) && look.next_at == TIMER_AT);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "quiet",
			.nb_threads = 3,
			.threads = {z, y, looker},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
