/* SPDX-License-Identifier: BSD-3-Clause */
/* Light pauses of a poller that spins: the CPU rests for a moment, and its thread keeps it. */
#ifndef HAULI_IO_PAUSE_H
#define HAULI_IO_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct hauli_burst;

/* True if this CPU has them. Any thread, before EAL too. */
bool hauli_pause_works(void);

/*
 * Rests until the counter stands at until (hauli_ticks()), or less: the kernel bounds it, and any
 * interrupt ends it. With a queue also until its next packet comes, where CPU and PMD can tell
 * that; NULL: no queue. Only where it works. On the thread that polls.
 */
void hauli_pause(const struct hauli_burst *queue, uint64_t until);

#endif
