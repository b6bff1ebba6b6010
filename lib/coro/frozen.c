/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a coroutine that was frozen continues with each live byte of its stack as it was.
 *
 * Live is what lies between the stack pointer and the end of the stack's head, and the red zone
 * below: the function around the switch may use that. The thaw runs below all of it.
 *
 * Freeze and thaw are steps of the thread that may switch to the coroutine at that time, so they
 * need no order between threads. A handler of a signal may interrupt them. It sees a frozen
 * coroutine by its pc, which is set last in both directions; the caller keeps handlers away from
 * the context meanwhile.
 *
 * With a sanitizer the memory of the stack stays, because its head is read before each switch; the
 * frames are overwritten, so that whoever uses them shows. Frames are copied by code that the
 * sanitizers do not see: they have red zones, and a thief's thread may copy them back.
 */
#include "coro/frozen.h"

#include <stdlib.h>
#include <string.h>

#include "base/race.h"
#include "base/valgrind.h"
#include "coro/trace.h"

/* Below the stack pointer. It has to be a multiple of 16. */
#ifdef __x86_64__
#define RED_ZONE 128
#else
#define RED_ZONE 0
#endif

#define THAW_ROOM 256 /* bytes below the live ones, more than the red zone */

/* Nothing may call memcpy() here, which sanitizers check. */
#define RAW __attribute__((no_sanitize_address)) HAULI_MAY_RACE

#define SCRIBBLE UINT64_C(0xa5a5a5a5a5a5a5a5)

static inline uint64_t *lowest(const struct hauli_ctx *ctx)
{
	return (uint64_t *)((char *)ctx->sp - RED_ZONE);
}

static uint32_t live_words(const struct hauli_co *co, size_t head)
{
	const char *end = (const char *)co->stack + head;

	return (uint32_t)((size_t)(end - (const char *)lowest(&co->ctx)) / sizeof(uint64_t));
}

static uint32_t maps_of(uint32_t words)
{
	return (words + 63) / 64;
}

/* memcheck tells of a test of a word that nobody has written; then no word counts as zero. */
RAW static uint32_t count(const uint64_t *from, uint32_t words)
{
	uint32_t n = 0;

	if (RUNNING_ON_VALGRIND)
		return words;
	for (uint32_t i = 0; i < words; i++)
		n += from[i] != 0;
	return n;
}

size_t hauli_frozen_size(const struct hauli_co *co, size_t head)
{
	uint32_t words = live_words(co, head);

	if (words > HAULI_FROZEN_MOST / sizeof(uint64_t))
		return 0;
	return sizeof(struct hauli_frozen) +
		(maps_of(words) + count(lowest(&co->ctx), words)) * sizeof(uint64_t);
}

RAW static void pack(uint64_t *to, const uint64_t *from, uint32_t words)
{
	uint64_t *map = to, bit = 1;
	bool all = RUNNING_ON_VALGRIND;

	to += maps_of(words);
	for (uint32_t i = 0; i < words; i++, bit = bit << 1 | bit >> 63) {
		if (i % 64 == 0)
			map[i / 64] = 0;
		if (all || from[i] != 0) {
			map[i / 64] |= bit;
			*to++ = from[i];
		}
	}
}

/* Zeros are written, too: locked memory stays as it was, as that of a sanitizer does. */
RAW static void unpack(uint64_t *to, const uint64_t *from, uint32_t words)
{
	const uint64_t *map = from;

	from += maps_of(words);
	for (uint32_t i = 0; i < words; i++) {
		to[i] = map[i / 64] >> i % 64 & 1 ? *from++ : 0;
		asm volatile("" : : : "memory"); /* no call of memset() */
	}
}

RAW static void scribble(uint64_t *from, const uint64_t *end)
{
	for (; from < end; from++) {
		*from = SCRIBBLE;
		asm volatile("" : : : "memory");
	}
}

static inline uint64_t in_frames(const struct hauli_ctx *ctx)
{
	return (uint64_t)((char *)ctx->fp - (char *)ctx->sp);
}

RAW static uint64_t word_at(const struct hauli_ctx *ctx, uint32_t offset)
{
	return *(const uint64_t *)((const char *)ctx->sp + offset);
}

/* True if the return addresses of co are where those of `at` are, in as many bytes: so each frame
 * is as large, and was called from the same place. */
static bool is_at(const struct hauli_frozen_at *at, const struct hauli_co *co, uint32_t bytes)
{
	if (at->ctx.pc != co->ctx.pc || at->bytes != bytes ||
		(in_frames(&at->ctx) != in_frames(&co->ctx) &&
			(in_frames(&at->ctx) < bytes || in_frames(&co->ctx) < bytes)))
		return false;
	for (uint32_t i = 1; i < at->n; i++)
		if (at->words[i] == 0 ||
			word_at(&co->ctx, at->words[i]) != (uintptr_t)at->pcs[i] + 1)
			return false;
	return true;
}

/* Finds the return addresses in the frames of co: those are one byte behind the pcs. */
static void find_words(struct hauli_frozen_at *at, const struct hauli_co *co)
{
	uint32_t offset = 0;

	for (uint32_t i = 1; i < at->n; i++) {
		while (offset < at->bytes && word_at(&co->ctx, offset) != (uintptr_t)at->pcs[i] + 1)
			offset += sizeof(uint64_t);
		if (offset == at->bytes)
			return;
		at->words[i] = offset;
		offset += sizeof(uint64_t);
	}
}

static struct hauli_frozen_at *unwind(const struct hauli_co *co, uint32_t bytes)
{
	struct hauli_frozen_at *at = calloc(1, sizeof(*at));

	if (!at)
		return NULL;
	at->ctx = co->ctx;
	at->bytes = bytes;
	at->n = (uint16_t)hauli_trace(&co->ctx, at->pcs, HAULI_FROZEN_DEPTH);
	if (!RUNNING_ON_VALGRIND) /* as for count() */
		find_words(at, co);
	return at;
}

static bool are_same(const struct hauli_frozen_at *a, const struct hauli_frozen_at *b)
{
	return a->n == b->n && memcmp(a->pcs, b->pcs, a->n * sizeof(a->pcs[0])) == 0;
}

struct hauli_frozen_at *hauli_frozen_at(struct hauli_frozen_ats *ats, const struct hauli_co *co)
{
	uint32_t bytes = (uint32_t)((char *)co->stack - (char *)co->ctx.sp) & ~UINT32_C(7);
	struct hauli_frozen_at *at;

	for (unsigned i = 0; i < ats->n; i++)
		if (is_at(ats->of[i], co, bytes))
			return ats->of[i];
	at = unwind(co, bytes);
	for (unsigned i = 0; at && i < ats->n; i++) {
		if (are_same(ats->of[i], at)) {
			free(at);
			return ats->of[i];
		}
	}
	if (at && ats->n == sizeof(ats->of) / sizeof(ats->of[0]))
		at->alone = true;
	else if (at)
		ats->of[ats->n++] = at;
	return at;
}

void hauli_frozen_at_put(struct hauli_frozen_at *at)
{
	if (at->alone)
		free(at);
}

void hauli_frozen_ats_fini(struct hauli_frozen_ats *ats)
{
	while (ats->n > 0)
		free(ats->of[--ats->n]);
}

void hauli_freeze(struct hauli_frozen *f, struct hauli_co *co, size_t head,
	struct hauli_frozen_at *at, void (*thaw)(void *pass, struct hauli_frozen *f))
{
	uint64_t *from = lowest(&co->ctx);

	f->thaw = thaw;
	f->co = co;
	f->ctx = co->ctx;
	f->at = at;
	f->words = live_words(co, head);
	pack(f->copy, from, f->words);
	if (HAULI_ASAN || HAULI_TSAN)
		scribble(from, (uint64_t *)co->stack);
	/* The thaw begins without a step of the stack pointer that memcheck would see. */
	VALGRIND_MAKE_MEM_UNDEFINED((char *)from - THAW_ROOM, THAW_ROOM);
	co->ctx.sp = (void *)((uintptr_t)from & ~(uintptr_t)15);
	co->ctx.fp = NULL;
	co->ctx.base = f;
	asm volatile("" : : : "memory");
	co->ctx.pc = (void *)hauli_coro_thaw;
}

RAW void hauli_frozen_restore(const struct hauli_frozen *f)
{
	struct hauli_co *co = f->co;

	unpack(lowest(&f->ctx), f->copy, f->words);
	co->ctx.sp = f->ctx.sp;
	co->ctx.fp = f->ctx.fp;
	co->ctx.base = f->ctx.base;
	asm volatile("" : : : "memory");
	co->ctx.pc = f->ctx.pc;
}

RAW void hauli_frozen_go_on(struct hauli_co *co, void *pass)
{
	struct hauli_ctx here;

	/* No call of hauli_co_arrived() before: for AddressSanitizer the switch to co has not ended
	 * yet, and does so where co continues. */
	hauli_switch(&here, &co->ctx, pass);
	__builtin_unreachable();
}

unsigned hauli_co_trace(const struct hauli_co *co, void **pcs, unsigned most)
{
	const struct hauli_frozen *f = hauli_frozen_of(co);

	if (!f)
		return hauli_trace(&co->ctx, pcs, most);
	most = most < f->at->n ? most : f->at->n;
	memcpy(pcs, f->at->pcs, most * sizeof(pcs[0]));
	return most;
}
