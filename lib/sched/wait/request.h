/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of other threads to a coroutine, granted by its home: HAULI_REQ_ in coroutine.h. */
#ifndef HAULI_SCHED_WAIT_REQUEST_H
#define HAULI_SCHED_WAIT_REQUEST_H

#include "sched/state/carrier.h"

/* Any thread but the home's. Adds these bits to co's requests, and sends its home a message if none
 * is under way. */
void hauli_request(struct haul_coro *co, uint32_t bits);

/* The same, to end a wait of co. c: the calling thread's carrier. */
void hauli_wake_by_request(const struct haul_carrier *c, struct haul_coro *co, uint32_t bits);

/* Any thread. Ends the wait of co (block.h), once. Its struct hauli_block, and co, may be gone on
 * return. last: co runs after all that are ready. */
void hauli_serve(struct haul_coro *co, bool last);

/* Owner, the home. Carries out the pending requests to co. */
void hauli_requests_here(struct haul_carrier *c, struct haul_coro *co);

/* Owner, the home. Sets the cancel flag of co, and ends its wait unless that is a join,
 * or is not cancellable. */
void hauli_cancel_here(struct haul_carrier *c, struct haul_coro *co);

/* Owner, the home of target, which has just ended; word, the value of its `joiner`, is not 0: hands
 * the result to the joiner and wakes it; or clears `joiner` if the deadline of the join has passed
 * (join.c). */
void hauli_join_serve(struct haul_carrier *c, struct haul_coro *target, uintptr_t word);

/* Ends the program with an error line: the handle was joined or detached before. */
__attribute__((noreturn, cold)) void hauli_handle_is_used_up(
	const struct haul_coro *co, const char *call);

#endif
