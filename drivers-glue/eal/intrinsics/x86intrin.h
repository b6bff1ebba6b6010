/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Found before the compiler's header of this name. DPDK's headers include all intrinsics of x86,
 * up to AVX-512: of the half second that gcc 12 needs to read rte_mbuf.h these take four fifths, in
 * each source file. Where no AVX may be used, those up to SSE 4.2 are enough, and those without
 * vectors (time stamp counter, transactions). For haul's own build; not installed.
 */
#if defined(__SSE4_2__) && !defined(__AVX__) && __GNUC__ >= 11
#include <nmmintrin.h>
#include <x86gprintrin.h>
#elif defined(__SSE4_2__) && !defined(__AVX__) && defined(__clang__)
/* clang's parts refuse to be included one by one, and ask for these. */
#define __X86INTRIN_H
#define __IMMINTRIN_H
#include <ia32intrin.h>
#include <nmmintrin.h>
#include <rtmintrin.h>
#include <xtestintrin.h>
#else
#include_next <x86intrin.h>
#endif
