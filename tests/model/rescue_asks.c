/* SPDX-License-Identifier: BSD-3-Clause */
#define HOGS 2
#define ASKS 1
#include "rescue.c"
