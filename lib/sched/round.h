/* SPDX-License-Identifier: BSD-3-Clause */
/* The carrier's round: the body of its thread. */
#ifndef HAULI_SCHED_ROUND_H
#define HAULI_SCHED_ROUND_H

/* Runs rounds until the carrier, which is arg, is told to finish. 0. */
int hauli_round_main(void *arg);

#endif
