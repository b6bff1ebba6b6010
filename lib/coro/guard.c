/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* From Linux 6.13, include/uapi/asm-generic/mman-common.h; Debian 12's headers are older. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* The bytes right below the stack, which an overflow reaches first. Memory new from the kernel is
 * zero, so an intact canary costs no page. */
#define CANARY_BYTES 256

/* Arenas leave a quarter of the process's mappings to the rest of the program. A guard uses two:
 * its own, and the one of the slot that it splits off. */
static long mappings_for_guards(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	long max = 65530;

	if (f) {
		if (fscanf(f, "%ld", &max) != 1)
			max = 65530;
		fclose(f);
	}
	return max / 4 * 3;
}

/* madvise() succeeds also where the advice is ignored, as in qemu's user emulation. So a system
 * call has to find out that it cannot write to the guard. */
static bool kernel_has_guards(size_t page)
{
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool has;

	if (p == MAP_FAILED)
		return false;
	has = madvise(p, page, MADV_GUARD_INSTALL) == 0 && sigpending(p) < 0 && errno == EFAULT;
	munmap(p, page);
	return has;
}

int hauli_guards_init(struct hauli_guards *g, enum hauli_guard kind)
{
	g->page = (size_t)sysconf(_SC_PAGESIZE);
	g->size = (HAULI_GUARD_BYTES + g->page - 1) / g->page * g->page;
	g->mappings_left = mappings_for_guards();
	g->asked = kind != HAULI_GUARD_BEST;
	if (kind == HAULI_GUARD_BEST)
		kind = kernel_has_guards(g->page) ? HAULI_GUARD_MADVISE : HAULI_GUARD_MPROTECT;
	else if (kind == HAULI_GUARD_MADVISE && !kernel_has_guards(g->page))
		return -EOPNOTSUPP;
	hauli_u8_owned_set(&g->kind, (uint8_t)kind);
	return 0;
}

static void notice(void)
{
	fprintf(stderr,
		"haul: no more guard pages available (vm.max_map_count): from now on a stack "
		"overflow is detected only when the coroutine ends; raise vm.max_map_count, or use "
		"Linux 6.13 or newer\n");
}

bool hauli_guard_set(struct hauli_guards *g, char *lo)
{
	/* Read once: a simulation has as many steps whatever the kernel can. */
	enum hauli_guard kind = hauli_u8_owned_get(&g->kind);

	if (kind == HAULI_GUARD_MADVISE) {
		if (madvise(lo, g->size, MADV_GUARD_INSTALL) == 0)
			return true;
		/* The kernel refuses such guards in locked memory. */
		kind = HAULI_GUARD_MPROTECT;
		hauli_u8_owned_set(&g->kind, HAULI_GUARD_MPROTECT);
	}
	if (kind == HAULI_GUARD_MPROTECT) {
		g->mappings_left -= 2;
		if (g->mappings_left >= 0 && mprotect(lo, g->size, PROT_NONE) == 0)
			return true;
		hauli_u8_owned_set(&g->kind, HAULI_GUARD_CANARY);
		notice();
	}
	return false;
}

__attribute__((no_sanitize_address)) bool hauli_guard_broken(const char *stack_lo)
{
	const uint64_t *word = (const uint64_t *)(stack_lo - CANARY_BYTES);
	uint64_t seen = 0;

	for (size_t i = 0; i < CANARY_BYTES / sizeof(*word); i++)
		seen |= word[i];
	return seen != 0;
}
