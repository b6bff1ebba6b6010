/* SPDX-License-Identifier: BSD-3-Clause */
#define SPINS 1
#include "sync_mutex.c"
