/* SPDX-License-Identifier: BSD-3-Clause */
#define STALE 1
#include "rescue.c"
