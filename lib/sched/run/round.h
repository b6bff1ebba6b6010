/* SPDX-License-Identifier: BSD-3-Clause */
/* The carrier's round: the body of its thread. */
#ifndef HAULI_SCHED_RUN_ROUND_H
#define HAULI_SCHED_RUN_ROUND_H

/* Runs the rounds of carrier arg until the carrier is told to finish. Returns 0. */
int hauli_round_main(void *arg);

#endif
