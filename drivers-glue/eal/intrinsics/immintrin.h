/* SPDX-License-Identifier: BSD-3-Clause */
/* Few intrinsics, for the reason that x86intrin.h tells. */
#if defined(__SSE4_2__) && !defined(__AVX__) && (__GNUC__ >= 11 || defined(__clang__))
#include "x86intrin.h"
#else
#include_next <immintrin.h>
#endif
