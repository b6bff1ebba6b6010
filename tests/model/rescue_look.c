/* SPDX-License-Identifier: BSD-3-Clause */
#define LOOKS_ON 1
#include "rescue.c"
