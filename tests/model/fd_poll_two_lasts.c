/* SPDX-License-Identifier: BSD-3-Clause */
#define OTHERS 1
#define LASTS 1
#include "fd_poll.c"
