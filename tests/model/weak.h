/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of MEMORY_WEAK: what C11 allows but for load buffering. See weak.c. */
#ifndef HAUL_TESTS_MODEL_WEAK_H
#define HAUL_TESTS_MODEL_WEAK_H

#include "memory.h"

void weak_init(const struct model *model);
/* Each run: from the memory as it is, with these threads. */
void weak_begin(struct thread *threads);

/* As memory_options() and memory_step(). */
unsigned weak_options(const struct thread *t);
uint64_t weak_step(struct thread *t, unsigned option);

/* Whether the step can be done in one way only, and at once: nothing that others do before it or
 * after it makes a difference. */
bool weak_is_nobodys_business(struct thread *t, const struct step *s, bool membarriers);

/* The accessors of each location were learned in earlier runs. True: this run had another one, and
 * the search has to begin again. */
bool weak_is_otherwise(void);

/* A plain access that is about to write there, or to free it. */
void weak_plain_write(const void *addr, size_t size);

/* Of all messages and views. Forgets messages that no thread can read any more. */
uint64_t weak_hash(void);

#endif
