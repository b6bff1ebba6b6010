/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the coroutines of a runtime do: how many there are, by name and by state, and what those
 * that wait wait for. For monitors, which look often: carriers do not pause. haul_stack() has the
 * call stack of one, haul_dump() those of all.
 */
#ifndef HAUL_LOOK_H
#define HAUL_LOOK_H

#include <haul/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of coroutines. The first two and `unjoined` are all there are. */
struct haul_look_counts {
	uint64_t ready; /* they run, or will, or have not begun; pollers, too */
	/* Coroutines that wait: in haul_park(), in haul_sleep(), in haul_join(), for an object or a
	 * descriptor, for others with their order key. */
	uint64_t waiting;
	uint64_t parked, sleeping, joining, blocked, ordered;
	uint64_t unjoined; /* have ended, and are neither joined nor detached */
	uint64_t timers; /* waits that end at a deadline, haul_sleep() among them */
	uint64_t longest_ns; /* the oldest wait, to about a millisecond; 0 with virtual time */
	uint64_t first_timer_ns; /* until the first deadline; HAUL_FOREVER: there is none */
};

#define HAUL_LOOK_TEXT 48 /* longer texts are cut; bytes that are not ASCII are '?' */

/* Those of one name. */
struct haul_look_group {
	char name[HAUL_LOOK_TEXT];
	struct haul_look_counts counts;
};

/* Coroutines that wait for things of one kind. */
struct haul_look_cause {
	/* "parked", "sleeping", "joining", "ordered", or a kind of object, as haul_look_wait.what;
	 * "blocked": for an object that was not looked at (haul_look()) */
	char what[HAUL_LOOK_TEXT];
	uint64_t waiting;
	uint64_t longest_ns; /* as haul_look_counts.longest_ns */
};

/* A coroutine that waits. */
struct haul_look_wait {
	const void *coro; /* its address, as haul_dump() has it: it may have ended */
	unsigned carrier; /* its home */
	char name[HAUL_LOOK_TEXT];
	/* "parked", "sleeping", "order", "the end of", or a kind of object: "mutex", "event" */
	char what[HAUL_LOOK_TEXT];
	const void
		*object; /* that, or the coroutine to be joined; a descriptor's number; or NULL */
	/* Of a mutex: the coroutine that holds it, and its name; NULL: not known. */
	const void *holder;
	char holder_name[HAUL_LOOK_TEXT];
	uint64_t ns; /* how long it has waited, as longest_ns */
	uint64_t left_ns; /* for how long at most it will; HAUL_FOREVER: without a deadline */
};

/* Which waits a look lists. */
enum haul_look_waits {
	HAUL_LOOK_ALL,
	HAUL_LOOK_MUTEXES, /* for mutexes */
	HAUL_LOOK_SCOPES, /* of scopes for their children */
};

/* The caller gives arrays and their lengths, 0 for what is not asked for. */
struct haul_look {
	/* By home; [nb_carriers]. Without those that no carrier has taken yet, after
	 * haul_spawn_many() from outside. */
	struct haul_look_counts *carriers;
	struct haul_look_group *groups; /* the first names that are found */
	struct haul_look_wait *waits; /* the oldest ones first; at most 256 */
	/* At first those without an object, also if nothing waits so; then the kinds that are
	 * found. haul has about 20. */
	struct haul_look_cause *causes;
	unsigned nb_carriers;
	unsigned groups_max, waits_max, causes_max;
	enum haul_look_waits which;
	/* The results. */
	unsigned nb_groups, nb_waits, nb_causes;
	struct haul_look_counts all;
	uint64_t not_begun; /* of all.ready: have no memory yet, and are in no other number here */
	/* Coroutines whose name is not in `groups`, or was not looked at. */
	uint64_t other_names;
};

/*
 * Counts the coroutines of rt. It reads each one while the carriers run on, for 10 to 40 ns, and at
 * most a million of them; each is counted as it was at some time during the call. With causes, it
 * reads what they wait for, of 65,536 that wait for an object at most, for 0.2 us each. Any
 * thread that is no carrier; not during haul_stop().
 */
/* The struct has the same name, of which -Wshadow of C++ would warn. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
HAUL_API void haul_look(const struct haul_runtime *rt, struct haul_look *l);
#pragma GCC diagnostic pop

#define HAUL_STACK_FRAMES 24 /* of a deeper stack, the innermost ones are told */
#define HAUL_STACK_TEXT 120

/* A call that has not returned. */
struct haul_stack_frame {
	const void *pc; /* inside the call, so that debug information has its line */
	/* "haul_park+0x20 (libhaul.so.0.2)"; of a function that is not exported the offset in its
	 * file: "server+0x5898", for addr2line(1). Longer names are cut in the middle. */
	char place[HAUL_STACK_TEXT];
};

/* A coroutine and its call stack. */
struct haul_stack {
	unsigned carrier; /* its home */
	char name[HAUL_LOOK_TEXT];
	/* "running", "ready", "not begun", "stolen" (another carrier runs it), "no carrier" (none
	 * has taken it yet); of one that waits, as haul_look_wait.what */
	char what[HAUL_LOOK_TEXT];
	bool hibernates; /* the stack is that of when it froze */
	/* 0: it has no stack, or may use it now: one that is stolen, thaws, or is ready where
	 * carriers steal. Those of haul at both ends are left out, but that of the public call. */
	unsigned nb_frames;
	struct haul_stack_frame frames[HAUL_STACK_FRAMES]; /* the innermost one first */
};

/*
 * The call stack of one coroutine of rt, of which haul_look() or haul_dump() has told the address;
 * any other value does no harm. The thread of its home follows the stack, in a signal handler as
 * that of haul_dump(), and stands still for some 10 us; also if the coroutine runs and never
 * suspends. Any thread; not during haul_stop(). Returns 0, or
 *	-ESRCH		no coroutine has this address: it has ended. (Another one may get the
 *			address of one that has ended: see the name.)
 *	-ETIMEDOUT	the thread of its home does not answer within a second: it is stopped, or
 *			has blocked the signal
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
HAUL_API int haul_stack(const struct haul_runtime *rt, const void *coro, struct haul_stack *stack);
#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif

#endif
