/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture's ring between two threads, through its two mappings: blocks of random length, of
 * which the carrier takes some back, as those of packets that a PMD has not taken. The thread gets
 * each published block once, whole and in order, and writes into it, as it does with times.
 */
#include "capture/ring.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "support/stress.h"
#include "support/suite.h"

#define SIZE (128u << 10)
#define LONGEST 2000u /* words of a block */

static struct {
	struct hauli_capture_ring ring;
	struct hauli_u32_published ends; /* 1: all blocks are published */
	uint64_t blocks, bytes; /* received */
	const char *wrong;
} run;

/* The first word of a block is its length in words, the others count from the block's number on. */
static void fill(uint32_t *block, uint32_t words, uint32_t number)
{
	block[0] = words;
	for (uint32_t i = 1; i < words; i++)
		block[i] = number + i;
}

/* Publishes up to `most` blocks of those that it writes. Returns their number. */
static uint32_t publish_some(struct hauli_random *random, uint32_t next, uint32_t most)
{
	uint32_t written = hauli_random_below(random, 32), taken = 0, at = run.ring.written,
		 end = at;

	for (uint32_t i = 0; i < written; i++) {
		uint32_t words = 2 + hauli_random_below(random, LONGEST);
		void *block = hauli_capture_ring_room(&run.ring, at, words * 4);

		if (!block)
			break;
		fill(block, words, next + i);
		at += words * 4;
		if (taken < most && hauli_random_below(random, 4) > 0 && taken == i) {
			taken++;
			end = at;
		}
	}
	hauli_capture_ring_publish(&run.ring, end);
	return taken;
}

static const char *check_block(uint32_t *block, uint32_t left)
{
	uint32_t words = block[0];

	if (words < 2 || words >= 2 + LONGEST || words * 4 > left)
		return "the length of a block is not one that was written";
	for (uint32_t i = 1; i < words; i++)
		if (block[i] != (uint32_t)run.blocks + i)
			return "a block is not the next one, or not whole";
	memset(block + 1, 0xee, (words - 1) * 4);
	run.bytes += words * 4;
	run.blocks++;
	return NULL;
}

/* False: there is nothing. */
static bool read_some(void)
{
	uint32_t head = hauli_u32_published_get(&run.ring.head), at = run.ring.read;

	if (at == head)
		return false;
	while (at != head && !run.wrong) {
		uint32_t *block = (uint32_t *)hauli_capture_ring_at(&run.ring, at);
		uint32_t words = block[0];

		run.wrong = check_block(block, head - at);
		at += words * 4;
	}
	hauli_capture_ring_release(&run.ring, run.wrong ? head : at);
	return true;
}

static void *thread_main(void *arg)
{
	bool ends;

	do {
		ends = hauli_u32_published_get(&run.ends);
		if (!read_some())
			sched_yield();
	} while (!ends);
	return NULL;
}

START_TEST(each_published_block_once_and_whole)
{
	uint64_t deadline = stress_deadline(), turns = 0;
	uint32_t blocks = 0, refused = 0, some;
	struct hauli_random random;
	pthread_t thread;

	hauli_random_init(&random, stress_seed());
	memset(&run, 0, sizeof(run));
	ck_assert_int_eq(hauli_capture_ring_init(&run.ring, SIZE), 0);
	/* The positions pass 2^32. */
	run.ring.written = run.ring.seen = run.ring.read = 0u - 4 * SIZE;
	hauli_u32_published_set(&run.ring.head, run.ring.written);
	hauli_u32_published_set(&run.ring.tail, run.ring.read);
	ck_assert_int_eq(pthread_create(&thread, NULL, thread_main, NULL), 0);
	while (turns++ < 1000 || haul_now() < deadline) {
		some = publish_some(&random, blocks, 1 + hauli_random_below(&random, 32));
		blocks += some;
		refused += !hauli_capture_ring_room(&run.ring, run.ring.written, SIZE / 2);
		if (hauli_random_below(&random, 64) == 0)
			sched_yield(); /* to the thread, if there is one CPU */
	}
	hauli_u32_published_set(&run.ends, 1);
	pthread_join(thread, NULL);
	ck_assert_pstr_eq(run.wrong, NULL);
	ck_assert_uint_eq(run.blocks, blocks);
	ck_assert_uint_eq(run.ring.read, run.ring.written);
	fprintf(stderr, "%u blocks, %" PRIu64 " bytes; half full %u times\n", blocks, run.bytes,
		refused);
	ck_assert_uint_gt(run.bytes, 4 * SIZE);
	ck_assert_uint_gt(refused, 0);
	hauli_capture_ring_fini(&run.ring);
}
END_TEST

SUITE_MAIN("capture ring", {each_published_block_once_and_whole, 1})
