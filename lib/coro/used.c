/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/used.h"

#include "base/race.h"

/* Below the frame address of a function that calls nothing: its locals and the red zone. */
#define OWN_FRAME 512

/* Neither ASan nor TSan may see reads of frames, or call anything between them. */
#define RAW __attribute__((no_sanitize_address)) HAULI_MAY_RACE

RAW size_t hauli_stack_used(const struct hauli_stack *stack)
{
	/* not by hauli_stack_lo(): for a dump, this may race with the stack's first owner */
	const uint64_t *word = (const uint64_t *)((const char *)stack - stack->bytes);

	while (word < (const uint64_t *)stack && *word == 0)
		word++;
	return (size_t)((const char *)stack - (const char *)word);
}

RAW void hauli_stack_wipe(struct hauli_stack *stack)
{
	uint64_t *word = (uint64_t *)hauli_stack_lo(stack), *end = (uint64_t *)stack;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0) - OWN_FRAME;

	if (here - (uintptr_t)word < stack->bytes)
		end = (uint64_t *)(here & ~(uintptr_t)7);
	for (; word < end; word++)
		if (*word != 0) { /* a page that was never written stays so */
			*word = 0;
			asm volatile("" : : : "memory"); /* no call of memset() */
		}
}
