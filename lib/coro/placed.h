/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that were compiled with haul's plugin (haul/placed.h): each has a note in its object,
 * which says where it is. */
#ifndef HAULI_CORO_PLACED_H
#define HAULI_CORO_PLACED_H

#include <stdbool.h>

/* Finds the functions of all objects that are loaded. Any thread. 0 or -ENOMEM. */
int hauli_placed_init(void);

/* Any thread. False: no function was found. */
bool hauli_placed_any(void);

/*
 * Called by a coroutine. True if the frame to which `ra` returns, and those that called it, are of
 * such functions, up to haul's frames at the outer end of the stack: a yield leaves no library in
 * the midst of something.
 */
bool hauli_placed_is_safe(const void *ra);

#endif
