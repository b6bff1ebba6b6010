/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of coroutines, as haul_dump(); text about carriers that do not answer. */
#ifndef HAULI_SCHED_LOOK_DUMP_H
#define HAULI_SCHED_LOOK_DUMP_H

#include <haul/runtime.h>

/* Writes "carrier 1 does not answer: hog 0x... does not suspend, and its thread runs" into buf,
 * with the coroutine that runs there, or what else the carrier does. Takes 100 ms. Any thread. */
void hauli_tell_silent(const struct haul_carrier *c, char *buf, size_t len);

/* Any thread. As haul_dump(), but shows `most` coroutines that have begun. */
void hauli_dump_some(const struct haul_runtime *rt, FILE *out, uint64_t most);

/* During a stop: prints a line for each carrier that has not handled the stop message, or whose
 * coroutines have all ended without its report. The coroutines of the others are in haul_dump().
 * Any thread. */
void hauli_dump_unfinished(const struct haul_runtime *rt, FILE *out);

/* Prints these coroutines of rt that have not ended, with their call stacks. Any thread. */
void hauli_dump_these(
	const struct haul_runtime *rt, FILE *out, const struct haul_coro *const *cos, unsigned n);

#endif
