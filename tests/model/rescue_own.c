/* SPDX-License-Identifier: BSD-3-Clause */
#define WANTED 1
#include "rescue.c"
