/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of what a signal has interrupted. */
#ifndef HAULI_CORO_INTERRUPTED_H
#define HAULI_CORO_INTERRUPTED_H

#include <stdint.h>
#include <ucontext.h>

static inline uintptr_t hauli_interrupted_sp(const ucontext_t *uc)
{
#if defined(__x86_64__)
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	return (uintptr_t)uc->uc_mcontext.sp;
#endif
}

static inline uintptr_t hauli_interrupted_pc(const ucontext_t *uc)
{
#if defined(__x86_64__)
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)uc->uc_mcontext.pc;
#endif
}

#endif
