/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The injector: it holds a bulk of two, a putter adds another bulk; two members take one item
 * each and never check again, as if a hog kept them; a third member goes to sleep. If an item is
 * left at the end, the third member must be awake. (In the weak memory the first bulk has one
 * item, and one member takes it.)
 */
#include "conc/injector.h"

#include "explorer.h"

enum { SLEEPER, TAKERS = 2, MEMBERS = 3, BATCH = 2, ITEMS = 4 };

struct thing {
	struct hauli_item item;
	uint64_t number;
};

static struct {
	struct hauli_injector in;
	struct hauli_inbox inboxes[MEMBERS];
	struct hauli_inbox *members[MEMBERS];
	struct thing things[ITEMS];
	uint64_t ready; /* written by the sleeper before it sleeps, read by its waker */
	uint64_t got[TAKERS]; /* a bit for each number */
	uint64_t all; /* a bit for each item of a full result */
} m;

static void fill(unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++) {
		m.things[i].number = i;
		m.things[i].item.next = i + 1 < from + n ? &m.things[i + 1].item : NULL;
	}
	m.things[from].item.n = n;
}

static void init(void)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		hauli_inbox_init(&m.inboxes[i]);
		m.members[i] = &m.inboxes[i];
	}
	/* The takers' inboxes are left out: they do not sleep. */
	hauli_injector_init(&m.in, m.members, 1);
	m.all = model_is_reduced() ? 13 : 15;
	fill(0, model_is_reduced() ? 1 : BATCH);
	hauli_injector_put(&m.in, &m.things[0].item);
}

static void call(void)
{
	enum hauli_inbox_state slept;

	if (hauli_injector_rouse(&m.in, SLEEPER, &slept) < 0)
		return;
	MODEL_ASSERT(slept == HAULI_INBOX_ASLEEP);
	MODEL_ASSERT(m.ready == 1);
}

static void putter(void)
{
	fill(BATCH, BATCH);
	hauli_injector_put(&m.in, &m.things[BATCH].item);
	call();
}

static void take(unsigned me)
{
	struct thing *thing;

	if (!hauli_injector_try_open(&m.in))
		return;
	thing = (struct thing *)hauli_injector_take(&m.in, 1);
	hauli_injector_close(&m.in);
	call();
	if (!thing)
		return;
	MODEL_ASSERT(!thing->item.next);
	m.got[me] = UINT64_C(1) << thing->number;
	model_free(thing, sizeof(*thing));
}

static void taker_0(void)
{
	take(0);
}

static void taker_1(void)
{
	if (!model_is_reduced())
		take(1);
}

static void sleeper(void)
{
	m.ready = 1;
	if (hauli_inbox_try_sleep(&m.inboxes[SLEEPER], HAULI_INBOX_ASLEEP) &&
		!hauli_injector_may_sleep(&m.in))
		hauli_inbox_drain(&m.inboxes[SLEEPER]);
}

static uint64_t what_is_left(void)
{
	uint64_t numbers = 0;

	MODEL_ASSERT(hauli_injector_try_open(&m.in));
	for (struct hauli_item *i = hauli_injector_take(&m.in, ITEMS); i; i = i->next)
		numbers |= UINT64_C(1) << ((struct thing *)i)->number;
	return numbers;
}

static void check(void)
{
	bool asleep = hauli_inbox_is_asleep(&m.inboxes[SLEEPER]);
	uint64_t left = what_is_left();

	MODEL_ASSERT(!left || !asleep);
	MODEL_ASSERT((m.got[0] ^ m.got[1] ^ left) == m.all);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "injector",
			.nb_threads = 4,
			.threads = {sleeper, putter, taker_0, taker_1},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
