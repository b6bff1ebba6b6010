/* SPDX-License-Identifier: BSD-3-Clause */
/* As detached.c, with an owner that does not drain its inbox. */
#define HOGGED 1
#include "detached.c"
