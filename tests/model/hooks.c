/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions called by code compiled with -fsanitize=thread, and syscall(2), for the
 * explorer. */
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "explorer.h"

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

#define PLAIN(size)                             \
	void __tsan_read##size(void *addr);     \
	void __tsan_read##size(void *addr)      \
	{                                       \
		model_plain(addr, size, false); \
	}                                       \
	void __tsan_write##size(void *addr);    \
	void __tsan_write##size(void *addr)     \
	{                                       \
		model_plain(addr, size, true);  \
	}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *addr, unsigned long size);
void __tsan_read_range(void *addr, unsigned long size)
{
	model_plain(addr, (unsigned)size, false);
}

void __tsan_write_range(void *addr, unsigned long size);
void __tsan_write_range(void *addr, unsigned long size)
{
	model_plain(addr, (unsigned)size, true);
}

#define FETCH(bits, type, name, op)                                                \
	type __tsan_atomic##bits##_##name(volatile type *addr, type v, int order); \
	type __tsan_atomic##bits##_##name(volatile type *addr, type v, int order)  \
	{                                                                          \
		return (type)model_rmw((void *)addr, bits / 8, op, v, order);      \
	}

/* Time is real in models: the clock's word is no step of theirs. */
#define ATOMIC(bits, type)                                                                        \
	type __tsan_atomic##bits##_load(const volatile type *addr, int order);                    \
	type __tsan_atomic##bits##_load(const volatile type *addr, int order)                     \
	{                                                                                         \
		if (addr == (const void *)&hauli_virtual_now)                                     \
			return 0;                                                                 \
		return (type)model_load((const void *)addr, bits / 8, order);                     \
	}                                                                                         \
	void __tsan_atomic##bits##_store(volatile type *addr, type v, int order);                 \
	void __tsan_atomic##bits##_store(volatile type *addr, type v, int order)                  \
	{                                                                                         \
		model_store((void *)addr, bits / 8, v, order);                                    \
	}                                                                                         \
	FETCH(bits, type, exchange, MODEL_EXCHANGE)                                               \
	FETCH(bits, type, fetch_add, MODEL_ADD)                                                   \
	FETCH(bits, type, fetch_sub, MODEL_SUB)                                                   \
	FETCH(bits, type, fetch_or, MODEL_OR)                                                     \
	FETCH(bits, type, fetch_and, MODEL_AND)                                                   \
	FETCH(bits, type, fetch_xor, MODEL_XOR)                                                   \
	int __tsan_atomic##bits##_compare_exchange_strong(                                        \
		volatile type *addr, type *expected, type desired, int ok, int fail);             \
	int __tsan_atomic##bits##_compare_exchange_strong(                                        \
		volatile type *addr, type *expected, type desired, int ok, int fail)              \
	{                                                                                         \
		type old = (type)model_cas((void *)addr, bits / 8, *expected, desired, ok, fail); \
		int done = old == *expected;                                                      \
                                                                                                  \
		*expected = old;                                                                  \
		return done;                                                                      \
	}                                                                                         \
	int __tsan_atomic##bits##_compare_exchange_weak(                                          \
		volatile type *addr, type *expected, type desired, int ok, int fail);             \
	int __tsan_atomic##bits##_compare_exchange_weak(                                          \
		volatile type *addr, type *expected, type desired, int ok, int fail)              \
	{                                                                                         \
		return __tsan_atomic##bits##_compare_exchange_strong(                             \
			addr, expected, desired, ok, fail);                                       \
	}                                                                                         \
	type __tsan_atomic##bits##_compare_exchange_val(                                          \
		volatile type *addr, type expected, type desired, int ok, int fail);              \
	type __tsan_atomic##bits##_compare_exchange_val(                                          \
		volatile type *addr, type expected, type desired, int ok, int fail)               \
	{                                                                                         \
		return (type)model_cas((void *)addr, bits / 8, expected, desired, ok, fail);      \
	}
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	model_fence(order);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
	if (order == __ATOMIC_SEQ_CST)
		model_light_fence();
}

/* Replaces libc's function for the sources under test, which make no other calls than these. */
long syscall(long number, ...);
long syscall(long number, ...)
{
	va_list args;
	uint32_t *addr;
	int op;
	uint32_t value;
	const struct timespec *timeout;

	va_start(args, number);
	if (number == SYS_membarrier && va_arg(args, int) == MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
		va_end(args);
		model_membarrier();
		return 0;
	}
	if (number != SYS_futex)
		model_fail("a system call that the explorer does not know");
	addr = va_arg(args, uint32_t *);
	op = va_arg(args, int) & ~FUTEX_PRIVATE_FLAG;
	value = va_arg(args, uint32_t);
	timeout = va_arg(args, const struct timespec *);
	va_end(args);
	return model_futex(addr, op, value, timeout != NULL);
}

int sched_yield(void)
{
	model_yield();
	return 0;
}

/* Models run no coroutines of haul's, but link sources that can. */
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
	model_fail("a switch in a model");
}

/* HAUL_BUG_ON() and HAUL_MISUSE_IF() of the sources under test. */
void hauli_bug(const char *what, const char *file, int line)
{
	model_fail(what);
}

void hauli_misuse(const char *call, const char *mistake, ...)
{
	model_fail(mistake);
}
