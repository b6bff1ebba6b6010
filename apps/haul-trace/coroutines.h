/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known about each coroutine, by its address, while a trace is converted. */
#ifndef TRACE_COROUTINES_H
#define TRACE_COROUTINES_H

#include <stdbool.h>
#include <stdint.h>

struct trace_coroutine {
	uint64_t address; /* 0: a free place */
	uint64_t flow; /* of the last wake-up, until it runs; 0: none */
	uint64_t track; /* 0: it has none yet */
	const char *name; /* the last one; NULL: not known */
	uint32_t depth; /* spans that are open on its track */
	bool waits; /* a wait is open there */
};

struct trace_coroutines {
	struct trace_coroutine *places;
	uint64_t n, size; /* size: a power of two */
};

/* The coroutine, new if it was not there; NULL: no memory. It stays there until the next call. */
struct trace_coroutine *trace_coroutine(struct trace_coroutines *all, uint64_t address);
void trace_coroutines_free(struct trace_coroutines *all);

#endif
