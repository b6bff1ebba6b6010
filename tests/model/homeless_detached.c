/* SPDX-License-Identifier: BSD-3-Clause */
/* The same; after the deadline a coroutine of the target's home detaches it. */
#define NAME "homeless_detached"
#define DETACHES true
#include "homeless_until.c"
