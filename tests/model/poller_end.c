/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a blocking poller, by the real life.c, mail.c, poller.c and sleep.c of lib/sched: a
 * thread sends its carrier a message, and the poller ends by that, parked once more. The thread may
 * still be about to call the wakeup then, and sends another message; only after that the slot is
 * free, and another poller's wakeup may be stored there.
 */
#include <stdatomic.h>

#include <haul/driver.h>

#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/spawn/life.h"
#include "sched/spawn/spawn.h"
#include "sched/state/self.h"
#include "sched/steal/stolen.h"
#include "sched/wait/join.h"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* its injector stays empty */
	struct haul_coro poller;
	struct hauli_msg last, more;
	_Atomic(uint64_t) woken; /* the wait's condition */
	bool is_last;
} m;

struct haul_carrier *hauli_here(void)
{
	return &m.c;
}

static void wakeup(void *arg)
{
	atomic_store_explicit(&m.woken, 1, memory_order_seq_cst /* a system call */);
}

static void another_wakeup(void *arg)
{
	model_fail("a poller is woken that has not parked");
}

static void finish(struct haul_carrier *c, struct hauli_msg *msg)
{
	m.is_last = true;
}

static void do_nothing(struct haul_carrier *c, struct hauli_msg *msg)
{
}

static const struct hauli_msg_kind last_msg = {.handle = finish};
static const struct hauli_msg_kind other_msg = {.handle = do_nothing};

static void init(void)
{
	struct haul_carrier *c = &m.c;

	c->cluster = &m.cluster;
	c->timers.next_at = HAULI_NEVER;
	hauli_inbox_init(&c->mail.inbox);
	hauli_detached_mail_init(&c->mail.detached);
	hauli_trylock_take(&c->poller.lock);
	c->poller.coro = c->current = &m.poller;
	c->poller.wakeup.fn = wakeup;
	m.poller.traits = HAULI_TRAIT_POLLER;
	hauli_u8_shared_init(&m.poller.flags, HAULI_FLAG_POLLER);
	m.last.kind = &last_msg;
	m.more.kind = &other_msg;
}

static void block(void)
{
	if (!haul_poller_try_park()) {
		hauli_mail_receive(&m.c);
		return;
	}
	if (haul_poller_can_park())
		model_await(&m.woken, 8, 1);
	haul_poller_unpark();
}

static void poller(void)
{
	while (!m.is_last)
		block();
	haul_poller_try_park();
	hauli_coro_exit(&m.c, &m.poller);
	if (hauli_trylock_take(&m.c.poller.lock))
		m.c.poller.wakeup.fn = another_wakeup;
}

static void sender(void)
{
	hauli_mail_send(&m.c, &m.last);
	hauli_mail_send(&m.c, &m.more);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a poller's end",
			.nb_threads = 2,
			.threads = {poller, sender},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}

/* In lib/sched/state/self.c; only its address is used. */
struct haul_carrier hauli_nowhere;
