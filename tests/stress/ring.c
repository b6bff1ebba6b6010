/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring under one owner and several thieves. The owner pushes behind and in front, some items
 * for itself only, pops in batches of random length, and takes the guard now and then. Each thief
 * takes a few items while it holds the guard. Every item is handed out once, each side gets the
 * oldest first, and no stealable item remains when thieves find nothing new.
 */
#include "conc/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/stress.h"
#include "support/suite.h"

#define THIEVES 3
#define ITEMS 4000

/* The ring is sorted by key at all times: pushed behind 1, 2, 3 ..., in front -1, -2, -3 ... */
struct item {
	int64_t key;
	bool kept; /* not stealable; the owner clears it when it has popped the item */
	atomic_uint taken;
};

static struct {
	struct hauli_ring ring;
	struct item items[ITEMS];
	int64_t last_stolen; /* among items pushed behind; protected by the guard */
	_Atomic int64_t last_popped; /* among stealable items pushed behind */
	atomic_bool pushed_all, wrong;
} run;

struct owner {
	struct hauli_random random;
	unsigned pushed, popped;
	int64_t behind, front; /* keys given last */
	int64_t last; /* key popped last, since the last push in front */
};

struct thief {
	pthread_t thread;
	struct hauli_random random;
	unsigned stolen;
	const char *wrong;
};

static bool may(const void *item)
{
	return !((const struct item *)item)->kept;
}

static void push_any(struct hauli_ring *r, struct owner *o)
{
	struct item *item = &run.items[o->pushed];
	bool front = hauli_random_below(&o->random, 8) == 0, done;

	item->key = front ? o->front - 1 : o->behind + 1;
	item->kept = hauli_random_below(&o->random, 4) == 0;
	if (item->kept)
		hauli_ring_keep(r);
	done = front ? hauli_ring_push_front(r, item) : hauli_ring_push(r, item);
	if (item->kept)
		hauli_ring_has_kept(r, done);
	ck_assert(done);
	o->pushed++;
	if (front) {
		o->front--;
		o->last = INT64_MIN;
	} else {
		o->behind++;
	}
}

static void pushes(struct owner *o)
{
	for (uint32_t n = hauli_random_below(&o->random, 24); n > 0; n--)
		if (o->pushed < ITEMS && hauli_ring_depth(&run.ring) < HAULI_RING_SIZE)
			push_any(&run.ring, o);
}

static struct item *pop(struct owner *o)
{
	struct hauli_ring_ahead ahead;
	struct item *item = hauli_ring_pop(&run.ring, &ahead);

	if (!item)
		return NULL;
	ck_assert_msg(item->key > o->last, "the owner popped %" PRId64 " after %" PRId64, item->key,
		o->last);
	o->last = item->key;
	o->popped++;
	item->taken++;
	if (item->key > 0 && !item->kept)
		run.last_popped = item->key;
	return item;
}

/* The last item stolen so far; read now and then only, as it takes the guard. */
static int64_t last_stolen(struct owner *o)
{
	int64_t stolen;

	if (hauli_random_below(&o->random, 8) != 0)
		return 0;
	hauli_ring_hold(&run.ring);
	stolen = run.last_stolen;
	hauli_ring_release(&run.ring);
	return stolen;
}

/* Pops a batch: no item of it is older than an item that thieves took before. */
static void pops(struct owner *o)
{
	uint32_t n = 1 + hauli_random_below(&o->random, 64);
	uint32_t least = hauli_random_below(&o->random, n + 1);
	int64_t stolen = last_stolen(o);
	struct item *item;

	if (hauli_random_below(&o->random, 8) == 0)
		sched_yield(); /* to a thief, if there are few CPUs */
	hauli_ring_open(&run.ring, n);
	for (; n > least && (item = pop(o)); n--) {
		ck_assert_msg(item->kept || item->key < 0 || item->key > stolen,
			"the owner popped %" PRId64 " after %" PRId64 " was stolen", item->key,
			stolen);
		item->kept = false;
		for (uint32_t work = hauli_random_below(&o->random, 64); work > 0; work--)
			asm volatile("");
	}
	hauli_ring_close(&run.ring);
	ck_assert_ptr_null(pop(o));
}

/* NULL, or the error in the item. The thief holds the guard. */
static const char *check_stolen(const struct item *item)
{
	if (item < run.items || item >= run.items + ITEMS)
		return "no item";
	if (item->kept)
		return "not a thief's to take";
	if (item->key > 0 && item->key <= run.last_stolen)
		return "stolen after one that is newer";
	if (item->key > 0 && item->key <= run.last_popped)
		return "stolen after a newer one was popped";
	return NULL;
}

static void steal(struct thief *t, uint32_t most)
{
	struct item *item;

	while (most-- > 0 && (item = hauli_ring_steal(&run.ring, may))) {
		t->wrong = check_stolen(item);
		if (t->wrong)
			return;
		if (item->key > 0)
			run.last_stolen = item->key;
		item->taken++;
		t->stolen++;
	}
}

static void *thief_main(void *arg)
{
	struct thief *t = arg;

	while (!run.wrong) {
		bool over = run.pushed_all;

		if (!hauli_ring_has_stealable(&run.ring)) {
			if (over)
				break;
			sched_yield();
		} else if (hauli_ring_try_steal(&run.ring)) {
			steal(t, hauli_random_below(&t->random, 5));
			hauli_ring_end_steal(&run.ring);
			if (t->wrong)
				run.wrong = true;
		}
	}
	return NULL;
}

static void start(struct thief *thieves, uint64_t seed)
{
	for (unsigned i = 0; i < ITEMS; i++)
		run.items[i].taken = 0;
	run.last_popped = 0;
	run.last_stolen = 0;
	run.pushed_all = run.wrong = false;
	hauli_ring_init(&run.ring);
	for (unsigned i = 0; i < THIEVES; i++) {
		thieves[i] = (struct thief){.wrong = NULL};
		hauli_random_init(&thieves[i].random, seed + i);
		ck_assert_int_eq(
			pthread_create(&thieves[i].thread, NULL, thief_main, &thieves[i]), 0);
	}
}

/* Returns the number of stolen items. */
static unsigned wait_for(struct thief *thieves)
{
	unsigned stolen = 0;

	run.pushed_all = true;
	for (unsigned i = 0; i < THIEVES; i++) {
		pthread_join(thieves[i].thread, NULL);
		stolen += thieves[i].stolen;
	}
	for (unsigned i = 0; i < THIEVES; i++)
		ck_assert_pstr_eq(thieves[i].wrong, NULL);
	return stolen;
}

/* Only items that thieves may not take remain. */
static void pop_rest(struct owner *o)
{
	struct item *item;

	hauli_ring_open(&run.ring, HAULI_RING_SIZE);
	while ((item = pop(o)))
		ck_assert_msg(item->kept, "thieves have left %" PRId64, item->key);
	ck_assert_uint_eq(hauli_ring_depth(&run.ring), 0);
}

/* Adds the numbers of items that thieves and the owner got. */
static void round_of(uint64_t seed, unsigned *stolen, unsigned *popped)
{
	struct thief thieves[THIEVES];
	struct owner o = {.last = INT64_MIN};
	unsigned theirs;

	hauli_random_init(&o.random, seed + THIEVES);
	start(thieves, seed);
	while (o.pushed < ITEMS && !run.wrong) {
		pushes(&o);
		pops(&o);
	}
	theirs = wait_for(thieves);
	pop_rest(&o);
	for (unsigned i = 0; i < ITEMS; i++)
		ck_assert_msg(run.items[i].taken == 1, "item %u was taken %u times", i,
			run.items[i].taken);
	ck_assert_uint_eq(o.popped + theirs, ITEMS);
	*stolen += theirs;
	*popped += o.popped;
}

START_TEST(each_item_once_and_the_oldest_first)
{
	uint64_t seed = stress_seed(), deadline = stress_deadline();
	unsigned stolen = 0, popped = 0, rounds = 0;

	ck_assert_int_eq(hauli_fence_init(), 0);
	while (rounds < 10 || haul_now() < deadline)
		round_of(seed + 977 * rounds++, &stolen, &popped);
	fprintf(stderr, "%u rounds: %u stolen, %u popped\n", rounds, stolen, popped);
	ck_assert_uint_gt(stolen, 0);
	ck_assert_uint_gt(popped, 0);
}
END_TEST

SUITE_MAIN("ring", {each_item_once_and_the_oldest_first, 1})
