/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hibernation: which coroutines freeze (coro/frozen.h), when, and on whose time.
 *
 * Who: those that are spawned for it, and wait in haul_park() or haul_sleep(). Nobody else uses
 * their stack then: that the program's own pointers do not, the spawner has promised; and haul has
 * none. All that these two waits need is in struct haul_coro. The other kinds of waits have data on
 * the stack that others write (a join, a block, a place in an order): they do not freeze. Nor does
 * a coroutine with an extent on its stack, which its home and its children read; one that inherits
 * its extents may, and so may a child on another carrier, whose own one lies on the heap. No
 * coroutine with marks freezes, because its stack is to tell how deep it was.
 *
 * When: each carrier has a coroutine, the hibernator, that visits all coroutines at home, in
 * passes, four in the time after which they freeze. A wait notes when it began, in real time
 * (hauli_coro_waits()); a pass compares that with the beginning of the pass four before, so it is
 * right in virtual time, too. Each step is a slice of some 5 us, and one a round: it sleeps for no
 * time in between. One whose call stack has to be unwound, because their table is full, ends the
 * step.
 *
 * No step of a protocol is new. Freezing and all decisions are the home's, on its thread, between
 * slices: a coroutine that waits has its context saved, and nobody but the home ends its wait. The
 * frozen context is published by what publishes any: a ready coroutine goes through the run queue,
 * also to a thief, which thaws it on its own thread and frees the copy to its own cache (a slab
 * takes objects from any). One that waits is not stolen.
 *
 * Rest: a runtime is quiet if no timer is armed (look/quiet.c), so a hibernator that has nothing to
 * wait for must not sleep but park: after a pass that has found nobody who may freeze later. The
 * carrier wakes it when it is about to sleep and has run anything since, or read a message: by one
 * a stolen coroutine comes home to wait. A carrier with a poller may never sleep, and is never
 * quiet: there the hibernator does not rest.
 *
 * Tests: tests/unit/hibernate.c, hibernator.c, hibernate_random.c.
 */
#include "sched/run/hibernate.h"

#include <errno.h>
#include <stdlib.h>

#include "coro/frozen.h"
#include "sched/spawn/spawn.h"
#include "sched/state/carrier.h"
#include "sched/state/held.h"
#include "sched/wait/extent.h"

/* Sizes of copies, the frozen form included: steps of 64 bytes up to 1 KiB, then powers of two. */
#define STEP 64
#define FINE 16
#define CLASSES (FINE + 4)
#define PASSES 4 /* in the time after which coroutines freeze */
#define SHORTEST (HAUL_MS / PASSES) /* between two passes */
/* Of one slice. */
#define VISITED 32
#define WORK 3 /* coroutines that freeze, or one whose call stack had to be unwound */

_Static_assert(sizeof(struct hauli_frozen) + HAULI_FROZEN_MOST / 64 + HAULI_FROZEN_MOST <=
		(STEP * FINE << (CLASSES - FINE)),
	"the largest class");

struct hauli_hibernation {
	uint64_t interval_ns; /* between two passes */
	struct hauli_slab *copies[CLASSES];
};

struct hauli_hibernator {
	struct hauli_slab_cache copies[CLASSES];
	struct hauli_frozen_ats ats;
	struct hauli_stack_release release;
	struct haul_coro *coro;
	bool rests;
	uint32_t slices; /* its own */
	uint32_t ran; /* others_ran() when this pass began */
	uint32_t began[PASSES]; /* the last passes, the latest first; hauli_since() */
	uint64_t soon; /* ticks: one with an earlier timer is not worth it */
	struct hauli_slab_walk walk;
	unsigned frozen, work; /* in this step */
	bool waits_for_some; /* this pass has found one that may freeze later */
};

static size_t size_of(unsigned cls)
{
	return cls < FINE ? STEP * (cls + 1) : (size_t)STEP * FINE << (cls - FINE + 1);
}

static unsigned class_of(size_t size)
{
	unsigned cls = size <= STEP * FINE ? (unsigned)((size - 1) / STEP) : FINE;

	while (size_of(cls) < size)
		cls++;
	return cls;
}

static size_t head(void)
{
	return HAUL_CHECKS ? sizeof(struct hauli_held) : sizeof(struct hauli_stack);
}

static __attribute__((no_sanitize_address)) HAULI_MAY_RACE void thaw(
	void *pass, struct hauli_frozen *f)
{
	struct haul_carrier *c = pass;
	struct hauli_co *co = f->co;

	hauli_frozen_restore(f);
	hauli_frozen_at_put(f->at);
	hauli_counter_add(&c->counts.thaws, 1);
	hauli_slab_put(&c->hibernator->copies[f->cls], f);
	hauli_frozen_go_on(co, pass);
}

static bool has_extent_on_stack(const struct haul_coro *co)
{
	const struct hauli_stack *stack = co->co.stack;
	const struct hauli_extent *f = hauli_extent_of(co);
	bool on_stack = false;

	for (; !on_stack && f && f->owner == co; f = f->outer)
		on_stack = (uintptr_t)f >= (uintptr_t)hauli_stack_lo(stack) &&
			(uintptr_t)f < (uintptr_t)stack;
	return on_stack;
}

static bool is_private(const struct haul_coro *co)
{
	enum hauli_coro_state kind = hauli_coro_kind(co);

	return (kind == HAULI_CORO_PARKED || kind == HAULI_CORO_SLEEPING) &&
		!has_extent_on_stack(co) && !(co->co.stack->checks & HAULI_STACK_MARKED);
}

static bool is_woken_soon(const struct hauli_hibernator *h, const struct haul_coro *co)
{
	return (hauli_coro_state(co) & HAULI_CORO_ARMED) && co->timer.at < h->soon;
}

/* co has waited since before the pass PASSES ago. */
static bool has_waited_long(const struct hauli_hibernator *h, const struct haul_coro *co)
{
	return (int32_t)(h->began[PASSES - 1] - co->timer.since) > 0;
}

/* No memory, or too many live bytes: does nothing. */
static void freeze(struct haul_carrier *c, struct haul_coro *co)
{
	struct hauli_hibernator *h = c->hibernator;
	size_t size = hauli_frozen_size(&co->co, head());
	struct hauli_frozen_at *at = size > 0 ? hauli_frozen_at(&h->ats, &co->co) : NULL;
	struct hauli_frozen *f = at ? hauli_slab_get(&h->copies[class_of(size)]) : NULL;

	if (at && !f)
		hauli_frozen_at_put(at);
	if (!f)
		return;
	f->cls = class_of(size);
	c->freezes = co;
	asm volatile("" : : : "memory");
	hauli_freeze(f, &co->co, head(), at, thaw);
	asm volatile("" : : : "memory");
	c->freezes = NULL;
	if (!HAULI_ASAN && !HAULI_TSAN)
		hauli_stack_release(c->rt->stacks, &h->release, co->co.stack);
	h->frozen++;
	h->work += at->alone ? WORK : 1;
}

static void visit(void *object, void *arg)
{
	struct haul_coro *co = object;
	struct haul_carrier *c = arg;
	struct hauli_hibernator *h = c->hibernator;

	if (hauli_coro_home(co) != c || !(co->traits & HAULI_TRAIT_HIBERNATES))
		return;
	if (!hauli_state_waits(hauli_coro_state(co)) || hauli_frozen_of(&co->co))
		return;
	if (!is_private(co) || is_woken_soon(h, co))
		return;
	if (!has_waited_long(h, co))
		h->waits_for_some = true;
	else
		freeze(c, co);
}

/* False: that was the last step of the pass. */
static bool step(struct haul_carrier *c)
{
	struct hauli_hibernator *h = c->hibernator;
	bool more = true;

	h->frozen = h->work = 0;
	for (unsigned n = 0; more && n < VISITED && h->work < WORK; n++)
		more = hauli_slab_walk(c->rt->coros, &h->walk, 1, visit, c);
	hauli_stack_release_flush(&h->release);
	hauli_counter_add(&c->counts.hibernations, h->frozen);
	return more;
}

/* Changes when c runs a coroutine other than its hibernator, or one begins there; and with each
 * message, as one that was stolen may come home to wait. */
static uint32_t others_ran(const struct haul_carrier *c)
{
	return hauli_ring_popped(&c->runq.ring) + (uint32_t)hauli_counter_read(&c->counts.spawned) +
		(uint32_t)hauli_counter_read(&c->counts.messages) - c->hibernator->slices;
}

static void begin_pass(struct haul_carrier *c)
{
	struct hauli_hibernator *h = c->hibernator;

	for (unsigned i = PASSES - 1; i > 0; i--)
		h->began[i] = h->began[i - 1];
	h->began[0] = hauli_since(hauli_ticks());
	h->soon = hauli_timer_ticks() + hauli_ticks_from_ns(c->rt->hibernation->interval_ns);
	h->walk = (struct hauli_slab_walk){0};
	h->ran = others_ran(c);
	h->waits_for_some = false;
}

static bool may_rest(const struct haul_carrier *c)
{
	const struct hauli_hibernator *h = c->hibernator;

	return !h->waits_for_some && others_ran(c) == h->ran &&
		(c->virtual_time || !hauli_trylock_is_taken(&c->poller.lock));
}

/* The end of a slice: 0 or -ECANCELED. */
static int pause(struct haul_carrier *c, uint64_t ns)
{
	int err = haul_sleep(ns);

	c->hibernator->slices++;
	return err;
}

static int rest(struct haul_carrier *c)
{
	struct hauli_hibernator *h = c->hibernator;
	int err;

	h->rests = true;
	err = haul_park(HAUL_FOREVER);
	h->rests = false;
	h->slices++;
	return err;
}

bool hauli_hibernator_wakes(struct haul_carrier *c)
{
	struct hauli_hibernator *h = c->hibernator;

	if (!h->rests || others_ran(c) == h->ran)
		return false;
	haul_unpark(h->coro);
	return true;
}

void hauli_hibernator_rouse(struct haul_carrier *c)
{
	/* Until the gate is closed and quiet no stop ends the hibernator. */
	if (!hauli_gate_enter(&c->rt->gate))
		return;
	haul_unpark(c->hibernator->coro);
	hauli_gate_leave(&c->rt->gate);
}

static void *hibernate(void *arg)
{
	struct haul_carrier *c = arg;
	uint64_t interval_ns = c->rt->hibernation->interval_ns;

	c->hibernator->slices = 1;
	while (pause(c, interval_ns) == 0) {
		begin_pass(c);
		while (step(c))
			if (pause(c, 0))
				return NULL;
		if (may_rest(c) && rest(c))
			return NULL;
	}
	return NULL;
}

int hauli_hibernation_start(struct haul_runtime *rt)
{
	static const struct haul_coro_opts opts = {.name = "hibernator", .pinned = true};
	int err = 0;

	for (unsigned i = 0; rt->hibernation && err == 0 && i < rt->nb_carriers; i++) {
		struct haul_carrier *c = &rt->carriers[i];

		err = haul_spawn_on(c, &c->hibernator->coro, hibernate, c, &opts);
		if (err == 0)
			haul_detach(c->hibernator->coro);
	}
	return err;
}

static int slabs_init(struct haul_runtime *rt)
{
	int err = 0;

	for (unsigned cls = 0; err == 0 && cls < CLASSES; cls++)
		err = hauli_slab_create(&rt->hibernation->copies[cls], size_of(cls));
	return err;
}

static int hibernator_init(struct haul_carrier *c)
{
	struct hauli_hibernator *h = calloc(1, sizeof(*h));
	uint32_t now = hauli_since(hauli_ticks());

	if (!h)
		return -ENOMEM;
	for (unsigned cls = 0; cls < CLASSES; cls++)
		hauli_slab_cache_init(&h->copies[cls], c->rt->hibernation->copies[cls]);
	for (unsigned i = 0; i < PASSES; i++)
		h->began[i] = now;
	c->hibernator = h;
	return 0;
}

int hauli_hibernation_init(struct haul_runtime *rt, uint64_t after_ns)
{
	uint64_t interval = after_ns / PASSES;
	int err;

	if (after_ns == 0 || after_ns == HAUL_FOREVER)
		return 0;
	rt->hibernation = calloc(1, sizeof(*rt->hibernation));
	if (!rt->hibernation)
		return -ENOMEM;
	rt->hibernation->interval_ns = interval > SHORTEST ? interval : SHORTEST;
	err = slabs_init(rt);
	for (unsigned i = 0; err == 0 && i < rt->nb_carriers; i++)
		err = hibernator_init(&rt->carriers[i]);
	if (err)
		hauli_hibernation_fini(rt);
	return err;
}

void hauli_hibernation_fini(struct haul_runtime *rt)
{
	if (!rt->hibernation)
		return;
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		if (rt->carriers[i].hibernator)
			hauli_frozen_ats_fini(&rt->carriers[i].hibernator->ats);
		free(rt->carriers[i].hibernator);
	}
	for (unsigned cls = 0; cls < CLASSES; cls++)
		if (rt->hibernation->copies[cls])
			hauli_slab_destroy(rt->hibernation->copies[cls]);
	free(rt->hibernation);
	rt->hibernation = NULL;
}
