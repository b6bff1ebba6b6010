/* SPDX-License-Identifier: BSD-3-Clause */
#define POLLS 1
#include "fds_stop.c"
