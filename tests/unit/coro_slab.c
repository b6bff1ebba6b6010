/* SPDX-License-Identifier: BSD-3-Clause */
/* Slabs: objects are distinct, reused, known by their addresses, and stay mapped. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "coro/slab.h"
#include "support/suite.h"

#define SIZE ((size_t)192)
#define MANY 1000

static struct hauli_slab *slab_new(void)
{
	struct hauli_slab *s = NULL;

	ck_assert_int_eq(hauli_slab_create(&s, SIZE), 0);
	return s;
}

START_TEST(objects_are_whole_and_dense)
{
	struct hauli_slab *s = slab_new();
	struct hauli_slab_cache cache;
	char *o[MANY], *lowest = (char *)UINTPTR_MAX, *highest = NULL;

	hauli_slab_cache_init(&cache, s);
	for (int i = 0; i < MANY; i++) {
		o[i] = i % 2 ? hauli_slab_get(&cache) : hauli_slab_get_shared(s);
		ck_assert_ptr_nonnull(o[i]);
		ck_assert_uint_eq((uintptr_t)o[i] % 64, 0);
		for (size_t b = 16; b < SIZE; b++) /* behind the links */
			ck_assert_int_eq(o[i][b], 0);
		memset(o[i], i, SIZE);
		lowest = o[i] < lowest ? o[i] : lowest;
		highest = o[i] > highest ? o[i] : highest;
	}
	ck_assert_uint_lt((size_t)(highest - lowest), (MANY + 2 * HAULI_SLAB_SET) * SIZE);
	for (int i = 0; i < MANY; i++) {
		for (size_t b = 0; b < SIZE; b++)
			ck_assert_int_eq(o[i][b], (char)i);
		hauli_slab_put_shared(s, o[i]);
	}
	hauli_slab_cache_fini(&cache);
	hauli_slab_destroy(s);
}
END_TEST

#define CHUNK ((size_t)64 << 20)
#define LARGE ((size_t)700 << 10) /* a chunk ends amid a set of these, and amid one of them */

START_TEST(no_object_is_beyond_the_end_of_its_chunk)
{
	struct hauli_slab *s = NULL;
	char *first;

	ck_assert_int_eq(hauli_slab_create(&s, LARGE), 0);
	first = hauli_slab_get_shared(s);
	ck_assert_ptr_nonnull(first);
	for (unsigned i = 1; i < 2 * CHUNK / LARGE; i++) {
		char *object = hauli_slab_get_shared(s);
		size_t at = (size_t)(object - first);

		ck_assert_ptr_nonnull(object);
		ck_assert(at + LARGE <= CHUNK || at >= CHUNK); /* or in another chunk */
		ck_assert(hauli_slab_has(s, object));
	}
	hauli_slab_destroy(s);
}
END_TEST

static void count(void *object, void *arg)
{
	unsigned *n = arg;

	n[0]++;
	n[1] += ((char *)object)[100] == 1;
}

static unsigned carved(struct hauli_slab *s)
{
	unsigned n[2] = {0};

	hauli_slab_for_each(s, count, n);
	return n[0];
}

/* One thread gets objects from the slab, the other puts them into its cache, as a carrier does with
 * coroutines spawned by other threads. No object is lost on the way. */
START_TEST(objects_are_reused)
{
	struct hauli_slab *s = slab_new();
	struct hauli_slab_cache cache;
	char *o[200];
	unsigned n;

	hauli_slab_cache_init(&cache, s);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 200; i++)
			o[i] = hauli_slab_get_shared(s);
		for (int i = 0; i < 200; i++)
			hauli_slab_put(&cache, o[i]);
	}
	ck_assert_uint_le(carved(s), 200 + 4 * HAULI_SLAB_SET);
	/* The same with the threads' parts exchanged. */
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 200; i++)
			o[i] = hauli_slab_get(&cache);
		for (int i = 0; i < 200; i++)
			hauli_slab_put_shared(s, o[i]);
	}
	ck_assert_uint_le(carved(s), 200 + 4 * HAULI_SLAB_SET);

	/* Each object is there exactly once. */
	hauli_slab_cache_fini(&cache);
	n = carved(s);
	for (unsigned i = 0; i < n; i++) {
		char *one = hauli_slab_get_shared(s);

		ck_assert_int_eq(one[100], 0);
		one[100] = 1;
	}
	ck_assert_uint_eq(carved(s), n);
	ck_assert_int_eq(((char *)hauli_slab_get_shared(s))[100], 0);
	hauli_slab_destroy(s);
}
END_TEST

START_TEST(last_put_is_first_got)
{
	struct hauli_slab *s = slab_new();
	struct hauli_slab_cache cache;
	void *o[HAULI_SLAB_SET * 4];

	hauli_slab_cache_init(&cache, s);
	for (int i = 0; i < HAULI_SLAB_SET * 4; i++)
		o[i] = hauli_slab_get(&cache);
	for (int i = 0; i < HAULI_SLAB_SET * 4; i++) {
		hauli_slab_put(&cache, o[i]);
		ck_assert_ptr_eq(hauli_slab_get(&cache), o[i]);
		hauli_slab_put(&cache, o[i]);
	}
	hauli_slab_cache_fini(&cache);
	hauli_slab_destroy(s);
}
END_TEST

START_TEST(objects_are_known)
{
	struct hauli_slab *s = slab_new();
	char *o = hauli_slab_get_shared(s);

	ck_assert(hauli_slab_has(s, o));
	ck_assert(!hauli_slab_has(s, o + 64));
	ck_assert(!hauli_slab_has(s, o - 1));
	hauli_slab_put_shared(s, o);
	ck_assert(hauli_slab_has(s, o)); /* still the slab's after the put */
	ck_assert(!hauli_slab_has(s, NULL));
	ck_assert(!hauli_slab_has(s, &s));
	ck_assert(!hauli_slab_has(s, (void *)UINTPTR_MAX));
	hauli_slab_destroy(s);
}
END_TEST

static void *get_and_put(void *arg)
{
	struct hauli_slab_cache cache;
	char *o[300];

	hauli_slab_cache_init(&cache, arg);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 300; i++) {
			o[i] = hauli_slab_get(&cache);
			if (!o[i] || o[i][100]) /* another thread has it */
				return NULL;
			o[i][100] = 2;
		}
		for (int i = 0; i < 300; i++) {
			o[i][100] = 0;
			hauli_slab_put(&cache, o[i]);
		}
	}
	hauli_slab_cache_fini(&cache);
	return arg;
}

static void ignore(void *object, void *arg)
{
	unsigned *n = arg;

	n[0] += (uintptr_t)object % 64 == 0;
}

START_TEST(threads_share_no_object)
{
	struct hauli_slab *s = slab_new();
	pthread_t threads[3];
	unsigned n = 0;
	void *ok;

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, get_and_put, s), 0);
	for (int i = 0; i < 100; i++)
		hauli_slab_for_each(s, ignore, &n);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &ok);
		ck_assert_ptr_eq(ok, s);
	}
	ck_assert_uint_ge(carved(s), 300);
	hauli_slab_destroy(s);
}
END_TEST

SUITE_MAIN("coro_slab", {objects_are_whole_and_dense, 1},
	{no_object_is_beyond_the_end_of_its_chunk, 1}, {objects_are_reused, 1},
	{last_put_is_first_got, 1}, {objects_are_known, 1}, {threads_share_no_object, 1})
