/* SPDX-License-Identifier: BSD-3-Clause */
/* The same; after the deadline a coroutine of the target's home joins it. */
#define NAME "join_until_other"
#define BY_ANOTHER
#include "join_until.c"
