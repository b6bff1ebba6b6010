/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c, with a push of many items at once. */
#define MANY 1
#define NAME "ring, many"
#include "ring.c"
