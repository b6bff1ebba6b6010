/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine's waits, which its home decides about. Owner, that is the home's thread, except for
 * struct hauli_ending. */
#ifndef HAULI_SCHED_WAIT_H
#define HAULI_SCHED_WAIT_H

#include "conc/event.h"
#include "sched/carrier.h"

/* Sets the cancel mark and ends the waits that it ends. */
void hauli_cancel_here(struct haul_carrier *c, struct haul_coro *co);

/* Grants what other threads have asked of co; on HAULI_MSG_REQUEST. */
void hauli_requests_here(struct haul_carrier *c, struct haul_coro *co);

/* Asks co's home, from another thread, for bits. */
void hauli_request(struct haul_coro *co, uint32_t bits);

/* Ends the program with a line: the handle was joined or detached before. */
__attribute__((noreturn, cold)) void hauli_handle_is_used_up(
	const struct haul_coro *co, const char *call);

/* True: the target has ended, j has its result, and it is freed. False: j waits for its end. */
bool hauli_join_here(struct haul_carrier *c, struct hauli_join *j);

/* The same; and then lets the waiter of j go on. */
void hauli_join_answer(struct haul_carrier *c, struct hauli_join *j);

/* For a waiter on c, whose state says that it waits: asks the target's home. */
void hauli_join_send(struct haul_carrier *c, struct hauli_join *j);

/* Lets the waiter of j go on; j may be gone after it. */
void hauli_join_wake(struct haul_carrier *c, struct hauli_join *j);

/*
 * A plain thread's join of a coroutine in two steps, so that its time can be bounded: begin it,
 * then wait, once or more often. It is in use until a wait has said that the coroutine has ended,
 * and stays so if none does.
 */
struct hauli_ending {
	struct hauli_join join;
	struct hauli_event event;
};
void hauli_ending_begin(struct hauli_ending *e, struct haul_coro *co);
bool hauli_ending_wait(struct hauli_ending *e, const struct timespec *until);

#endif
