/* SPDX-License-Identifier: BSD-3-Clause */
/* Hibernation: who freezes and who does not, what comes back, what others see meanwhile. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coro/frozen.h"
#include "hibernate.h"
#include "sched/look/snapshot.h"
#include "sched/state/carrier.h"

#define GIVEN_UP (200 * HAUL_MS) /* for one that must not freeze */

/* _i: bytes of buffers on their stacks, in steps of 128. */
START_TEST(frames_come_back)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct idle all[IDLE] = {0};
	struct haul_coro *cos[IDLE];

	for (unsigned i = 0; i < IDLE; i++) {
		all[i].bytes = (size_t)_i * 128;
		cos[i] = spawn(rt, &all[i]);
	}
	look(rt, IDLE);
	ck_assert_uint_eq(hibernations(rt), IDLE);
	ck_assert_uint_eq(thaws(rt), 0);
	for (unsigned i = 0; i < IDLE; i++)
		haul_unpark(cos[i]);
	for (unsigned i = 0; i < IDLE; i++)
		ck_assert_pstr_eq(join(cos[i]), NULL);
	ck_assert_uint_eq(thaws(rt), IDLE);
	runtime_stop(rt);
}
END_TEST

START_TEST(memory_of_stacks_goes_back)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct idle all[IDLE] = {0};
	struct haul_coro *cos[IDLE];
	unsigned resident = 0;

	for (unsigned i = 0; i < IDLE; i++)
		cos[i] = spawn(rt, &all[i]);
	look(rt, IDLE);
	for (unsigned i = 0; i < IDLE; i++) {
		unsigned char in = 1;

		ck_assert_int_eq(
			mincore((void *)((uintptr_t)all[i].stack & ~(page - 1)), page, &in), 0);
		resident += in & 1;
	}
	if (!HAULI_ASAN && !HAULI_TSAN)
		ck_assert_uint_eq(resident, 0);
	for (unsigned i = 0; i < IDLE; i++)
		haul_unpark(cos[i]);
	for (unsigned i = 0; i < IDLE; i++)
		ck_assert_pstr_eq(join(cos[i]), NULL);
	runtime_stop(rt);
}
END_TEST

START_TEST(sleepers_freeze_until_their_timer)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct idle i = {.sleep_ns = 300 * HAUL_MS};
	struct haul_coro *co = spawn(rt, &i);

	look(rt, 1);
	ck_assert_pstr_eq(join(co), NULL);
	ck_assert_uint_eq(thaws(rt), 1);
	runtime_stop(rt);
}
END_TEST

START_TEST(park_ends_at_its_deadline)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct idle i = {.deadline = haul_in(300 * HAUL_MS)};
	struct haul_coro *co = spawn(rt, &i);

	look(rt, 1);
	ck_assert_ptr_nonnull(join(co));
	ck_assert_int_eq(i.err, -ETIMEDOUT);
	runtime_stop(rt);
}
END_TEST

START_TEST(cancel_thaws)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct idle i = {0};
	struct haul_coro *co = spawn(rt, &i);

	look(rt, 1);
	haul_cancel(co);
	ck_assert_ptr_nonnull(join(co));
	ck_assert_int_eq(i.err, -ECANCELED);
	runtime_stop(rt);
}
END_TEST

START_TEST(stop_thaws)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct idle all[IDLE] = {0};

	for (unsigned i = 0; i < IDLE; i++)
		haul_detach(spawn(rt, &all[i]));
	look(rt, IDLE);
	runtime_stop(rt);
	for (unsigned i = 0; i < IDLE; i++)
		ck_assert_int_eq(all[i].err, -ECANCELED);
}
END_TEST

static void *freezes_again(void *arg)
{
	for (unsigned i = 0; i < 20; i++) {
		struct idle one = {.deadline = HAUL_FOREVER};

		if (!wait_with_buffer(&one, i % 4))
			return "wrong";
	}
	return arg;
}

START_TEST(one_may_freeze_often)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct haul_coro *co;

	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), &co, freezes_again, NULL, &hibernates), 0);
	for (unsigned i = 1; i <= 20; i++) {
		look(rt, i);
		haul_unpark(co);
	}
	ck_assert_pstr_eq(join(co), NULL);
	runtime_stop(rt);
}
END_TEST

/* What must not freeze. */
static int child(void *arg)
{
	return haul_park(HAUL_FOREVER);
}

static void *in_a_scope(void *arg)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	return haul_park(HAUL_FOREVER) == 0 ? arg : NULL;
}

static void *in_a_shield(void *arg)
{
	HAUL_SHIELD(haul_in(2 * GIVEN_UP));

	return haul_park(HAUL_FOREVER) == 0 ? arg : NULL;
}

static void *in_a_channel(void *arg)
{
	struct haul_chan *ch;
	int value;

	haul_chan_create(&ch, sizeof(value), 1);
	haul_chan_recv(ch, &value, HAUL_FOREVER);
	haul_chan_destroy(ch);
	return arg;
}

static void *in_a_join(void *arg)
{
	struct haul_coro *co;

	if (haul_spawn(&co, in_a_channel, NULL, NULL))
		return arg; /* the runtime stops */
	if (haul_join(co, NULL, haul_in(GIVEN_UP * 2)))
		haul_detach(co);
	return arg;
}

static void *in_deep_frames(void *arg)
{
	struct idle i = {.deadline = HAUL_FOREVER};

	(void)wait_with_buffer(&i, 60);
	return arg;
}

static void *just_parks(void *arg)
{
	(void)haul_park(HAUL_FOREVER);
	return arg;
}

static const struct refused {
	haul_fn *fn;
	bool hibernates, marks;
} refused[] = {
	{in_a_scope, .hibernates = true},
	{in_a_shield, .hibernates = true},
	{in_a_channel, .hibernates = true},
	{in_a_join, .hibernates = true},
	{in_deep_frames, .hibernates = true},
	{just_parks, .hibernates = false},
	{just_parks, .hibernates = true, .marks = true},
};

#define NB_REFUSED (int)(sizeof(refused) / sizeof(refused[0]))

START_TEST(others_do_not_freeze)
{
	const struct refused *r = &refused[_i];
	struct haul_runtime *rt = start((struct haul_runtime_opts){.stack_marks = r->marks}, 1);
	const struct haul_coro_opts opts = {.hibernates = r->hibernates};

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), NULL, r->fn, NULL, &opts), 0);
	usleep(GIVEN_UP / 1000); /* nothing is to come */
	ck_assert_uint_eq(hibernations(rt), 0);
	runtime_stop(rt);
}
END_TEST

/* Another call stack for each value of the bits. */
static __attribute__((noinline)) int calls_a(unsigned bits, unsigned depth);

static __attribute__((noinline)) int calls_b(unsigned bits, unsigned depth)
{
	int err = depth == 0 ? haul_park(HAUL_FOREVER) : calls_a(bits, depth);

	__asm__ volatile("" : "+r"(err));
	return err;
}

static __attribute__((noinline)) int calls_a(unsigned bits, unsigned depth)
{
	int err;

	if (bits & 1) {
		err = calls_b(bits >> 1, depth - 1);
		__asm__ volatile("# odd" : "+r"(err)); /* else the calls become one */
	} else {
		err = calls_b(bits >> 1, depth - 1);
		__asm__ volatile("# even" : "+r"(err));
	}
	return err;
}

static void *parks_in_a_place(void *bits)
{
	return (void *)(intptr_t)calls_a((unsigned)(uintptr_t)bits, 9);
}

START_TEST(any_number_of_call_stacks_freezes)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct haul_coro *cos[512];

	for (unsigned turn = 1; turn <= 2; turn++) {
		for (unsigned i = 0; i < 512; i++)
			ck_assert_int_eq(
				haul_spawn_on(haul_carrier(rt, 0), &cos[i], parks_in_a_place,
					(void *)(uintptr_t)i, &hibernates),
				0);
		look(rt, turn * 512);
		for (unsigned i = 0; i < 512; i++)
			haul_unpark(cos[i]);
		for (unsigned i = 0; i < 512; i++)
			ck_assert_pstr_eq(join(cos[i]), NULL);
	}
	runtime_stop(rt);
}
END_TEST

static void *owns_a_child(void *arg)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	haul_scope_spawn(&scope, child, NULL, &hibernates);
	return (void *)(intptr_t)haul_scope_join(&scope);
}

static void *owns_a_child_elsewhere(void *arg)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	haul_scope_spawn_on(&scope, arg, child, NULL, &hibernates);
	return (void *)(intptr_t)haul_scope_join(&scope);
}

START_TEST(child_of_a_scope_freezes)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 2);
	struct haul_coro *co;

	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), &co, _i ? owns_a_child_elsewhere : owns_a_child,
			haul_carrier(rt, 1), &hibernates),
		0);
	look(rt, 1);
	haul_cancel(co);
	ck_assert_int_eq((int)(intptr_t)join(co), -ECANCELED);
	ck_assert_uint_eq(hibernations(rt), 1);
	runtime_stop(rt);
}
END_TEST

/* What others see. */
#if !HAULI_TSAN /* the signal of a dump comes late, and the tests read contexts */
START_TEST(dump_shows_the_call_stack)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct idle all[IDLE] = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	for (unsigned i = 0; i < IDLE; i++)
		haul_detach(spawn(rt, &all[i]));
	look(rt, IDLE);
	out = open_memstream(&text, &len);
	haul_dump(rt, out);
	fclose(out);
	ck_assert_msg(strstr(text, ", parked, for ") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "s, hibernates\n") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "97 more like idle ") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "parked at the same place, hibernating") != NULL, "%s", text);
	ck_assert_uint_eq(thaws(rt), 0);
	free(text);
	runtime_stop(rt);
}
END_TEST

/* Until it waits, as its carrier's thread sees it. */
static void shoot(const struct haul_coro *co, struct hauli_shot *shot)
{
	do
		*shot = (struct hauli_shot){.co = co};
	while (!hauli_snapshot(hauli_coro_home(co), shot, 1) || !hauli_state_waits(shot->state));
}

START_TEST(call_stack_of_a_frozen_one_is_that_before)
{
	struct haul_runtime *rt =
		start((struct haul_runtime_opts){.hibernate_after_ns = HAUL_S}, 1);
	struct idle all[] = {{.bytes = 256}, {.bytes = 384}, {.sleep_ns = 3600 * HAUL_S}};
	struct hauli_shot before[3], after[3];
	struct haul_coro *cos[3];

	for (unsigned i = 0; i < 3; i++) {
		cos[i] = spawn(rt, &all[i]);
		shoot(cos[i], &before[i]);
		ck_assert_uint_ge(before[i].n, 5 - i);
	}
	look(rt, 3);
	for (unsigned i = 0; i < 3; i++) {
		shoot(cos[i], &after[i]);
		ck_assert(after[i].hibernates);
		ck_assert_uint_eq(before[i].n, after[i].n);
		ck_assert_mem_eq(before[i].pcs, after[i].pcs, after[i].n * sizeof(void *));
		haul_detach(cos[i]);
	}
	runtime_stop(rt);
}
END_TEST
#endif

/* Every second one may freeze. */
START_TEST(neighbours_keep_their_memory)
{
	static const struct haul_coro_opts stays = {.name = "stays"};
	struct haul_runtime *rt = start((struct haul_runtime_opts){0}, 1);
	struct haul_coro *cos[2 * IDLE];
	struct idle all[2 * IDLE] = {0};

	for (unsigned i = 0; i < 2 * IDLE; i++) {
		all[i].deadline = HAUL_FOREVER;
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &cos[i], idle, &all[i],
					 i % 2 ? &stays : &hibernates),
			0);
	}
	look(rt, IDLE);
	usleep(GIVEN_UP / 1000); /* nothing is to come */
	ck_assert_uint_eq(hibernations(rt), IDLE);
	for (unsigned i = 0; i < 2 * IDLE; i++)
		haul_unpark(cos[i]);
	for (unsigned i = 0; i < 2 * IDLE; i++)
		ck_assert_pstr_eq(join(cos[i]), NULL);
	runtime_stop(rt);
}
END_TEST

#if HAUL_STEALING
static atomic_bool hogs;

static void *hog(void *arg)
{
	while (hogs)
		;
	return arg;
}

/* Their home is kept by a hog when they are woken: a thief thaws them. */
START_TEST(thief_thaws)
{
	struct haul_runtime *rt = start((struct haul_runtime_opts){.steal = HAUL_STEAL_GLOBAL}, 2);
	struct idle all[IDLE] = {0};
	struct haul_coro *cos[IDLE];
	struct haul_carrier_stats st;
	unsigned tries = 0;

	do {
		uint64_t before = hibernations(rt);

		for (unsigned i = 0; i < IDLE; i++) {
			all[i] = (struct idle){.bytes = 128 * (i % 5)};
			cos[i] = spawn(rt, &all[i]);
		}
		look(rt, (unsigned)before + IDLE);
		hogs = true;
		for (unsigned i = 0; i < IDLE; i++)
			haul_unpark(cos[i]);
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), NULL, hog, NULL,
					 &(struct haul_coro_opts){.pinned = true}),
			0);
		usleep(20000); /* for the thief */
		hogs = false;
		for (unsigned i = 0; i < IDLE; i++)
			ck_assert_pstr_eq(join(cos[i]), NULL);
		haul_carrier_get_stats(haul_carrier(rt, 1), &st);
	} while (st.thaws == 0 && ++tries < 100);
	ck_assert_uint_gt(st.thaws, 0);
	runtime_stop(rt);
}
END_TEST
#endif

int main(void)
{
	const struct suite_test tests[] = {
		{frames_come_back, 4}, /* clang's frames for more are over the limit */
		{memory_of_stacks_goes_back, 1},
		{sleepers_freeze_until_their_timer, 1},
		{park_ends_at_its_deadline, 1},
		{cancel_thaws, 1},
		{stop_thaws, 1},
		{one_may_freeze_often, 1},
		{others_do_not_freeze, NB_REFUSED},
		{child_of_a_scope_freezes, 2},
		{any_number_of_call_stacks_freezes, 1},
#if !HAULI_TSAN
		{dump_shows_the_call_stack, 1},
		{call_stack_of_a_frozen_one_is_that_before, 1},
#endif
		{neighbours_keep_their_memory, 1},
#if HAUL_STEALING
		{thief_thaws, 1},
#endif
	};

	return suite_run("hibernate", tests, sizeof(tests) / sizeof(tests[0]));
}
