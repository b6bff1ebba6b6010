/* SPDX-License-Identifier: BSD-3-Clause */
/* The spawn message: starts, on its home, a coroutine that another thread has spawned. */
#ifndef HAULI_SCHED_MAIL_SPAWN_REMOTE_H
#define HAULI_SCHED_MAIL_SPAWN_REMOTE_H

#include "sched/state/carrier.h"
#include "sched/state/msg.h"

extern const struct hauli_msg_kind hauli_spawn_msg;

/* Any thread, inside the runtime's gate. Sets the home of co, which is set up, and sends it the
 * spawn message. */
void hauli_spawn_send(struct haul_carrier *home, struct haul_coro *co);

#endif
