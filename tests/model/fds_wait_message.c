/* SPDX-License-Identifier: BSD-3-Clause */
#define MESSAGE_FIRST 1
#include "fds_wait.c"
