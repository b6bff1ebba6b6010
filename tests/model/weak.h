/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of MEMORY_WEAK: everything that C11 allows but load buffering. See weak.c. */
#ifndef HAUL_TESTS_MODEL_WEAK_H
#define HAUL_TESTS_MODEL_WEAK_H

#include "memory.h"

void weak_init(const struct model *model);
/* Begins a run, with the current memory and these threads. */
void weak_begin(struct thread *threads);

/* As memory_options() and memory_step(). */
unsigned weak_options(const struct thread *t);
uint64_t weak_step(struct thread *t, unsigned option);

/* True if the step can be done in one way only, and at once: its order with other threads' steps
 * makes no difference. */
bool weak_is_nobodys_business(struct thread *t, const struct step *s, bool membarriers);

/* Earlier runs have collected the accessors of each location. True if this run had another one, so
 * that the search has to begin again. */
bool weak_is_otherwise(void);

/* Call before a plain access that writes there, or frees it. */
void weak_plain_write(const void *addr, size_t size);

/* The hash of all messages and views. Removes messages that no thread can read any more. */
uint64_t weak_hash(void);

#endif
