/* SPDX-License-Identifier: BSD-3-Clause */
/* What every public header needs: visibility, marks in prototypes, units. */
#ifndef HAUL_BASE_H
#define HAUL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAUL_API __attribute__((visibility("default")))

/*
 * Marks a function that may suspend the calling coroutine. Across such a call
 * other coroutines run, and where stealing is on the caller may go on in
 * another thread: hold no spin lock, no multi-producer section, and no address
 * or value of a thread-local (errno, rte_errno, rte_lcore_id()) over it.
 */
#define HAUL_SUSPENDS

/* All times are nanoseconds; deadlines are on haul_now()'s clock. */
#define HAUL_US UINT64_C(1000)
#define HAUL_MS UINT64_C(1000000)
#define HAUL_S UINT64_C(1000000000)
#define HAUL_FOREVER UINT64_MAX

/* Nanoseconds since some fixed point before the program's start, from the CPU's
 * time stamp counter. Any thread, never suspends. */
HAUL_API uint64_t haul_now(void);

#ifdef __cplusplus
}
#endif

#endif
