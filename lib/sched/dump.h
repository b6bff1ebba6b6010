/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for people about carriers that do not answer. haul_dump() lists coroutines. */
#ifndef HAULI_SCHED_DUMP_H
#define HAULI_SCHED_DUMP_H

#include <haul/runtime.h>

/* "carrier 1 does not answer: hog 0x... does not suspend", with what runs there. Any thread. */
void hauli_tell_silent(const struct haul_carrier *c, char *buf, size_t len);

/* During a stop. A line for each carrier that the stop waits for although all its coroutines have
 * ended; the dump shows the other carriers. Any thread. */
void hauli_dump_unfinished(const struct haul_runtime *rt, FILE *out);

#endif
