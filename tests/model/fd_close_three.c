/* SPDX-License-Identifier: BSD-3-Clause */
#define LASTS 1
#define WAITS_FIRST 1
#define OTHERS 2
#define BEGINS_LATER 1
#include "fd_close.c"
