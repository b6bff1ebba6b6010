/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues that commands stop. */
#ifndef FWD_PROMPT_QUEUE_H
#define FWD_PROMPT_QUEUE_H

#include <stdbool.h>
#include <stdio.h>

/* False, after a line for each, if a queue is stopped: pollers would use it. */
bool fwd_queues_are_started(FILE *out);

/* The device of the port was configured, or opened: all its queues are started. */
void fwd_queues_begin(unsigned port);

#endif
