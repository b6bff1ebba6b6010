/* SPDX-License-Identifier: BSD-3-Clause */
/* What the macros of haul/trace.h call. Programs do not include this file. */
#ifndef HAUL_TRACE_INLINE_H
#define HAUL_TRACE_INLINE_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

HAUL_API extern uint32_t haul_traced_; /* runtimes that keep a timeline */

/* haul's. */
static inline void haul_traced_add_(uint32_t n)
{
	__atomic_fetch_add(&haul_traced_, n, __ATOMIC_RELAXED);
}

HAUL_API const char *haul_trace_begin_(const char *name);
HAUL_API void haul_trace_end_(void);
HAUL_API void haul_trace_mark_(const char *name);
HAUL_API void haul_trace_count_(const char *name, int64_t value);

static inline bool haul_is_traced_(void)
{
	return __builtin_expect(__atomic_load_n(&haul_traced_, __ATOMIC_RELAXED) != 0, 0);
}

static inline const char *haul_trace_span_begin_(const char *name)
{
	if (haul_is_traced_())
		return haul_trace_begin_(name);
	return NULL;
}

static inline void haul_trace_span_end_(const char **name)
{
	if (__builtin_expect(*name != NULL, 0))
		haul_trace_end_();
}

#ifdef __cplusplus
}
#endif

#endif
