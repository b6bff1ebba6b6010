/* SPDX-License-Identifier: BSD-3-Clause */
#define LASTS 1
#include "fd_op.c"
