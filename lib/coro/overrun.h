/* SPDX-License-Identifier: BSD-3-Clause */
/* The line that names a coroutine that has run over its stack. Any context, signal handlers too. */
#ifndef HAULI_CORO_OVERRUN_H
#define HAULI_CORO_OVERRUN_H

#include <stddef.h>

/* name: the coroutine's, or NULL. usable: the bytes of its stack. */
void hauli_overrun_print(const char *name, size_t usable);

/* Prints the line and aborts. */
__attribute__((noreturn, cold)) void hauli_overrun_die(const char *name, size_t usable);

#endif
