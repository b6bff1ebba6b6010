/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The explorer: walks all interleavings of a few small threads over the real sources of lib/conc.
 *
 * Those sources, and the models, are compiled with -fsanitize=thread, but linked with hooks.c in
 * place of ThreadSanitizer's library. So every access to memory that is not provably local calls
 * into the explorer, and the code under test is the code that ships, to the letter.
 *
 * Threads are coroutines here. One runs up to its next visible step (an atomic access, a futex
 * call, an await) and stops before it; the explorer chooses whose step is next, performs it, and
 * remembers the state after it. All choices are tried, depth first, by running again from the
 * start; a state that was seen before is not followed again. A state is the model's memory, the
 * store buffers, the stack of each thread, and who is blocked. States are told apart by a 64-bit
 * hash. A step that makes no difference to others, nor theirs to it, is no choice: a fence with
 * nothing in the buffer, an access to what the model says is one thread's own.
 *
 * Memory, chosen per search:
 *   SC   a step is done at once, in one order for all
 *   TSO  each thread has a store buffer, as x86 has: a store waits there, its own thread sees it,
 *        the others when it is flushed, which is one more step that may come at any time
 *   weak what C11 allows, and so what aarch64 does, but for load buffering: a load may read an old
 *        value as long as the orders named in the source allow it, and stores of two threads to
 *        one word may come in any order that they allow; but no store passes a load before it in
 *        its thread. See weak.c, and weak_litmus.c for what
 *        each memory shows
 * In all, accesses that are not atomic are checked against C11's happens-before, which is built
 * from the orders that the source names, not from what SC or TSO would give for free. So an
 * acquire or release that is missing shows as a data race even where the memory would not go
 * wrong. When it is among atomics only, the weak memory shows it.
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
	void *memory; /* all that threads share; zeroed before each run */
	size_t size;
	void (*init)(void); /* after that; its accesses are no steps */
	void (*check)(void); /* after all threads have ended; may be NULL */
	/* All that threads write is atomic, so there are no races to look for: without the clocks
	 * of happens-before far fewer states differ. */
	bool only_atomics;
};

/* For models. Ends the run with a violation; the text is a literal. */
void model_fail(const char *text) __attribute__((noreturn));
#define MODEL_ASSERT(cond)                 \
	do {                               \
		if (!(cond))               \
			model_fail(#cond); \
	} while (0)

/* Blocks until *word, an atomic one, equals value: stands for a loop that spins on it, and reads
 * it with no order. */
void model_await(const void *word, unsigned size, uint64_t value);

/* Whether this search has too many states for the whole setting: it has the weak memory, and the
 * environment does not say HAUL_WHOLE=1. For a few models only. */
bool model_is_reduced(void);

/* From here on an access to this memory by any thread is a violation. */
void model_free(const void *memory, size_t size);

/* From init(); accesses that cannot interleave with others' are no choices of the search. own: only
 * this thread writes there; private: only this thread reads or writes there; constant: no thread
 * writes there any more. An access that contradicts it is a violation. */
void model_own(const void *memory, size_t size, unsigned thread);
void model_private(const void *memory, size_t size, unsigned thread);
void model_constant(const void *memory, size_t size);

/* Explores the model under all memories, or the one named by the first argument, and prints a
 * table. Returns the exit code: 0 if no violation exists, 3 if the search found a violation
 * (printed with its trace), 1 if the search was not completed. */
int model_main(int argc, char **argv, const struct model *model);

enum memory_kind { MEMORY_SC, MEMORY_TSO, MEMORY_WEAK };

/* For more than one model in a program: explores one, prints nothing. Whether the search was
 * completed and found no violation. */
bool model_holds(const struct model *model, enum memory_kind kind);

/* For hooks.c: the visible steps. Sizes are 1, 2, 4 or 8 bytes; orders are __ATOMIC_*. */
uint64_t model_load(const void *addr, unsigned size, int order);
void model_store(void *addr, unsigned size, uint64_t value, int order);
enum model_rmw { MODEL_EXCHANGE, MODEL_ADD, MODEL_SUB, MODEL_OR, MODEL_AND, MODEL_XOR };
uint64_t model_rmw(void *addr, unsigned size, enum model_rmw op, uint64_t operand, int order);
/* Returns the old value; it was exchanged if that equals expected. */
uint64_t model_cas(
	void *addr, unsigned size, uint64_t expected, uint64_t desired, int success, int failure);
void model_fence(int order);
void model_light_fence(void);
/* A plain access. No step: it is checked for races only. */
void model_plain(const void *addr, unsigned size, bool write);
/* SYS_membarrier: every other thread passes a full barrier, one after the other, in any order. */
void model_membarrier(void);
/* sched_yield(), in a loop that waits for the word that was loaded last, or exchanged for what it
 * was: goes on when its value is another one. What the loop counts meanwhile must not matter. */
void model_yield(void);
/* SYS_futex. 0 or -1 with errno, as the system call. */
long model_futex(uint32_t *addr, int op, uint32_t value, bool timed);

#endif
