/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine spawned on a carrier by another thread: the message that starts it there. */
#ifndef HAULI_SCHED_SPAWN_REMOTE_H
#define HAULI_SCHED_SPAWN_REMOTE_H

#include "sched/carrier.h"
#include "sched/msg.h"

extern const struct hauli_msg_kind hauli_start_msg;

/* Any thread, inside the runtime's gate. Gives co, which is set up, its home, and starts it
 * there. */
void hauli_spawn_send(struct haul_carrier *home, struct haul_coro *co);

#endif
