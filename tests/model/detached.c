/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mail that a thief reads, by the real mail.c, spawn_remote.c, stolen.c and suspend.c. A returning
 * coroutine and a request are in the inbox, and a pusher sends a start. A thief steals twice; the
 * owner handles its mail, sleeps when it can, and steals back its own coroutines. Each coroutine is
 * made ready once, at home or at the thief; messages are handled in order; a sleeper is woken once.
 *
 * detached_hogged.c: the owner is hogged. A pusher that rechecks sees its node, unless the thief
 * has taken it. detached_rest.c: the owner and the thief do one message at a time; none is
 * there at first. detached_kept.c: the same without a thief, with the returning coroutine.
 */
#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/mail/spawn_remote.h"
#include "sched/state/group.h"
#include "sched/state/self.h"
#include "sched/steal/stolen.h"
#include "sched/wait/join.h"
#include "sched/wait/order.h"

#ifndef HOGGED /* detached_hogged.c */
#define HOGGED 0
#endif
#ifndef REST /* detached_rest.c */
#define REST 0
#endif
#ifndef KEPT /* detached_kept.c */
#define KEPT 0
#endif

enum { STARTS, COMES_BACK, STAYS, COROS };

static struct {
	struct haul_carrier c;
	struct hauli_group group;
	struct haul_coro co[COROS];
	_Atomic(void *) stolen; /* in the thief's ring */
	uint64_t ran[2]; /* number of runs at the thief */
	uint64_t granted;
	uint64_t saw; /* result of the pusher's recheck after its push */
	uint64_t said; /* not atomic: set by the thief before it takes the mail */
} m;

/* The request was sent before the start. */
static void handle_request(struct haul_carrier *c, struct hauli_msg *msg)
{
	MODEL_ASSERT(msg == &m.co[STAYS].request_msg);
	MODEL_ASSERT(hauli_counter_read(&c->counts.spawned) == 0);
	m.granted++;
}

static const struct hauli_msg_kind request = {.handle = handle_request};

/* No coroutine has an order key. */
void hauli_order_take(struct haul_carrier *v, struct haul_coro *co)
{
}

void hauli_order_withdraw(struct haul_carrier *c, struct haul_coro *co)
{
}

static void init(void)
{
	struct haul_carrier *c = &m.c;

	c->steal.group = &m.group; /* stealing is on, and no member sleeps */
	hauli_inbox_init(&c->mail.inbox);
	hauli_detached_mail_init(&c->mail.detached);
	hauli_ring_init(&c->runq.ring);
	c->runq.lifo_at = UINT32_MAX / 2;
	for (unsigned i = 0; i < COROS; i++)
		hauli_ptr_published_set(&m.co[i].home, c);
	m.co[STARTS].spawn_msg.kind = &hauli_spawn_msg;
	if (!REST || KEPT)
		hauli_stolen_take(&m.co[COMES_BACK]);
	m.co[STAYS].request_msg.kind = &request;
	if (!REST)
		hauli_mail_send(c, &m.co[STAYS].request_msg);
	if (!REST || KEPT)
		hauli_stolen_send_home(c, &m.co[COMES_BACK]);
	model_own(&c->runq.ring.head, sizeof(c->runq.ring.head), 0);
	model_private(&c->runq.ring.tail, sizeof(c->runq.ring.tail), 0);
	model_private(c->runq.ring.slots, sizeof(c->runq.ring.slots), 0);
	model_private(&c->runq.ring.capacity, sizeof(c->runq.ring.capacity), 0);
	model_private(&c->counts.spawned, sizeof(c->counts.spawned), 0);
	model_private(&c->counts.arrived, sizeof(c->counts.arrived), 0);
	model_private(&c->counts.messages, sizeof(c->counts.messages), 0);
	for (unsigned i = 0; i < COROS; i++)
		model_constant(&m.co[i].home, sizeof(m.co[i].home));
}

static void pusher(void)
{
	if (REST) /* the owner may sleep already */
		hauli_mail_send(&m.c, &m.co[STAYS].request_msg);
	hauli_mail_send(&m.c, &m.co[STARTS].spawn_msg);
	m.saw = hauli_mail_is_stealable(&m.c);
	if (!hauli_inbox_has_other(&m.c.mail.inbox, &m.c.mail.detached.mark) && HOGGED)
		MODEL_ASSERT(m.said);
}

static bool any(const void *item)
{
	return true;
}

static void run(struct hauli_entry *entry)
{
	struct haul_coro *co =
		hauli_entry_is_record(entry) ? hauli_entry_coro(entry) : hauli_entry_begun(entry);

	MODEL_ASSERT(co == &m.co[STARTS] || co == &m.co[COMES_BACK]);
	m.ran[co - m.co]++;
}

static struct haul_coro *steal(void)
{
	struct haul_coro *co;

	if (!hauli_ring_try_steal(&m.c.runq.ring))
		return NULL;
	co = hauli_mail_steal(&m.c, any);
	if (co)
		hauli_stolen_take(co);
	hauli_ring_end_steal(&m.c.runq.ring);
	return co;
}

/* Meanwhile the first coroutine waits in the thief's ring. */
static void thief(void)
{
	struct haul_coro *second;

	m.said = 1;
	atomic_store_explicit(&m.stolen, steal(), memory_order_release);
	second = HOGGED || REST ? NULL : steal();
	if (second)
		run(hauli_entry_of_begun(second));
}

#if HOGGED
#define NAME "detached mail, hogged"
#define THREADS pusher, thief

static void check(void)
{
	if (m.stolen)
		run(m.stolen);
	MODEL_ASSERT(m.saw || m.ran[STARTS] == 1);
}
#else
#define NAME (REST ? "detached mail, one message a call" : "detached mail")
#define THREADS owner, pusher, thief

static void steal_back(void)
{
	struct haul_coro *co = atomic_exchange_explicit(&m.stolen, NULL, memory_order_acq_rel);

	if (co)
		hauli_runq_push(&m.c.runq, hauli_entry_of_begun(co));
}

static bool has_all(void)
{
	return hauli_counter_read(&m.c.counts.spawned) == 1;
}

static void owner(void)
{
	struct haul_carrier *c = &m.c;

	while (!has_all()) {
		steal_back();
		if (has_all())
			break;
		if (hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_ASLEEP))
			hauli_inbox_wait(&c->mail.inbox, NULL);
		hauli_mail_receive(c);
	}
	if (!hauli_inbox_is_empty(&c->mail.inbox)) /* the mark */
		hauli_mail_receive(c);
}

static void check(void)
{
	struct hauli_ring *r = &m.c.runq.ring;

	if (m.stolen)
		run(m.stolen);
	for (uint32_t i = r->head; i != r->tail; i++)
		run(r->slots[i % HAULI_RING_SIZE]);
	MODEL_ASSERT(m.ran[STARTS] == 1 && m.ran[COMES_BACK] == (!REST || KEPT));
	MODEL_ASSERT(m.granted == 1);
	MODEL_ASSERT(hauli_counter_read(&m.c.counts.spawned) == 1);
	MODEL_ASSERT(hauli_inbox_is_quiesced(&m.c.mail.inbox));
	MODEL_ASSERT(!m.c.mail.detached.oldest && !m.c.mail.detached.reversal.left);
	MODEL_ASSERT(hauli_inbox_is_empty(&m.c.mail.inbox));
}
#endif

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){
			.name = NAME,
			.nb_threads = sizeof((void (*[])(void)){THREADS}) / sizeof(void *) - KEPT,
			.threads = {THREADS},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check,
		});
}
