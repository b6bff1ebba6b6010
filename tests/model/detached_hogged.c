/* SPDX-License-Identifier: BSD-3-Clause */
/* As detached.c, with an owner that does not come to its mail. */
#define HOGGED 1
#include "detached.c"
