/* SPDX-License-Identifier: BSD-3-Clause */
#define CANCELS 1
#include "fd_close.c"
