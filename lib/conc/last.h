/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of the last entries, of two words each: one writer, which never waits and overwrites the
 * oldest; any thread copies the ring while the writer goes on.
 *
 * Promise: an entry that a reader keeps is whole, and is the one of its number.
 *
 *	word   writer      value
 *	end    the writer  the number of entries that are whole: the number of the next one
 *	words  the writer  entry i is at i modulo the size
 *
 *	writer, entry i                    reader
 *	words = new            E2          e = end              E1
 *	end = i + 1            E1          words = copy         E2
 *	                                   f = end: keep entries of the copy from f + 1 - size on
 *
 *	E1  the words of an entry before a reader's: release in the store of the end, acquire in the
 *	    reader's first load of it.
 *	E2  the end before the words of the next entry: release in the store of a word, acquire in
 *	    its load. A reader that has copied a word of entry j + size in place of one of entry j
 *	    finds an end of at least j + size when it looks again, and drops entry j: acquire loads
 *	    keep that look behind them.
 *
 * Of a ring that is full the entry that the writer is in is lost to a reader: it gets size - 1.
 *
 * Not needed: fences (conc/seq.h says why). The end has 64 bits, and does not come back.
 *
 * Model: tests/model/last.c. Stress: tests/stress/timeline.c.
 */
#ifndef HAULI_CONC_LAST_H
#define HAULI_CONC_LAST_H

#include <stdatomic.h>
#include <stdint.h>

struct hauli_last_entry {
	_Atomic uint64_t words[2];
};

struct hauli_last {
	_Atomic uint64_t end;
	uint64_t size; /* a power of two. Constant, as the next */
	struct hauli_last_entry *entries;
};

/* entries: of zeros, as many as size says. */
static inline void hauli_last_init(
	struct hauli_last *r, struct hauli_last_entry *entries, uint64_t size)
{
	atomic_init(&r->end, 0);
	r->size = size;
	r->entries = entries;
}

/* The writer. */
static inline uint64_t hauli_last_own_end(const struct hauli_last *r)
{
	return atomic_load_explicit(&r->end, memory_order_relaxed /* own */);
}

static inline void hauli_last_put(struct hauli_last *r, uint64_t a, uint64_t b)
{
	uint64_t i = hauli_last_own_end(r);
	struct hauli_last_entry *e = &r->entries[i & (r->size - 1)];

	atomic_store_explicit(&e->words[0], a, memory_order_release /* last.E2:R */);
	atomic_store_explicit(&e->words[1], b, memory_order_release /* last.E2:R */);
	atomic_store_explicit(&r->end, i + 1, memory_order_release /* last.E1:R */);
}

/* Any thread: at first the end, then the words of entries below it, then what is whole of these:
 * all from first() on. */
static inline uint64_t hauli_last_end(const struct hauli_last *r)
{
	return atomic_load_explicit(&r->end, memory_order_acquire /* last.E1:A */);
}

static inline uint64_t hauli_last_word(const struct hauli_last *r, uint64_t i, unsigned word)
{
	const struct hauli_last_entry *e = &r->entries[i & (r->size - 1)];

	return atomic_load_explicit(&e->words[word], memory_order_acquire /* last.E2:A */);
}

static inline uint64_t hauli_last_first(const struct hauli_last *r)
{
	uint64_t end = atomic_load_explicit(&r->end, memory_order_relaxed /* E2 of the words */);

	return end < r->size ? 0 : end + 1 - r->size;
}

#endif
