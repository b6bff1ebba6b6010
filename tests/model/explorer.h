/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The explorer: walks all interleavings of a few small threads over the real sources of lib/conc.
 *
 * Those sources, and the models, are compiled with -fsanitize=thread, but linked with hooks.c in
 * place of ThreadSanitizer's library. So every access to memory that is not provably local calls
 * into the explorer, and the code under test is the code that ships, to the letter.
 *
 * Threads are coroutines here. A thread runs up to its next visible step (an atomic access, a
 * futex call, an await) and stops before it; the explorer chooses the thread that steps next,
 * performs the step, and remembers the state after it. It tries all choices, depth first, by new
 * runs from the start; it does not follow a known state again. A state is the model's memory, the
 * store buffers, the stack of each thread, and the set of blocked threads. A 64-bit hash tells
 * states apart. A step whose order with the other threads' steps makes no difference is no choice:
 * a fence with an empty buffer, an access to memory that the model declares to be one thread's own.
 *
 * Memory, chosen per search:
 *   SC   a step takes effect at once, in one order for all threads
 *   TSO  each thread has a store buffer, as on x86: a store waits there, visible to its own thread
 *        only, until a flush makes it visible to the others: a step that may come at any time
 *   weak everything that C11 allows (so aarch64's behaviour too), except load buffering: a load may
 *        read an old value as long as the orders in the source allow it, and stores of two threads
 *        to one word may come in any order that these allow; but no store passes an earlier load of
 *        its thread. See weak.c; weak_litmus.c has the outcomes that each memory shows
 * In all of them, accesses that are not atomic are checked against C11's happens-before, which is
 * built from the orders in the source, not from the stronger guarantees of SC or TSO. So a missing
 * acquire or release shows as a data race even where that memory behaves. Between atomics only the
 * weak memory shows it.
 */
#ifndef HAUL_TESTS_MODEL_EXPLORER_H
#define HAUL_TESTS_MODEL_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_THREADS_MAX 4

struct model {
	const char *name;
	unsigned nb_threads;
	void (*threads[MODEL_THREADS_MAX])(void);
	void *memory; /* all shared memory; zeroed before each run */
	size_t size;
	void (*init)(void); /* runs after the zeroing; its accesses are no steps */
	void (*check)(void); /* runs after all threads have ended; may be NULL */
	/* Threads write atomics only, so there are no races to find: without the clocks of
	 * happens-before far fewer states differ. */
	bool only_atomics;
	unsigned time_outs; /* waits that end by themselves, in one run; 0: two */
};

/* For models. Ends the run with a violation; the text is a literal. */
void model_fail(const char *text) __attribute__((noreturn));
#define MODEL_ASSERT(cond)                 \
	do {                               \
		if (!(cond))               \
			model_fail(#cond); \
	} while (0)

/* Blocks until *word, an atomic word, equals value: stands for a loop that spins on it with relaxed
 * loads. */
void model_await(const void *word, unsigned size, uint64_t value);

/* The index of the calling thread in model.threads. */
unsigned model_thread(void);

/* True if this search has too many states for the full model: it has the weak memory, and the
 * environment does not set HAUL_WHOLE=1. For a few models only. */
bool model_is_reduced(void);

/* From here on an access to this memory by any thread is a violation. */
void model_free(const void *memory, size_t size);

/* Call from init(). Accesses that cannot interleave with other threads' are no choices of the
 * search. own: only this thread writes there; private: only this thread reads or writes there;
 * constant: no thread writes there any more. An access that contradicts it is a violation. */
void model_own(const void *memory, size_t size, unsigned thread);
void model_private(const void *memory, size_t size, unsigned thread);
void model_constant(const void *memory, size_t size);

/* Explores the model under all memories, or those named by the arguments, and prints a table.
 * Returns the exit code: 0 if no violation exists, 3 if the search found a violation
 * (printed with its trace), 1 if the search was not completed. */
int model_main(int argc, char **argv, const struct model *model);

enum memory_kind { MEMORY_SC, MEMORY_TSO, MEMORY_WEAK };

/* For programs with several models: explores one, prints nothing. True if the search was completed
 * and found no violation. */
bool model_holds(const struct model *model, enum memory_kind kind);

/* For hooks.c: the visible steps. Sizes are 1, 2, 4 or 8 bytes; orders are __ATOMIC_*. */
uint64_t model_load(const void *addr, unsigned size, int order);
void model_store(void *addr, unsigned size, uint64_t value, int order);
enum model_rmw { MODEL_EXCHANGE, MODEL_ADD, MODEL_SUB, MODEL_OR, MODEL_AND, MODEL_XOR };
uint64_t model_rmw(void *addr, unsigned size, enum model_rmw op, uint64_t operand, int order);
/* Returns the old value; the exchange succeeded if that equals expected. */
uint64_t model_cas(
	void *addr, unsigned size, uint64_t expected, uint64_t desired, int success, int failure);
void model_fence(int order);
void model_light_fence(void);
/* A plain access. No step: it is checked for races only. */
void model_plain(const void *addr, unsigned size, bool write);
/* SYS_membarrier: every other thread passes a full barrier, one after the other, in any order. */
void model_membarrier(void);
/* sched_yield(), in a loop that waits for a change of the word that was loaded last, or exchanged
 * for the same value: returns when the word has another value. A count of the loop's turns must not
 * matter. */
void model_yield(void);
/* SYS_futex. 0 or -1 with errno, as the system call. */
long model_futex(uint32_t *addr, int op, uint32_t value, bool timed);

#endif
