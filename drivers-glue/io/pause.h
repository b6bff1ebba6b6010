/* SPDX-License-Identifier: BSD-3-Clause */
/* Light pauses of a spinning poller: the CPU rests for a moment, and its thread keeps it. */
#ifndef HAULI_IO_PAUSE_H
#define HAULI_IO_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct hauli_burst;

/* True if this CPU has the instructions. Any thread, also before EAL. */
bool hauli_pause_works(void);

/*
 * Rests until the counter reaches until (hauli_ticks()), or less: the kernel bounds a pause, and
 * any interrupt ends it. With a queue also its next packet ends it, if CPU and PMD can detect that;
 * NULL: no queue. Only on CPUs with the instructions. Call on the thread that polls.
 */
void hauli_pause(const struct hauli_burst *queue, uint64_t until);

#endif
