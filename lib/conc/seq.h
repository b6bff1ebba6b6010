/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A few words that change together, such as an address and what belongs to it: one writer at a time
 * writes them, any thread reads them without a lock.
 *
 * Promise: a read that succeeds returns the words of one write, of none that is older than one that
 * happens before the read.
 *
 *	word   writer      value
 *	turn   the writer  odd while the words are being written, even else; it only grows
 *	words  the writer
 *
 *	writer                     reader
 *	turn = odd                 even = turn           E1
 *	words = new         E2     new = words           E2
 *	turn = even         E1     turn == even? -> they are of one write
 *
 *	E1  the words of a write before a reader's: release in the store of the even turn, acquire
 *	    in the reader's first load of it.
 *	E2  the odd turn before each word of its write: release in the store of a word, acquire in
 *	    its load. A reader with one word of a later write finds the odd turn of that write, or a
 *	    later one, when it looks again: acquire loads keep that look behind them.
 *
 * Not needed: fences, as each store of a word releases, which costs x86 nothing (nor would
 * ThreadSanitizer follow fences); a barrier between a writer and its next write: its even turn is
 * released before the next odd one is stored. Writers have a lock, which orders them.
 *
 * A reader may fail, as a writer may be interrupted between two stores: it tries a few times, and
 * then takes the writers' lock. A turn comes back after 2^31 writes, during one read.
 *
 * Model: tests/model/seq.c. Stress: tests/stress/neigh.c.
 */
#ifndef HAULI_CONC_SEQ_H
#define HAULI_CONC_SEQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HAULI_SEQ_WORDS 3u

/* All zero is ready for use, and holds zeros. */
struct hauli_seq {
	_Atomic uint64_t words[HAULI_SEQ_WORDS];
	_Atomic uint32_t turn;
};

/* One writer at a time. */
static inline void hauli_seq_write(struct hauli_seq *s, const uint64_t words[HAULI_SEQ_WORDS])
{
	uint32_t turn = atomic_load_explicit(&s->turn, memory_order_relaxed /* own */);

	atomic_store_explicit(&s->turn, turn + 1, memory_order_relaxed /* E2 of the words */);
	for (unsigned i = 0; i < HAULI_SEQ_WORDS; i++)
		atomic_store_explicit(&s->words[i], words[i], memory_order_release /* seq.E2:R */);
	atomic_store_explicit(&s->turn, turn + 2, memory_order_release /* seq.E1:R */);
}

/* Any thread. A reader begins by the turn, reads words, and asks at the end whether they are of one
 * write; so it may stop at a word that it does not want. */
static inline uint32_t hauli_seq_turn(const struct hauli_seq *s)
{
	return atomic_load_explicit(&s->turn, memory_order_acquire /* seq.E1:A */);
}

static inline uint64_t hauli_seq_word(const struct hauli_seq *s, unsigned i)
{
	return atomic_load_explicit(&s->words[i], memory_order_acquire /* seq.E2:A */);
}

static inline bool hauli_seq_is_whole(const struct hauli_seq *s, uint32_t turn)
{
	return !(turn & 1) &&
		atomic_load_explicit(&s->turn, memory_order_relaxed /* E2 of the words */) == turn;
}

/* The writer, or a thread that has its lock. */
static inline uint64_t hauli_seq_own_word(const struct hauli_seq *s, unsigned i)
{
	return atomic_load_explicit(&s->words[i], memory_order_relaxed /* own */);
}

#endif
