/* SPDX-License-Identifier: BSD-3-Clause */
#include "receiver.h"

static inline uint64_t *word_of(struct receiver_flow *f, uint64_t n)
{
	return &f->seen[n % RECEIVER_WINDOW / 64];
}

static inline uint64_t bit_of(uint64_t n)
{
	return UINT64_C(1) << (n % 64);
}

/* Forgets the numbers from f->next to n, which have not arrived. */
static void forget_to(struct receiver_flow *f, uint64_t n)
{
	uint64_t i = f->next;

	if (n - i >= RECEIVER_WINDOW)
		i = n - RECEIVER_WINDOW + 1;
	for (; i <= n; i++)
		*word_of(f, i) &= ~bit_of(i);
}

/* The number with these lower 32 bits that is nearest to f->next. */
static uint64_t extend(const struct receiver_flow *f, uint32_t sequence)
{
	return f->next + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)f->next);
}

enum receiver_verdict receiver_note(struct receiver_flow *f, uint32_t sequence)
{
	uint64_t n;

	if (f->next == 0) {
		/* 2^32 more, so that packets that this one has overtaken are not negative. */
		n = (UINT64_C(1) << 32) + sequence;
		f->first = f->next = n;
	} else {
		n = extend(f, sequence);
	}
	if (n >= f->next) {
		forget_to(f, n);
		*word_of(f, n) |= bit_of(n);
		f->next = n + 1;
		f->received++;
		return RECEIVER_NEW;
	}
	if (f->next - n <= RECEIVER_WINDOW) {
		if (*word_of(f, n) & bit_of(n)) {
			f->duplicated++;
			return RECEIVER_DUPLICATED;
		}
		*word_of(f, n) |= bit_of(n);
	}
	if (n < f->first)
		f->first = n;
	f->received++;
	f->reordered++;
	return RECEIVER_REORDERED;
}

void receiver_merge(struct receiver_flow *to, const struct receiver_flow *from)
{
	if (from->next == 0)
		return;
	if (to->next == 0 || from->first < to->first)
		to->first = from->first;
	if (from->next > to->next)
		to->next = from->next;
	to->received += from->received;
	to->reordered += from->reordered;
	to->duplicated += from->duplicated;
}
