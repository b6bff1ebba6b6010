/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An entry of the run queue: a ready coroutine that has begun, or a record, which stands for a
 * coroutine that has not begun. A record is 8 bytes: part of its struct haul_coro, or in memory of
 * its spawner, such as a packet, or part of a call. It gets a stack when its turn comes or a thief
 * takes it: the stack of the coroutine before it if that has just ended, else one of a cache. A
 * record that is not part of it gets its struct haul_coro at the same time, in the same ways. Where
 * carriers steal, a record in memory of its spawner is always a detached coroutine that thieves may
 * take.
 *
 * A call is a function and its argument, for a detached coroutine without options, where no
 * thieves come. Slot i of the ring has call i of its carrier: it is in use from the push of its
 * record into that slot until it is popped, since without thieves no entry leaves its slot before.
 *
 * The queue holds pointers. A pointer to a record has the lowest bit set, which costs nothing to
 * remove: it is part of the displacement where a field of the record is read.
 */
#ifndef HAULI_SCHED_STATE_ENTRY_H
#define HAULI_SCHED_STATE_ENTRY_H

#include <haul/coro.h>

#include "sched/state/coroutine.h"

/* How the coroutines of records begin. Constant while there are such records. */
struct hauli_prototype {
	/* called with the record; an entry that the glue has set calls the same code itself */
	haul_fn *fn;
	void (*entry)(void *pass); /* where a new stack begins */
	/* Called on the home's thread, in place of fn: there is no memory for a stack. */
	void (*drop)(struct hauli_record *record);
	struct haul_coro_opts opts;
	uint8_t stack_class;
	uint64_t fresh; /* hauli_record_fresh() of opts (record.h) */
	/* Its records are part of their struct haul_coro. Only entry and stack_class count. */
	bool in_coro;
	/* not NULL: its records are calls, whose coroutines get this prototype, which is in_coro */
	const struct hauli_prototype *like;
	/* of one that is in_coro: that of calls; of this: that of calls that were put off */
	const struct hauli_prototype *calls;
};

struct hauli_call {
	struct hauli_record record;
	haul_fn *fn;
	void *arg;
};

struct hauli_entry; /* never defined: only a pointer, perhaps with that bit */

#define HAULI_ENTRY_RECORD ((uintptr_t)1)

static inline struct hauli_entry *hauli_entry_of(struct hauli_record *r)
{
	return (struct hauli_entry *)((uintptr_t)r + HAULI_ENTRY_RECORD);
}

/* The entry of a coroutine that has begun. */
static inline struct hauli_entry *hauli_entry_of_begun(struct haul_coro *co)
{
	return (struct hauli_entry *)co;
}

static inline bool hauli_entry_is_record(const struct hauli_entry *entry)
{
	return (uintptr_t)entry & HAULI_ENTRY_RECORD;
}

static inline struct hauli_record *hauli_entry_record(const struct hauli_entry *entry)
{
	return (struct hauli_record *)((uintptr_t)entry - HAULI_ENTRY_RECORD);
}

/* The coroutine of an entry that is no record; NULL for NULL. */
static inline struct haul_coro *hauli_entry_begun(struct hauli_entry *entry)
{
	return (struct haul_coro *)entry;
}

/* The coroutine of a record that is part of it. */
static inline struct haul_coro *hauli_entry_coro(const struct hauli_entry *entry)
{
	return hauli_coro_of_record(hauli_entry_record(entry));
}

static inline struct hauli_call *hauli_call_of(struct hauli_record *r)
{
	_Static_assert(offsetof(struct hauli_call, record) == 0, "hauli_call_of()");
	return (struct hauli_call *)r;
}

/* True if the entry is a call with this prototype. */
static inline bool hauli_entry_calls(
	const struct hauli_entry *entry, const struct hauli_prototype *calls)
{
	return hauli_entry_is_record(entry) && hauli_entry_record(entry)->prototype == calls;
}

/* True if a thief may take it. */
static inline bool hauli_entry_is_stealable(const struct hauli_entry *entry)
{
	if (!hauli_entry_is_record(entry))
		return hauli_coro_is_stealable((const struct haul_coro *)entry);
	return !hauli_entry_record(entry)->prototype->in_coro ||
		hauli_coro_is_stealable(hauli_entry_coro(entry));
}

#endif
