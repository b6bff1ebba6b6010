/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a coroutine's wait (block.h) by another coroutine or thread. */
#ifndef HAULI_SCHED_WAIT_SERVE_H
#define HAULI_SCHED_WAIT_SERVE_H

#include <stdbool.h>

struct haul_coro;

/* Any thread. Ends the wait of co, once. Its struct hauli_block, and co, may be gone on return.
 * last: co runs after all that are ready. */
void hauli_serve(struct haul_coro *co, bool last);

#endif
