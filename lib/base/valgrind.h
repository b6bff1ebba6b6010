/* SPDX-License-Identifier: BSD-3-Clause */
/* Client requests to valgrind. They do nothing if its headers were not installed at build time. */
#ifndef HAULI_BASE_VALGRIND_H
#define HAULI_BASE_VALGRIND_H

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_UNDEFINED(at, bytes) (void)(at)
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_STACK_REGISTER(lo, hi) 0
#define VALGRIND_STACK_DEREGISTER(id) (void)(id)
#endif

#endif
