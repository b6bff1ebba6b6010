/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline of a carrier: a ring of its last events (haul/trace_file.h). Its carrier's thread
 * writes it; any thread writes it to a file meanwhile (write.c).
 *
 * A ring has to be read without the memory of the program, after a crash too, so the text of a name
 * is in the ring itself: an event has the number of a slot, and an event before it the text of that
 * slot. The text is written again before half of the ring has been overwritten since. A name is
 * told from another by its address and its text: the memory of a name may become that of another
 * when its coroutine has ended.
 */
#ifndef HAULI_TRACE_TIMELINE_H
#define HAULI_TRACE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <haul/trace_file.h>

#include "base/cacheline.h"
#include "base/clock.h"
#include "base/simulated.h"
#include "conc/last.h"
#include "conc/word.h"

#define HAULI_TIMELINE_NAMES 256u
#define HAULI_TIMELINE_TEXT 60u /* bytes of a name that are told */
#define HAULI_TIMELINE_MOST (1u << 28) /* events in each ring */

struct hauli_timeline_name {
	const char *text;
	uint64_t at; /* the number of the event behind its text */
	char copy[HAULI_TIMELINE_TEXT + 4];
};

/* Written by the carrier's thread. */
struct hauli_timeline {
	HAULI_LINE struct hauli_last ring;
	uint64_t since; /* ticks: when what runs now began to */
	const void *on; /* the coroutine that runs, as far as events say; NULL: the loop */
	uint64_t ended; /* the carrier's count of ended coroutines at the last HAUL_TRACE_RUN */
	uint64_t polled; /* ticks: when the poller ran last; 0: not yet */
	struct hauli_timeline_name names[HAULI_TIMELINE_NAMES];
	/* of a file: constant, but for what write.c sets in a copy */
	struct haul_trace_ring head;
	struct hauli_u32_published tid; /* 0: the thread has not begun */
};

HAULI_ASSERT_LINE(struct hauli_timeline, ring);

/* The time of events. */
static inline uint64_t hauli_timeline_now(void)
{
	uint64_t now;

	hauli_unseen_begin();
	now = hauli_timer_ticks();
	hauli_unseen_end();
	return now;
}

/* The carrier's thread. sub: up to 63; extra: up to 65,535; value: up to 48 bits. */
static inline void hauli_timeline_put_at(struct hauli_timeline *t, uint64_t ticks,
	enum haul_trace_kind kind, unsigned sub, uint64_t value, unsigned extra)
{
	hauli_unseen_begin();
	hauli_last_put(&t->ring, ticks << 12 | sub << 6 | kind, value << 16 | extra);
	hauli_unseen_end();
}

static inline void hauli_timeline_put(struct hauli_timeline *t, enum haul_trace_kind kind,
	unsigned sub, uint64_t value, unsigned extra)
{
	hauli_timeline_put_at(t, hauli_timeline_now(), kind, sub, value, extra);
}

/* Behind HAUL_TRACE_COUNT. */
static inline void hauli_timeline_put_value(struct hauli_timeline *t, int64_t value)
{
	hauli_unseen_begin();
	hauli_last_put(&t->ring, HAUL_TRACE_VALUE, (uint64_t)value);
	hauli_unseen_end();
}

/* The slot of a name. The slow part writes its text. */
unsigned hauli_timeline_name_slow(struct hauli_timeline *t, const char *text, unsigned slot);

/* By its address; in a simulation by what it says, since addresses differ from run to run. */
static inline unsigned hauli_timeline_slot(const char *text)
{
	uint64_t key = HAULI_SIM ? 0 : (uintptr_t)text;

	for (const char *c = text; HAULI_SIM && *c; c++)
		key = key * 31 + (unsigned char)*c;
	return (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

static inline unsigned hauli_timeline_name(struct hauli_timeline *t, const char *text)
{
	unsigned slot = hauli_timeline_slot(text);
	const struct hauli_timeline_name *n = &t->names[slot];
	bool is_new;

	hauli_unseen_begin();
	is_new = n->text != text || hauli_last_own_end(&t->ring) - n->at >= t->ring.size / 2;
	hauli_unseen_end();
	if (__builtin_expect(!is_new, 1) && strncmp(n->copy, text, HAULI_TIMELINE_TEXT) == 0)
		return slot;
	return hauli_timeline_name_slow(t, text, slot);
}

#endif
