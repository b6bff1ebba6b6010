/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order among stolen coroutines, by the real order.c, stolen.c, suspend.c and run_batch() of
 * round.c, and the real ring: the owner runs batches of coroutines of one order key; one coroutine
 * ends without sending, one is pinned. A thief steals some, which come back in reverse. Senders
 * pass in the order of the ring, each once, and no coroutine waits for ever.
 *
 * order_back.c: the first coroutine hogs the thief, and the home takes back the rest.
 * order_home.c: the slices of stolen ones go on at home.
 * order_placed.c: slices at home yield in their midst.
 * order_again.c: they send twice.
 *
 * A slice is a call here: suspending returns from it. So order.c and round.c are compiled with a
 * switch that only records the next coroutine.
 */
#include "coro/coro.h"
#include "explorer.h"

static __attribute__((noinline)) void *run_slices(
	struct hauli_co *from, struct hauli_co *to, void *pass);
#define hauli_co_switch run_slices
#include "sched/mail/mail.h"
#include "sched/run/round.c"
#include "sched/steal/stolen.h"
#include "sched/wait/join.h"
#include "sched/wait/order.c"

#ifndef ORDER_STOLEN /* order_three.c has other values */
#define ORDER_NAME "order"
#define ORDER_COROS 4
#define ORDER_STOLEN 2
#define ORDER_BACK 1, 0 /* the first one stolen comes back last */
#define ORDER_DOES SENDS, DROPS, SENDS, SENDS
#define ORDER_KEY HAULI_ORDER_KEY_ASK
#endif

#ifndef ORDER_LEFT /* order_back.c: the stolen coroutine that its thief never runs */
#define ORDER_LEFT ORDER_STOLEN
#endif

enum { COROS = ORDER_COROS, STOLEN = ORDER_STOLEN, LEFT = ORDER_LEFT };

/* HOME: its home's thread comes first. YIELDS: it yields first, if it is not stolen. */
static const enum slice {
	SENDS,
	TWICE,
	DROPS,
	HOME_SENDS,
	HOME_DROPS,
	YIELDS_SENDS,
	YIELDS_DROPS,
} does[COROS] = {ORDER_DOES};
static const unsigned back[STOLEN] = {ORDER_BACK};

static struct {
	struct haul_carrier c;
	struct haul_coro co[COROS];
	struct hauli_stack stack; /* stands for that of each coroutine */
	struct hauli_co *next; /* the coroutine to run after the slice that just ended */
	uint64_t waited[COROS]; /* it could not enter */
	uint64_t went_home[COROS], yielded[COROS];
	struct hauli_waiter waiters[COROS];
	uint64_t next_to_pass, passed;
	_Atomic(void *) left; /* in the thief's ring */
	uint64_t closed[STOLEN]; /* set before the theft's number is known */
	uint64_t noted;
	uint64_t own_numbers; /* that the owner has given */
} m;

static unsigned index_of(const struct haul_coro *co)
{
	return (unsigned)(co - m.co);
}

/* Called before the slice, which may free the argument. */
static uint8_t number_of(const void *arg)
{
	const struct haul_coro *co = arg;

	MODEL_ASSERT(hauli_ctx_is_unstarted(&co->co.ctx));
	return 1;
}

static void init(void)
{
	struct haul_carrier *c = &m.c;

	c->steal.group = (struct hauli_group *)c; /* stealing is on; its contents are not read */
	hauli_inbox_init(&c->mail.inbox);
	hauli_ring_init(&c->runq.ring);
	/* No fenced pops, for fewer states: ring_fenced.c has them. */
	hauli_ring_set_lease(&c->runq.ring, 1);
	hauli_order_set_key_fn(c, number_of);
	c->runq.lifo_at = UINT32_MAX / 2;
	for (unsigned i = 0; i < COROS; i++) {
		hauli_ptr_published_set(&m.co[i].home, c);
		m.co[i].order_key = ORDER_KEY;
		m.co[i].arg = &m.co[i];
		m.co[i].co.ctx.pc = (void *)hauli_coro_start;
		m.co[i].co.stack = &m.stack;
		m.co[i].pinned = i == 3; /* a thief passes over it */
		hauli_ready(c, &m.co[i]);
		model_constant(&m.co[i].home, sizeof(m.co[i].home));
	}
	model_own(&c->runq.ring.head, sizeof(c->runq.ring.head), 0);
	model_own(&c->runq.ring.claim, sizeof(c->runq.ring.claim), 0);
	model_own(&c->runq.ring.tail, sizeof(c->runq.ring.tail), 0);
	model_own(&c->runq.ring.lifo_pushes, sizeof(c->runq.ring.lifo_pushes), 0);
	model_own(c->runq.ring.slots, sizeof(c->runq.ring.slots), 0);
	model_private(&c->runq.ring.capacity, sizeof(c->runq.ring.capacity), 0);
	model_private(&c->counts.slices, sizeof(c->counts.slices), 0);
	model_private(&c->counts.ended, sizeof(c->counts.ended), 0);
	model_private(&c->stacks, sizeof(c->stacks), 0);
	model_private(&m.stack, sizeof(m.stack), 0);
	for (unsigned i = 0; i < COROS; i++)
		model_private(&m.co[i].co.stack, sizeof(m.co[i].co.stack), 0);
}

static uint64_t ended(void)
{
	return hauli_counter_read(&m.c.counts.ended);
}

static void pass(struct haul_coro *co)
{
	MODEL_ASSERT(index_of(co) >= m.next_to_pass);
	m.next_to_pass = index_of(co) + 1;
	m.passed++;
}

/* In the same slice: nobody has passed since. */
static void send_again(struct haul_carrier *c, struct haul_coro *co, struct hauli_waiter *w)
{
	bool matters = hauli_order_matters(c, co);

	if (matters)
		hauli_order_enter(c, co, w);
	MODEL_ASSERT(hauli_coro_state(co) != HAULI_CORO_ORDER_WAIT);
	MODEL_ASSERT(m.next_to_pass == index_of(co) + 1);
	if (matters)
		hauli_order_leave(c, co, w);
}

/* As haul_send(): true if co has passed, false if it waits. */
static bool send(struct haul_carrier *c, struct haul_coro *co)
{
	uint64_t *waited = &m.waited[index_of(co)];
	struct hauli_waiter *w = &m.waiters[index_of(co)];

	co->pinned = true;
	if (!*waited && !hauli_order_matters(c, co)) {
		pass(co);
		if (does[index_of(co)] == TWICE)
			send_again(c, co, w);
		return true;
	}
	if (!*waited)
		hauli_order_enter(c, co, w);
	*waited = hauli_coro_state(co) == HAULI_CORO_ORDER_WAIT;
	if (*waited)
		return false;
	pass(co);
	hauli_order_leave(c, co, w);
	if (does[index_of(co)] == TWICE)
		send_again(c, co, w);
	return true;
}

static bool sends(unsigned i)
{
	return does[i] != DROPS && does[i] != HOME_DROPS && does[i] != YIELDS_DROPS;
}

/* A slice of a stolen coroutine, or its rest at home; run by its thief, or by its home after taking
 * it back. */
static void run_stolen(struct haul_coro *co, bool at_home)
{
	unsigned i = index_of(co);

	m.yielded[i] = true; /* if it sends, it is amid that when it comes home */
	co->back = HAULI_BACK_END;
	if ((does[i] == HOME_SENDS || does[i] == HOME_DROPS) && !at_home && !m.went_home[i]) {
		co->pinned = true;
		co->back = HAULI_BACK_SAME;
		m.went_home[i] = true;
	} else if (sends(i)) {
		co->pinned = true;
		co->back = HAULI_BACK_SEND;
	}
	hauli_stolen_send_home(NULL, co);
}

/* As end_slice() in placed.c. */
static void yield(struct haul_carrier *c, struct haul_coro *co)
{
	uint32_t taken = hauli_u32_published_get(&c->steal.orders.taken);

	m.yielded[index_of(co)] = true;
	co->pinned = true;
	MODEL_ASSERT(hauli_order_leave_behind(c, co));
	m.own_numbers += hauli_u32_published_get(&c->steal.orders.taken) != taken;
	hauli_stolen_mark(co);
	hauli_ring_close(&c->runq.ring);
	co->back = HAULI_BACK_LATER;
	hauli_stolen_send_home(NULL, co);
}

static struct haul_coro *begins;

struct haul_coro *haul_self(void)
{
	return begins;
}

static void slice(struct haul_carrier *c, struct haul_coro *co)
{
	unsigned i = index_of(co);

	if (hauli_ctx_is_unstarted(&co->co.ctx)) {
		begins = co;
		hauli_order_begins(c);
		co->co.ctx.pc = NULL;
	}
	if (hauli_coro_is_stolen(co))
		run_stolen(co, true);
	else if (does[i] >= YIELDS_SENDS && !m.yielded[i])
		yield(c, co);
	else if (sends(i) && !send(c, co))
		return;
	else
		hauli_coro_finish(c, co);
	m.next = hauli_next(c);
}

static void *run_slices(struct hauli_co *from, struct hauli_co *to, void *pass)
{
	m.next = to;
	if (from == &m.c.run.loop)
		while (m.next != from)
			slice(&m.c, (struct haul_coro *)m.next);
	return &m.c;
}

static void receive_back(void)
{
	struct hauli_node *node = hauli_inbox_drain(&m.c.mail.inbox);

	while (node) {
		struct haul_coro *co = (struct haul_coro *)((char *)node -
			offsetof(struct haul_coro, back_msg.node));

		node = node->next;
		hauli_stolen_is_back(&m.c, co);
	}
}

static void take_back(struct haul_carrier *c)
{
	struct haul_coro *co = atomic_exchange_explicit(&m.left, NULL, memory_order_acq_rel);

	if (!co)
		return;
	MODEL_ASSERT(hauli_coro_is_stealable(co));
	hauli_stolen_take(co);
	hauli_runq_push(&c->runq, hauli_entry_of_begun(co));
}

static void owner(void)
{
	struct haul_carrier *c = &m.c;

	while (ended() < COROS) {
		if (LEFT < STOLEN)
			take_back(c);
		if (!hauli_runq_is_empty(&c->runq)) {
			run_batch(c, HAULI_SLICES_PER_BATCH, true);
			/* The writes before each counted theft are visible here. */
			/* Ranks are even. */
			for (; m.noted + m.own_numbers < c->steal.orders.seen / 2; m.noted++)
				MODEL_ASSERT(m.closed[m.noted]);
			if (!hauli_inbox_is_empty(&c->mail.inbox))
				receive_back();
			continue;
		}
		if (hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_ASLEEP))
			hauli_inbox_wait(&c->mail.inbox, NULL);
		receive_back();
	}
}

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	if (hauli_inbox_push(&c->mail.inbox, &msg->node) == HAULI_INBOX_EMPTY)
		return true;
	hauli_inbox_wake(&c->mail.inbox);
	return false;
}

static bool may(const void *item)
{
	return hauli_coro_is_stealable(item);
}

/* As steal() in steal.c. */
static unsigned steal(struct haul_coro *stolen[], unsigned most)
{
	struct hauli_ring *r = &m.c.runq.ring;
	unsigned n = 0;

	if (!hauli_ring_try_steal(r))
		return 0;
	while (n < most && (stolen[n] = hauli_ring_steal(r, may)))
		n++;
	for (unsigned i = 0; i < n; i++) {
		m.closed[i] = 1;
		hauli_stolen_take(stolen[i]);
	}
	hauli_ring_end_steal(r);
	return n;
}

static void thief(void)
{
	struct haul_coro *stolen[STOLEN];
	unsigned n = steal(stolen, STOLEN);

	if (LEFT < n) {
		atomic_store_explicit(&m.left, stolen[LEFT], memory_order_release);
		if (hauli_inbox_rouse(&m.c.mail.inbox) != HAULI_INBOX_EMPTY)
			hauli_inbox_wake(&m.c.mail.inbox);
	}
	for (unsigned i = 0; i < STOLEN; i++)
		if (back[i] < n && back[i] != LEFT)
			run_stolen(stolen[back[i]], false);
}

static void check(void)
{
	uint64_t senders = 0;

	for (unsigned i = 0; i < COROS; i++)
		senders += sends(i);
	MODEL_ASSERT(ended() == COROS && m.passed == senders);
	MODEL_ASSERT(hauli_u64_owned_get(&m.c.steal.orders.members) == 0);
	MODEL_ASSERT(!m.c.steal.orders.of[0].remote && !m.c.steal.orders.of[0].line.first);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = ORDER_NAME,
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
