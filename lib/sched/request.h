/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to a coroutine, which its home grants: HAULI_REQ_ in coroutine.h. */
#ifndef HAULI_SCHED_REQUEST_H
#define HAULI_SCHED_REQUEST_H

#include "sched/carrier.h"

/* Any thread but the home's. Asks co's home for bits. */
void hauli_request(struct haul_coro *co, uint32_t bits);

/* Owner, the home. Grants what other threads have asked of co. */
void hauli_requests_here(struct haul_carrier *c, struct haul_coro *co);

/* Owner, the home. Sets the cancel flag and ends the wait that co is in, if cancel ends it. */
void hauli_cancel_here(struct haul_carrier *c, struct haul_coro *co);

/* Ends the program with a line: the handle was joined or detached before. */
__attribute__((noreturn, cold)) void hauli_handle_is_used_up(
	const struct haul_coro *co, const char *call);

#endif
