/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single words that several threads access. A name gives the word's width and its writers:
 * owned, one writer at a time, and it orders nothing; published, one writer at a time, and a reader
 * sees the earlier writes; shared, any thread, and it orders nothing.
 *
 *	u8_owned       8 bits
 *	u64_owned      64 bits
 *	u32_published  32 bits: the progress of the writer
 *	               E4 the writer's writes before it set the number, before the code after a
 *	               reader's load of that number: release, acquire
 *	ptr_published  a pointer; fn_published: to a function
 *	               E2 the writer's earlier writes before the reader's use: release, acquire
 *	u8_shared      8 bits: any thread sets and clears bits of its own
 *	u64_shared     64 bits: any thread adds to it, or sets it, and the last one wins, or swaps
 *	               it, and of two that have read the same the first one wins
 *	ticket         a ticket dispenser, 32 bits: each take returns the next number
 *	trylock        taken by the first thread that tries, released by its holder
 *	               E1 a holder's accesses before the next holder's: release, acquire
 *	claim          taken once, by the first thread that tries; it orders nothing
 *	tagged         an address with tags in its lowest bits: any thread swaps it for another
 *	               E5 the writes before a swap, before the code after a swap that
 *	               finds its value: release, acquire
 *	handoff        how a waiter waits: it spins, or not; its server finds that out, and says in
 *	               the same step that it has served
 *	               E6 the server's writes before serve(), before the code after a give_up()
 *	               that comes too late: release, acquire
 *	permit         given by one thread, taken by the same thread or by a remote one
 *	               E3 the giver's writes before the code after a remote take: release, acquire.
 *	               The remote take is an exchange: it returns a permit that is given at the same
 *	               time together with the writes before it, or leaves it there
 *
 * Model of trylock, ptr_published and completion: tests/model/word.c; of permit: permit.c,
 * permit_remote.c; of u32_published: order.c, capture_ring.c;
 * of claim: select_sem.c; of tagged: join_until.c; of handoff: sync_mutex_spin.c; of the swap of
 * u64_shared: rrl.c.
 */
#ifndef HAULI_CONC_WORD_H
#define HAULI_CONC_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hauli_trylock {
	_Atomic bool taken;
};

static inline bool hauli_trylock_take(struct hauli_trylock *l)
{
	return !atomic_exchange_explicit(&l->taken, true, memory_order_acquire /* word.E1:A */);
}

static inline void hauli_trylock_release(struct hauli_trylock *l)
{
	atomic_store_explicit(&l->taken, false, memory_order_release /* word.E1:R */);
}

/* Any thread, while others take and release: a guess. */
static inline bool hauli_trylock_is_taken(const struct hauli_trylock *l)
{
	return atomic_load_explicit(&l->taken, memory_order_relaxed /* a guess */);
}

struct hauli_claim {
	_Atomic bool taken;
};

/* True: for the first caller, once. */
static inline bool hauli_claim_take(struct hauli_claim *c)
{
	return !atomic_exchange_explicit(&c->taken, true, memory_order_relaxed /* says only who */);
}

struct hauli_ptr_published {
	_Atomic(void *) to;
};

static inline void hauli_ptr_published_set(struct hauli_ptr_published *p, void *to)
{
	atomic_store_explicit(&p->to, to, memory_order_release /* word.E2:R */);
}

static inline void *hauli_ptr_published_get(const struct hauli_ptr_published *p)
{
	return atomic_load_explicit(&p->to, memory_order_acquire /* word.E2:A */);
}

typedef void hauli_any_fn(void);
struct hauli_fn_published {
	struct hauli_ptr_published at; /* POSIX: a function's address fits */
};

static inline void hauli_fn_published_set(struct hauli_fn_published *p, hauli_any_fn *to)
{
	hauli_ptr_published_set(&p->at, (void *)to);
}

static inline hauli_any_fn *hauli_fn_published_get(const struct hauli_fn_published *p)
{
	return (hauli_any_fn *)hauli_ptr_published_get(&p->at);
}

struct hauli_u8_owned {
	_Atomic uint8_t value;
};

static inline void hauli_u8_owned_set(struct hauli_u8_owned *w, uint8_t value)
{
	atomic_store_explicit(&w->value, value, memory_order_relaxed /* decides nothing */);
}

static inline uint8_t hauli_u8_owned_get(const struct hauli_u8_owned *w)
{
	return atomic_load_explicit(&w->value, memory_order_relaxed /* own, or for show */);
}

struct hauli_u8_shared {
	_Atomic uint8_t bits;
};

/* Before other threads know of it. */
static inline void hauli_u8_shared_init(struct hauli_u8_shared *w, uint8_t bits)
{
	atomic_store_explicit(&w->bits, bits, memory_order_relaxed /* not known yet */);
}

static inline uint8_t hauli_u8_shared_get(const struct hauli_u8_shared *w)
{
	return atomic_load_explicit(&w->bits, memory_order_relaxed /* own, or for show */);
}

static inline void hauli_u8_shared_set_bits(struct hauli_u8_shared *w, uint8_t bits)
{
	atomic_fetch_or_explicit(&w->bits, bits, memory_order_relaxed /* decides nothing */);
}

static inline void hauli_u8_shared_clear_bits(struct hauli_u8_shared *w, uint8_t bits)
{
	atomic_fetch_and_explicit(
		&w->bits, (uint8_t)~bits, memory_order_relaxed /* decides nothing */);
}

struct hauli_u64_owned {
	_Atomic uint64_t value;
};

static inline void hauli_u64_owned_set(struct hauli_u64_owned *w, uint64_t value)
{
	atomic_store_explicit(&w->value, value, memory_order_relaxed /* decides nothing */);
}

static inline uint64_t hauli_u64_owned_get(const struct hauli_u64_owned *w)
{
	return atomic_load_explicit(&w->value, memory_order_relaxed /* own, or a hint */);
}

struct hauli_u32_published {
	_Atomic uint32_t value;
};

static inline void hauli_u32_published_set(struct hauli_u32_published *w, uint32_t value)
{
	atomic_store_explicit(&w->value, value, memory_order_release /* word.E4:R */);
}

static inline uint32_t hauli_u32_published_get(const struct hauli_u32_published *w)
{
	return atomic_load_explicit(&w->value, memory_order_acquire /* word.E4:A */);
}

struct hauli_u64_shared {
	_Atomic uint64_t value;
};

static inline void hauli_u64_shared_add(struct hauli_u64_shared *w, uint64_t n)
{
	atomic_fetch_add_explicit(&w->value, n, memory_order_relaxed /* a number only */);
}

static inline void hauli_u64_shared_set(struct hauli_u64_shared *w, uint64_t value)
{
	atomic_store_explicit(&w->value, value, memory_order_relaxed /* a number only */);
}

static inline uint64_t hauli_u64_shared_get(const struct hauli_u64_shared *w)
{
	return atomic_load_explicit(&w->value, memory_order_relaxed /* a number only */);
}

/* Sets value if the word is still the one that was read. */
static inline bool hauli_u64_shared_swap(struct hauli_u64_shared *w, uint64_t read, uint64_t value)
{
	return atomic_compare_exchange_strong_explicit(&w->value, &read, value,
		memory_order_relaxed /* a number only */, memory_order_relaxed /* a number only */);
}

struct hauli_tagged {
	_Atomic uintptr_t value;
};

/* Before another thread can know the address in value, or if another word publishes the writes. */
static inline void hauli_tagged_set(struct hauli_tagged *w, uintptr_t value)
{
	atomic_store_explicit(&w->value, value, memory_order_relaxed /* published otherwise */);
}

/* What the address points to may be used only after a swap, or by the thread that has set it. */
static inline uintptr_t hauli_tagged_get(const struct hauli_tagged *w)
{
	return atomic_load_explicit(&w->value, memory_order_relaxed /* a swap follows */);
}

/* Sets value if the word is *expected; else returns false, with the word in *expected. */
static inline bool hauli_tagged_swap(struct hauli_tagged *w, uintptr_t *expected, uintptr_t value)
{
	return atomic_compare_exchange_strong_explicit(&w->value, expected, value,
		memory_order_acq_rel /* word.E5:R word.E5:A */,
		memory_order_relaxed /* to try again */);
}

enum {
	HAULI_HANDOFF_WAITS, /* to be woken by its server */
	HAULI_HANDOFF_SPINS,
	HAULI_HANDOFF_SERVED, /* while it span */
};

struct hauli_handoff {
	_Atomic uint32_t how;
};

/* Before a server can find the waiter; another word publishes it. */
static inline void hauli_handoff_init(struct hauli_handoff *h, bool spins)
{
	atomic_store_explicit(&h->how, spins ? HAULI_HANDOFF_SPINS : HAULI_HANDOFF_WAITS,
		memory_order_relaxed /* published otherwise */);
}

/* The waiter. A hint: it spins, and has not been served. */
static inline bool hauli_handoff_spins(const struct hauli_handoff *h)
{
	return atomic_load_explicit(&h->how, memory_order_relaxed /* give_up() decides */) ==
		HAULI_HANDOFF_SPINS;
}

/* The waiter spins no more. False: it was served. */
static inline bool hauli_handoff_give_up(struct hauli_handoff *h)
{
	uint32_t how = atomic_load_explicit(&h->how, memory_order_acquire /* word.E6:A */);

	return how == HAULI_HANDOFF_SPINS &&
		atomic_compare_exchange_strong_explicit(&h->how, &how, HAULI_HANDOFF_WAITS,
			memory_order_acquire /* word.E6:A */, memory_order_acquire /* word.E6:A */);
}

/* The server, once. True: the waiter spins; it goes on by itself, and may be gone. False: it waits
 * to be woken. */
static inline bool hauli_handoff_serve(struct hauli_handoff *h)
{
	if (atomic_load_explicit(&h->how, memory_order_relaxed /* WAITS stays */) ==
		HAULI_HANDOFF_WAITS)
		return false;
	return atomic_exchange_explicit(&h->how, HAULI_HANDOFF_SERVED,
		       memory_order_release /* word.E6:R */) == HAULI_HANDOFF_SPINS;
}

struct hauli_permit {
	_Atomic bool given;
};

static inline void hauli_permit_give(struct hauli_permit *p)
{
	atomic_store_explicit(&p->given, true, memory_order_release /* word.E3:R */);
}

/* The giver. */
static inline bool hauli_permit_is_given(const struct hauli_permit *p)
{
	return atomic_load_explicit(&p->given, memory_order_relaxed /* own */);
}

static inline void hauli_permit_take(struct hauli_permit *p)
{
	atomic_store_explicit(&p->given, false, memory_order_relaxed /* own */);
}

/* Any thread but the giver. */
static inline bool hauli_permit_take_remote(struct hauli_permit *p)
{
	return atomic_exchange_explicit(&p->given, false, memory_order_acquire /* word.E3:A */);
}

struct hauli_ticket {
	_Atomic uint32_t next;
};

static inline uint32_t hauli_ticket_take(struct hauli_ticket *t)
{
	return atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed /* a number only */);
}

/* The number of tickets taken so far. */
static inline uint32_t hauli_ticket_get(const struct hauli_ticket *t)
{
	return atomic_load_explicit(&t->next, memory_order_relaxed /* a number only */);
}

/* A word of memory that the kernel writes, and a program only looks at: what it says is then asked
 * of the kernel. */
struct hauli_u32_seen {
	_Atomic uint32_t value;
};

static inline uint32_t hauli_u32_seen_get(const struct hauli_u32_seen *w)
{
	return atomic_load_explicit(&w->value, memory_order_relaxed /* a look */);
}

#endif
