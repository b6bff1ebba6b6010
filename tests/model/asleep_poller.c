/* SPDX-License-Identifier: BSD-3-Clause */
/* asleep.c, for a carrier that its poller parks. */
#define POLLER 1
#include "asleep.c"
