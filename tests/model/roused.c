/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sleeping carriers, by the real cluster.c, mail.c, round.c and sleep.c. A thread puts a batch
 * of one into the injector and then starts a hog on the first carrier, possibly the carrier roused
 * for the batch, which then runs the hog and never checks again. The batch must be taken all the
 * same; else the search finds the other carrier asleep for ever.
 *
 * A slice is a call here, as in order.c, and no time passes.
 */
#include "base/clock.h"
#include "coro/coro.h"
#include "explorer.h"

static __attribute__((noinline)) void *run_slices(
	struct hauli_co *from, struct hauli_co *to, void *pass);
#define hauli_co_switch run_slices
#define hauli_ticks() UINT64_C(0)
#include "sched/mail/mail.h"
#include "sched/mail/spawn_remote.h"
#include "sched/run/round.c"
#include "sched/wait/request.h"

enum { HOGGED, OTHER, CARRIERS };

static struct {
	struct haul_carrier c[CARRIERS];
	struct hauli_cluster cluster;
	struct haul_carrier *members[CARRIERS];
	struct hauli_inbox *inboxes[CARRIERS];
	struct haul_coro hog, task;
	uint64_t runs; /* number of the task's runs */
} m;

static void handle_finish(struct haul_carrier *c, struct hauli_msg *msg)
{
	c->phase = HAULI_PHASE_FINISHED;
}

static const struct hauli_msg_kind finish = {.handle = handle_finish};

static void init_carrier(unsigned i)
{
	struct haul_carrier *c = &m.c[i];

	c->cluster = &m.cluster;
	c->cluster_idx = i;
	c->stop.finish_msg.kind = &finish;
	c->spawn.path = HAULI_PATH_FAST;
	c->run.round_ticks = 1;
	c->run.slices_per_batch = HAULI_SLICES_PER_BATCH;
	c->runq.lifo_at = UINT32_MAX / 2;
	c->timers.next_at = HAULI_NEVER;
	hauli_inbox_init(&c->mail.inbox);
	hauli_detached_mail_init(&c->mail.detached);
	hauli_ring_init(&c->runq.ring);
	m.members[i] = c;
	m.inboxes[i] = &c->mail.inbox;
	model_private(&c->runq, sizeof(c->runq), i);
	model_private(&c->counts.rounds,
		offsetof(struct haul_carrier, mail) - offsetof(struct haul_carrier, counts), i);
	model_constant(&c->cluster, sizeof(c->cluster));
}

static const struct hauli_prototype prototype = {.in_coro = true};

static void init(void)
{
	m.cluster.nb_members = CARRIERS;
	m.cluster.members = m.members;
	m.cluster.inboxes = m.inboxes;
	hauli_injector_init(&m.cluster.injector, m.inboxes, CARRIERS);
	for (unsigned i = 0; i < CARRIERS; i++)
		init_carrier(i);
	hauli_inbox_try_sleep(&m.c[HOGGED].mail.inbox, HAULI_INBOX_ASLEEP);
	if (model_is_reduced())
		hauli_inbox_try_sleep(&m.c[OTHER].mail.inbox, HAULI_INBOX_ASLEEP);
	model_constant(m.members, sizeof(m.members));
	model_constant(m.inboxes, sizeof(m.inboxes));
	m.task.item.n = 1;
	hauli_coro_set_state(&m.task, HAULI_CORO_HOMELESS);
	hauli_ptr_published_set(&m.hog.home, &m.c[HOGGED]);
	m.hog.record.prototype = m.task.record.prototype = &prototype;
	m.hog.spawn_msg.kind = &hauli_spawn_msg;
	model_constant(&m.hog.home, sizeof(m.hog.home));
	model_private(&m.hog.flags, sizeof(m.hog.flags), HOGGED);
	model_private(&m.hog.state, sizeof(m.hog.state), HOGGED);
	model_private(&m.cluster.injector.ticket, sizeof(m.cluster.injector.ticket), CARRIERS);
}

struct hauli_co *hauli_record_is_next(struct haul_carrier *c, struct hauli_entry *entry)
{
	return hauli_context_of(c, hauli_entry_coro(entry));
}

/* The task tells the other carrier that no more work will come. */
static void slice(struct haul_carrier *c, struct haul_coro *co)
{
	struct haul_carrier *other = &m.c[c == &m.c[HOGGED] ? OTHER : HOGGED];

	if (co == &m.task) {
		m.runs++;
		hauli_mail_send(other, &other->stop.finish_msg);
	}
	c->phase = HAULI_PHASE_FINISHED; /* the hog never ends */
}

static void *run_slices(struct hauli_co *from, struct hauli_co *to, void *pass)
{
	struct haul_carrier *c = pass;

	while (to != &c->run.loop) {
		slice(c, (struct haul_coro *)to);
		to = hauli_next(c);
	}
	return c;
}

static void run(struct haul_carrier *c)
{
	while (c->phase != HAULI_PHASE_FINISHED)
		round_once(c, false);
}

static void hogged(void)
{
	hauli_inbox_wait(&m.c[HOGGED].mail.inbox, NULL);
	hauli_sleep_end(&m.c[HOGGED]);
	run(&m.c[HOGGED]);
}

static void other(void)
{
	if (model_is_reduced()) {
		hauli_inbox_wait(&m.c[OTHER].mail.inbox, NULL);
		hauli_sleep_end(&m.c[OTHER]);
	}
	run(&m.c[OTHER]);
}

static void putter(void)
{
	hauli_cluster_put(&m.cluster, &m.task.item);
	hauli_mail_send(&m.c[HOGGED], &m.hog.spawn_msg);
}

static void check(void)
{
	MODEL_ASSERT(m.runs == 1);
	MODEL_ASSERT(hauli_injector_is_empty(&m.cluster.injector));
}

/* The task gets no request. */
void hauli_requests_here(struct haul_carrier *c, struct haul_coro *co)
{
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "roused for a batch, and hogged",
			.nb_threads = 3,
			.threads = {hogged, other, putter},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
