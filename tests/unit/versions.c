/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that change while carriers read them (apps/haul-fwd/versions.h): a reader sees one version
 * as a whole, and no older one than before. Under ThreadSanitizer: no race. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "../../apps/haul-fwd/versions.h"
#include "support/suite.h"

#define READERS 3
#define CHANGES 300
#define WORDS 8

static struct {
	struct fwd_versions table;
	_Atomic uint64_t rounds[READERS]; /* calls that have ended */
	_Atomic bool ends;
	_Atomic unsigned mixed, older;
} k;

static uint64_t both[2][WORDS];

static void *reader(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	uint64_t last = 0;

	while (!k.ends) {
		const uint64_t *words = fwd_versions_get(&k.table);

		for (unsigned i = 1; i < WORDS; i++)
			k.mixed += words[i] != words[0];
		k.older += words[0] < last;
		last = words[0];
		k.rounds[self]++;
	}
	return NULL;
}

/* As haul_io_attach_port() waits for a coroutine on each carrier. */
static void wait_round(void)
{
	for (unsigned i = 0; i < READERS; i++) {
		uint64_t at = k.rounds[i];

		while (k.rounds[i] < at + 2)
			sched_yield();
	}
}

START_TEST(readers_see_whole_versions)
{
	pthread_t threads[READERS];

	fwd_versions_init(&k.table, both[0], both[1], sizeof(both[0]));
	for (unsigned i = 0; i < READERS; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, reader, (void *)(uintptr_t)i), 0);
	for (unsigned n = 1; n <= CHANGES; n++) {
		uint64_t *copy = fwd_versions_copy(&k.table);

		for (unsigned i = 0; i < WORDS; i++)
			ck_assert_uint_eq(copy[i]++, n - 1);
		fwd_versions_show(&k.table);
		wait_round();
	}
	k.ends = true;
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(k.mixed, 0);
	ck_assert_uint_eq(k.older, 0);
	ck_assert_uint_eq(*(const uint64_t *)fwd_versions_get(&k.table), CHANGES);
}
END_TEST

SUITE_MAIN("versions", {readers_see_whole_versions})
