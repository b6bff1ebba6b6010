/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a stack was used: all above the lowest byte that is not zero. A stack is all zero
 * when its slot is new; to measure each of its users, wipe it after each.
 */
#ifndef HAULI_CORO_USED_H
#define HAULI_CORO_USED_H

#include "coro/stack.h"

/* Bytes from that byte to the top. Any thread, also while a coroutine runs there. */
size_t hauli_stack_used(const struct hauli_stack *stack);

/* Makes the stack all zero again; a caller that runs on it: the part below its own frame. */
void hauli_stack_wipe(struct hauli_stack *stack);

#endif
