/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a stack was used: what is below the lowest byte that is not zero was not. A stack is
 * all zero when its slot is new; who measures several users of a stack wipes it after each.
 */
#ifndef HAULI_CORO_USED_H
#define HAULI_CORO_USED_H

#include "coro/stack.h"

/* Bytes from that byte to the top. Any thread, also while a coroutine runs there. */
size_t hauli_stack_used(const struct hauli_stack *stack);

/* Makes the stack all zero again; if the caller runs on it, the part below the caller's frame. */
void hauli_stack_wipe(struct hauli_stack *stack);

#endif
