/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters with one writer at a time and any number of readers. The writer pays for a plain add, a
 * reader never sees a torn value, and nothing is ordered.
 */
#ifndef HAULI_BASE_COUNTER_H
#define HAULI_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/simulated.h"

struct hauli_counter {
	_Atomic uint64_t v;
};

/* The writer. One unlocked add: clang makes it of the load and the store, gcc does not. */
static inline void hauli_counter_add(struct hauli_counter *c, uint64_t n)
{
#if HAULI_SIM
	c->v += n; /* the same steps for each CPU: none */
#elif defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
	__asm__("addq %1, %0" : "+m"(c->v) : "er"(n) : "cc");
#else
	uint64_t v = atomic_load_explicit(&c->v, memory_order_relaxed);

	atomic_store_explicit(&c->v, v + n, memory_order_relaxed);
#endif
}

static inline uint64_t hauli_counter_read(const struct hauli_counter *c)
{
	return atomic_load_explicit(&c->v, memory_order_relaxed);
}

#endif
