/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An entry of the run queue: a ready coroutine, or a record, which is a coroutine that has not
 * begun. A record is 8 bytes in memory of its spawner, such as a packet. It gets a struct haul_coro
 * and a stack when its turn comes or a thief takes it, and those of the coroutine before it if that
 * has just ended and was begun alike. Only detached coroutines that thieves may take are records
 * where carriers steal.
 *
 * The queue holds pointers. That of a record has the top bit set, which no address of a program
 * has. So one test of the sign finds records, and the end of a batch (NULL) with the same compare.
 */
#ifndef HAULI_SCHED_ENTRY_H
#define HAULI_SCHED_ENTRY_H

#include <haul/coro.h>

#include "sched/coroutine.h"

struct hauli_record;

/* How coroutines begin that are spawned as records. Constant while there are any. */
struct hauli_start {
	haul_fn *fn; /* gets the record; an entry of the glue runs the same itself */
	void (*entry)(void *pass); /* where a new stack begins */
	/* Called on the home's thread, in place of fn: there is no memory for a stack. */
	void (*drop)(struct hauli_record *record);
	struct haul_coro_opts opts;
	uint8_t stack_class;
	uint64_t fresh; /* of a coroutine that begins so (record.h) */
};

struct hauli_record {
	const struct hauli_start *start; /* read until fn is called, and not after that */
};

#define HAULI_ENTRY_RECORD (UINT64_C(1) << 63)

static inline struct haul_coro *hauli_entry_of(struct hauli_record *r)
{
	return (struct haul_coro *)((uintptr_t)r | HAULI_ENTRY_RECORD);
}

static inline bool hauli_entry_is_record(const struct haul_coro *entry)
{
	return (intptr_t)entry < 0;
}

static inline struct hauli_record *hauli_entry_record(const struct haul_coro *entry)
{
	return (struct hauli_record *)((uintptr_t)entry & ~HAULI_ENTRY_RECORD);
}

/* True if a thief may take it. */
static inline bool hauli_entry_is_stealable(const struct haul_coro *entry)
{
	return hauli_entry_is_record(entry) || hauli_coro_is_stealable(entry);
}

#endif
