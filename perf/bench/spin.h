/* SPDX-License-Identifier: BSD-3-Clause */
/* Two plain threads on two CPUs that spin, with pauses, until the other one has written a word: the
 * bound of hand-overs between carriers that are awake. As in perf_side; one operation is a round
 * trip. */
#ifndef PERF_SPIN_H
#define PERF_SPIN_H

#include <stdint.h>

int perf_spin_setup(uint64_t param);
uint64_t perf_spin_words(uint64_t n); /* a word for each direction */
uint64_t perf_spin_ticket(uint64_t n); /* unlocks and locks a ticket lock, which goes to and fro */
void perf_spin_teardown(void);

#endif
