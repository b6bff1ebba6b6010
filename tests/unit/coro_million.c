/* SPDX-License-Identifier: BSD-3-Clause */
/* A million coroutines of the default stack size, each suspended two calls deep: they fit, each
 * keeps about one page resident, and guards split no mapping. By default 100,000, more than a
 * process may have mappings: a million take 20 seconds and 5 GB (HAUL_COROUTINES=1000000). */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "coro/stack.h"
#include "support/stress.h"
#include "support/suite.h"

#define MOST_BYTES 4400 /* resident memory of each */
#define MOST_MAPPINGS 64 /* of all coroutines */

/* Larger than the scheduler's head. */
struct head {
	struct hauli_stack stack;
	struct hauli_co co;
	uint64_t number;
	struct head *next;
	char more[128];
} HAULI_LINE;

_Static_assert(sizeof(struct head) == 256, "a whole number of cache lines");

static struct hauli_co me;
static unsigned many;

static __attribute__((noinline)) uint64_t wait_in(struct head *h)
{
	volatile char frame[300];
	void *got;

	frame[0] = (char)h->number;
	frame[299] = (char)(h->number >> 8);
	got = hauli_co_switch(&h->co, &me, NULL);
	return (uintptr_t)got + (unsigned char)frame[0] + (unsigned char)frame[299];
}

static void body(void *pass)
{
	struct head *h = pass;

	hauli_co_arrived(&h->co);
	h->number = wait_in(h);
	hauli_co_end(&h->co, &me, NULL);
}

static size_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	ck_assert(f && fscanf(f, "%*u %lu", &pages) == 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned n = 0;
	int c;

	ck_assert_ptr_nonnull(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

START_TEST(many_at_once)
{
	size_t before = resident_bytes(), bytes;
	unsigned maps_before = mappings(), maps, n = 0;
	struct hauli_stack_cache cache;
	struct hauli_stacks *a = NULL;
	struct head *first = NULL, *h;

	ck_assert_int_eq(hauli_stacks_create(&a, sizeof(struct head), HAULI_GUARD_MADVISE), 0);
	hauli_stack_cache_init(&cache, a);
	hauli_co_init_thread(&me);
	for (; n < many; n++) {
		h = (struct head *)hauli_stack_get(&cache, 1);
		if (!h)
			break;
		h->number = n;
		hauli_co_prepare(&h->co, &h->stack, h, body);
		hauli_co_switch(&me, &h->co, h);
		h->next = first;
		first = h;
	}
	ck_assert_uint_eq(n, many);
	bytes = (resident_bytes() - before) / many;
	maps = mappings() - maps_before;
	printf("# %zu bytes resident for each of %u, %u mappings for all\n", bytes, many, maps);
	fflush(stdout);
	ck_assert_uint_le(bytes, MOST_BYTES);
	ck_assert_uint_le(maps, MOST_MAPPINGS);
	ck_assert_int_eq(hauli_stacks_guard(a), HAULI_GUARD_MADVISE);
	while ((h = first)) {
		uint64_t number = h->number;

		ck_assert_uint_eq(number, --n);
		hauli_co_switch(&me, &h->co, (void *)(uintptr_t)1);
		if (h->number != 1 + (number & 0xff) + (number >> 8 & 0xff))
			ck_abort_msg("coroutine %u woke with another's frame", n);
		first = h->next;
		hauli_stack_put(&cache, &h->stack, NULL);
	}
	hauli_co_fini_thread(&me);
	hauli_stack_cache_fini(&cache);
	/* Almost no memory stays resident after the stacks are given back. */
	ck_assert_uint_ge(hauli_stacks_trim(a), many * (size_t)4096);
	ck_assert_uint_le(resident_bytes() - before, 64 << 20);
	hauli_stacks_destroy(a);
}
END_TEST

static unsigned long available_kb(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long kb = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %lu", &kb) != 1)
		;
	if (f)
		fclose(f);
	return kb;
}

static const char *why_not(void)
{
	struct hauli_stacks *a;

	if (HAULI_ASAN || HAULI_TSAN)
		return "a sanitizer needs many times the memory";
	if (hauli_stacks_create(&a, sizeof(struct head), HAULI_GUARD_MADVISE) == -EOPNOTSUPP)
		return "no MADV_GUARD_INSTALL (Linux 6.13) in this kernel";
	hauli_stacks_destroy(a);
	if (sysconf(_SC_PAGESIZE) != 4096)
		return "the figures are those of pages of 4 KiB";
	if (available_kb() / 6 < many)
		return "less than 6 KiB of memory to be had for each";
	return NULL;
}

int main(void)
{
	const struct suite_test tests[] = {{many_at_once, 1}};
	const char *why;

	many = (unsigned)stress_number("HAUL_COROUTINES", 100000);
	why = why_not();
	if (why) {
		printf("1..0 # SKIP %s\n", why);
		return 0;
	}
	return suite_run("coro_million", tests, 1);
}
