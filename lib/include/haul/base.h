/* SPDX-License-Identifier: BSD-3-Clause */
/* Basics of all public headers: symbol visibility, the mark HAUL_SUSPENDS, units of time. */
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
 * Marks a function that may suspend the calling coroutine. Other coroutines run before it returns,
 * and with stealing it may return on another thread. So do not hold a spin lock, the inside of a
 * multi-producer operation, or the address or value of a thread-local variable (errno, rte_errno,
 * rte_lcore_id()) across the call.
 */
#define HAUL_SUSPENDS

/* For macros that declare variables, or name their source line. */
#define HAUL_JOIN_(a, b) a##b
#define HAUL_NAME_(a, b) HAUL_JOIN_(a, b)
#define HAUL_QUOTE_(a) #a
#define HAUL_TEXT_(a) HAUL_QUOTE_(a)

/* Times are in nanoseconds. Deadlines are points of haul_now()'s clock. */
#define HAUL_US UINT64_C(1000)
#define HAUL_MS UINT64_C(1000000)
#define HAUL_S UINT64_C(1000000000)
#define HAUL_FOREVER UINT64_MAX

/* Carriers, ports and queues are numbered from 0. Instead of a number: all of them, or any. */
#define HAUL_ALL UINT32_MAX
#define HAUL_ANY UINT32_MAX

/* The time in nanoseconds since a fixed point before the start of the program, read from the CPU's
 * time stamp counter. Any thread. Does not suspend. */
HAUL_API uint64_t haul_now(void);

/* The deadline ns from now; HAUL_FOREVER gives HAUL_FOREVER. Any thread. Does not suspend. */
HAUL_API uint64_t haul_in(uint64_t ns);

#ifdef __cplusplus
}
#endif

#endif
