/* SPDX-License-Identifier: BSD-3-Clause */
/* As detached_rest.c, without a thief: the owner leaves mail while more comes. */
#define KEPT 1
#include "detached_rest.c"
