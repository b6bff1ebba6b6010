/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pollers of the soak that spawn coroutines for objects, as those of packets do: at once, where
 * they would run next, or as records. They cancel the coroutines now and then, wait until all have
 * ended, and go on. Each object is handled or dropped as often as it was spawned.
 */
#include <stdlib.h>

#include "sched/glue.h"
#include "sched/state/self.h"
#include "sched/wait/extent.h"
#include "soak.h"

#define OBJECTS 150 /* of each poller: more than four batches */

struct object {
	char before[24];
	struct hauli_record record;
	uint64_t seed;
	atomic_bool busy;
};

static struct feeder {
	struct haul_coro *co;
	struct haul_carrier *carrier;
	struct hauli_random random;
	struct hauli_prototype prototypes[2]; /* with other names, stacks, keys */
	struct hauli_counter cycles;
	uint64_t fed, counted;
	atomic_ulong handled, dropped, remote, ended;
	struct object objects[OBJECTS];
} feeders[SOAK_CARRIERS];

struct soak_fed soak_fed;

static struct feeder *feeder_of(const struct object *o)
{
	for (unsigned i = 0; i < SOAK_CARRIERS; i++)
		if (o >= feeders[i].objects && o < feeders[i].objects + OBJECTS)
			return &feeders[i];
	RIGHT(!"an object that is none");
	return NULL;
}

static struct object *object_of(struct hauli_record *record)
{
	return HAULI_CONTAINER(record, struct object, record);
}

/* An object's coroutine begins: nothing is left of the one before it. */
static void check_new(const struct feeder *f, const struct haul_coro *me, bool steals)
{
	RIGHT(hauli_coro_home(me) == f->carrier && me->detached && !hauli_coro_is_poller(me));
	RIGHT(!(me->pinned & HAULI_PINNED_BY_CALL));
	RIGHT(!hauli_extent_of(me));
	if (steals) /* its home may write these, and others may do so later */
		return;
	RIGHT(hauli_coro_is_cancelled(me) == f->carrier->spawn.records_cancelled);
	RIGHT(!hauli_permit_is_given(&me->permit));
}

static void handle(struct object *o, bool steals)
{
	struct feeder *f = feeder_of(o);
	struct actor a = actor(o->seed, 0);

	if (steals)
		hauli_glue_handler_begins(f->carrier);
	RIGHT(o->busy);
	check_new(f, hauli_here()->current, steals);
	s.alive++;
	soak_fed.remote += hauli_here() != f->carrier;
	if (below(&a, 3) == 0) /* most do not wait */
		soak_steps(&a, below(&a, 3));
	else
		soak_step_without_wait(&a);
	f->handled++;
	s.alive--;
	o->busy = false;
}

static void *handles(void *record)
{
	struct object *o = object_of(record);
	struct feeder *f = feeder_of(o);

	handle(o, hauli_glue_steals(f->carrier));
	f->ended++;
	return NULL;
}

static inline void run(const struct hauli_prototype *p, struct hauli_record *record)
{
	RIGHT(record->prototype == p);
	handle(object_of(record), false);
}

static inline void run_stealing(const struct hauli_prototype *p, struct hauli_record *record)
{
	RIGHT(record->prototype == p);
	handle(object_of(record), true);
}

static inline void run_object(const struct hauli_prototype *p, void *o)
{
	handle(o, false);
}

static inline void has_run(const struct hauli_prototype *p, bool remote)
{
	for (unsigned i = 0; i < SOAK_CARRIERS; i++)
		if (p == &feeders[i].prototypes[0] || p == &feeders[i].prototypes[1])
			feeders[i].ended++;
}

static HAULI_AT_ONCE struct hauli_record *at_once(struct haul_carrier *c, struct haul_coro *me)
{
	return hauli_record_at_once(c, me, run_object, has_run);
}

static void enter(void *pass)
{
	hauli_record_body(
		pass, (struct hauli_body){.run = run, .ended = has_run, .at_once = at_once});
}

static void enter_stealing(void *pass)
{
	hauli_record_body(
		pass, (struct hauli_body){.run = run_stealing, .ended = has_run, .steals = true});
}

static void drop(struct hauli_record *record)
{
	struct object *o = object_of(record);

	feeder_of(o)->dropped++;
	o->busy = false;
}

static uint8_t key_of(const void *record)
{
	return (uint8_t)(1 + object_of((struct hauli_record *)record)->seed % 3);
}

static bool is_handler(haul_fn *fn)
{
	return fn == handles;
}

static void begin(struct feeder *f)
{
	struct haul_carrier *c = f->carrier;

	hauli_glue_poller_begins(c, &f->cycles, key_of);
	for (unsigned i = 0; i < 2; i++) {
		const struct haul_coro_opts opts = {.name = i ? "object" : "thing",
			.stack_size = i && hauli_random_below(&f->random, 2) ? 50 << 10 : 0,
			.pinned = !hauli_glue_steals(c) && hauli_random_below(&f->random, 2),
			.hibernates = hauli_random_below(&f->random, 2),
			.order_key = hauli_random_below(&f->random, 2) ? HAULI_ORDER_KEY_ASK : 0};

		RIGHT(hauli_glue_prototype_init(&f->prototypes[i], c, handles, drop, &opts) == 0);
		hauli_glue_set_entry(
			&f->prototypes[i], hauli_glue_steals(c) ? enter_stealing : enter);
	}
}

static void feed(struct feeder *f)
{
	const struct hauli_prototype *p = &f->prototypes[hauli_random_below(&f->random, 4) == 0];
	unsigned most = hauli_random_below(&f->random, 4) ? 32 : OBJECTS;
	void *objs[OBJECTS];
	unsigned n = 0;

	most = 1 + hauli_random_below(&f->random, most);
	for (unsigned i = 0; i < OBJECTS && n < most; i++) {
		struct object *o = &f->objects[i];

		if (o->busy)
			continue;
		o->busy = true;
		o->seed = hauli_random_next(&f->random) >> 8;
		objs[n++] = o;
	}
	if (n == 0)
		return;
	f->fed += n;
	if (!hauli_glue_steals(f->carrier) && hauli_glue_records_are_next(f->carrier, p)) {
		soak_fed.at_once += n;
		f->ended += hauli_glue_run_records(
			f->carrier, p, objs, offsetof(struct object, record), n);
	} else if (!hauli_glue_spawn_records(
			   f->carrier, p, objs, offsetof(struct object, record), n)) {
		for (unsigned i = 0; i < n; i++)
			((struct object *)objs[i])->busy = false;
		f->fed -= n;
	}
}

/* Waits until all have ended, on thieves, too, which read the prototype until then. False: the
 * feeder is cancelled. */
static bool wait_for_all(struct feeder *f)
{
	while (f->ended + f->dropped < f->fed)
		if (!hauli_glue_go_on(f->carrier, false))
			return false;
	return true;
}

/* As the poller that ends haul's (drain.c). */
static bool cancel_all(struct feeder *f)
{
	struct hauli_sites *sites = calloc(1, sizeof(*sites));
	struct hauli_chosen chosen = {.is_chosen = is_handler, .sites = sites};
	bool goes_on;

	hauli_glue_cancel_records(f->carrier);
	feed(f); /* these begin cancelled */
	while (hauli_glue_cancel_some(f->carrier, &chosen) && hauli_glue_go_on(f->carrier, false))
		;
	goes_on = wait_for_all(f);
	free(sites);
	begin(f);
	return goes_on;
}

/* Often lets all run that is ready, so that the next objects begin at once. False: the feeder is
 * cancelled. */
static bool gives_way(struct feeder *f)
{
	unsigned rounds = hauli_random_below(&f->random, 3) * 20;

	do {
		hauli_counter_add(&f->cycles, 1);
		if (!hauli_glue_go_on(f->carrier, true))
			return false;
	} while (rounds-- > 0 && hauli_glue_has_ready(f->carrier));
	return true;
}

static void *feeds(void *arg)
{
	struct feeder *f = arg;

	begin(f);
	for (unsigned n = 50 + hauli_random_below(&f->random, 200); n > 0; n--) {
		if (hauli_random_below(&f->random, 100) == 0 && !cancel_all(f))
			break;
		feed(f);
		if (!gives_way(f))
			break;
	}
	hauli_glue_poller_ends(f->carrier);
	return NULL;
}

void soak_feed(unsigned carrier, uint64_t seed)
{
	struct feeder *f = &feeders[carrier];
	int err;

	memset(f, 0, sizeof(*f));
	hauli_random_init(&f->random, seed);
	f->carrier = haul_carrier(s.rt, carrier);
	err = haul_poller_register(f->carrier, &f->co, feeds, f, NULL);
	if (err == 0)
		haul_detach(f->co);
	else
		RIGHT(err == -EBUSY); /* the handler of another carrier's feeder was first */
}

void soak_close_feeders(void)
{
	for (unsigned i = 0; i < SOAK_CARRIERS; i++) {
		struct feeder *f = &feeders[i];

		if (!f->carrier)
			continue;
		RIGHT(f->handled + f->dropped == f->fed);
		RIGHT(f->ended == f->handled);
		for (unsigned k = 0; k < OBJECTS; k++)
			RIGHT(!f->objects[k].busy);
		soak_fed.handled += f->handled;
		soak_fed.dropped += f->dropped;
		f->carrier = NULL;
	}
}
