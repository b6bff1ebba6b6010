/* SPDX-License-Identifier: BSD-3-Clause */
/* As ring_fenced.c, but the owner ends the fencing when it opens its second batch. */
#define LEASE 3
#define NAME "ring, the fencing ends"
#include "ring_fenced.c"
