/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before everything else in sources that are compiled for simulation: each atomic access,
 * each fence and each pause is a step, before which another thread may go on.
 */
#if !defined(HAULI_SIM_STEPS_H) && !defined(__ASSEMBLER__)
#define HAULI_SIM_STEPS_H

#include <stdatomic.h>
#include <stdint.h>

/* Steps until the next one at which the seed decides who goes on. */
extern uint64_t hauli_sim_steps_left;

void hauli_sim_switch(void);
/* A look at what another thread will change: others go on, and time passes. */
void hauli_sim_pause(void);
/*
 * The same in a loop that does nothing but look at what threads of its host do, at what comes to
 * its host, and at the clock until a time (of hauli_sim_ticks()): the thread rests until one of
 * these is there to be seen. has_acted: since its last rest it has done something that others may
 * see.
 */
void hauli_sim_rest(uint64_t until, int has_acted);
/* Nanoseconds of the simulated clock, also outside of a simulation. */
uint64_t hauli_sim_ticks(void);
/* Between these the thread takes no step, and the clock stands still. May be nested. */
void hauli_sim_unseen_begin(void);
void hauli_sim_unseen_end(void);
/* The timelines of all runtimes are kept (timelines.h); first: struct hauli_timeline. */
_Bool hauli_sim_is_traced(void);
void hauli_sim_keep_timelines(void *first, unsigned n);
/* True on a simulated thread. */
_Bool hauli_sim_is_on(void);
/* An allocation is to fail. */
_Bool hauli_sim_no_memory(void);
/* A word of the calling thread's host, NULL at first; outside of a simulation, of the process. */
void **hauli_sim_pool(void);
/* The thread's waits are no reason to let time pass. */
void hauli_sim_background(void);

static inline __attribute__((always_inline)) void hauli_sim_step(void)
{
	if (__builtin_expect(--hauli_sim_steps_left == 0, 0))
		hauli_sim_switch();
}

#define HAULI_SIM_STEP(access)    \
	(__extension__({          \
		hauli_sim_step(); \
		access;           \
	}))

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_thread_fence

/* All threads of a simulation are one, so the orders are without effect. */
#ifdef __clang__
#define atomic_load_explicit(p, order) HAULI_SIM_STEP(__c11_atomic_load(p, order))
#define atomic_store_explicit(p, v, order) HAULI_SIM_STEP(__c11_atomic_store(p, v, order))
#define atomic_exchange_explicit(p, v, order) HAULI_SIM_STEP(__c11_atomic_exchange(p, v, order))
#define atomic_compare_exchange_strong_explicit(p, old, v, order, failed) \
	HAULI_SIM_STEP(__c11_atomic_compare_exchange_strong(p, old, v, order, failed))
#define atomic_fetch_add_explicit(p, v, order) HAULI_SIM_STEP(__c11_atomic_fetch_add(p, v, order))
#define atomic_fetch_sub_explicit(p, v, order) HAULI_SIM_STEP(__c11_atomic_fetch_sub(p, v, order))
#define atomic_fetch_or_explicit(p, v, order) HAULI_SIM_STEP(__c11_atomic_fetch_or(p, v, order))
#define atomic_fetch_and_explicit(p, v, order) HAULI_SIM_STEP(__c11_atomic_fetch_and(p, v, order))
#else
#define atomic_load_explicit(p, order) HAULI_SIM_STEP(__atomic_load_n((p), (order)))
#define atomic_store_explicit(p, v, order) HAULI_SIM_STEP(__atomic_store_n((p), (v), (order)))
#define atomic_exchange_explicit(p, v, order) HAULI_SIM_STEP(__atomic_exchange_n((p), (v), (order)))
#define atomic_compare_exchange_strong_explicit(p, old, v, order, failed) \
	HAULI_SIM_STEP(__atomic_compare_exchange_n((p), (old), (v), 0, (order), (failed)))
#define atomic_fetch_add_explicit(p, v, order) HAULI_SIM_STEP(__atomic_fetch_add((p), (v), (order)))
#define atomic_fetch_sub_explicit(p, v, order) HAULI_SIM_STEP(__atomic_fetch_sub((p), (v), (order)))
#define atomic_fetch_or_explicit(p, v, order) HAULI_SIM_STEP(__atomic_fetch_or((p), (v), (order)))
#define atomic_fetch_and_explicit(p, v, order) HAULI_SIM_STEP(__atomic_fetch_and((p), (v), (order)))
#endif
/* A weak exchange may fail without a reason, and when it does so is up to the machine. */
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
#define atomic_thread_fence(order) hauli_sim_step()

#endif
