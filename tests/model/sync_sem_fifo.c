/* SPDX-License-Identifier: BSD-3-Clause */
#define AHEAD 1
#include "sync_sem.c"
