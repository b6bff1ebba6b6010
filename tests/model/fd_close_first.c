/* SPDX-License-Identifier: BSD-3-Clause */
#define LASTS 1
#define WAITS_FIRST 1
#include "fd_close.c"
