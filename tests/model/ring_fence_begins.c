/* SPDX-License-Identifier: BSD-3-Clause */
/* As ring_fenced.c, but no earlier theft has fenced the ring. */
#define LEASE 0
#define NAME "ring, a theft fences it"
#include "ring_fenced.c"
