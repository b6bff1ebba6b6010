/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/own.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/forks.h"
#include "base/shared.h"
#include "conc/word.h"
#include "coro/fiber.h"

/* By the linker; two ranges for each object file. */
extern const struct hauli_code first[] __asm__("__start_haul_own")
	__attribute__((weak, visibility("hidden")));
extern const struct hauli_code last[] __asm__("__stop_haul_own")
	__attribute__((weak, visibility("hidden")));

/* Sorted, and without gaps that hold no code of others. Written once, before it is published. */
static struct hauli_code *ranges;
static struct hauli_u32_published nb_ranges;

static int compare(const void *a, const void *b)
{
	const struct hauli_code *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

struct search {
	uintptr_t fn;
	struct hauli_code found;
};

static int find(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct search *s = arg;

	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + h->p_vaddr;
		struct hauli_code code = {begin, begin + h->p_memsz};

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) || !hauli_code_has(&code, s->fn) ||
			hauli_code_has(&code, (uintptr_t)find))
			continue;
		s->found = code;
		return 1;
	}
	return 0;
}

struct hauli_code hauli_code_of_other(const void *fn)
{
	struct search s = {.fn = (uintptr_t)fn};

	dl_iterate_phdr(find, &s);
	return s.found;
}

static bool make(void)
{
	size_t n = (size_t)(last - first), used = 0;
	struct hauli_code *r;

	hauli_shared_begin();
	r = malloc((n + 1) * sizeof(*r));
	hauli_shared_end();
	if (!r)
		return false;
#if HAULI_ASAN
	/* Haul's own code calls AddressSanitizer anywhere. */
	r[used] = hauli_code_of_other((const void *)__sanitizer_start_switch_fiber);
	used += r[used].end > r[used].begin;
#endif
	for (size_t i = 0; i < n; i++)
		if (first[i].end > first[i].begin)
			r[used++] = first[i];
	qsort(r, used, sizeof(*r), compare);
	ranges = r;
	hauli_u32_published_set(&nb_ranges, (uint32_t)used);
	return true;
}

bool hauli_own_init(void)
{
	bool ok;

	hauli_process_lock();
	ok = hauli_u32_published_get(&nb_ranges) > 0 || make();
	hauli_process_unlock();
	return ok;
}

/* By the linker. */
extern const char calls[] __asm__("__start_haul_calls") __attribute__((weak, visibility("hidden")));
extern const char calls_end[] __asm__("__stop_haul_calls")
	__attribute__((weak, visibility("hidden")));

bool hauli_own_calls_program(const void *pc)
{
	const char *at = pc;

	return at >= calls && at < calls_end;
}

bool hauli_own_has(const void *pc)
{
	uint32_t low = 0, high = hauli_u32_published_get(&nb_ranges);
	uintptr_t at = (uintptr_t)pc;

	if (hauli_own_calls_program(pc))
		return true;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (at >= ranges[middle].end)
			low = middle + 1;
		else if (at < ranges[middle].begin)
			high = middle;
		else
			return true;
	}
	return false;
}
