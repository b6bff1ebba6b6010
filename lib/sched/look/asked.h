/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A question to another thread, answered there in the handler of a signal. The asking thread gives
 * up after a time, as the other one may have ended, or have no CPU. The handler and the thread that
 * gives up both try to take `asked`: whoever gets it decides whether there is an answer.
 */
#ifndef HAULI_SCHED_LOOK_ASKED_H
#define HAULI_SCHED_LOOK_ASKED_H

#include <sys/types.h>

#include "conc/completion.h"
#include "conc/word.h"

struct hauli_asked {
	struct hauli_permit asked;
	struct hauli_completion answered;
};

/* Sends the signal to thread tid of this process, and waits for the answer, for ns at most. True:
 * there is one. One question at a time. */
bool hauli_ask(struct hauli_asked *a, pid_t tid, int sig, uint64_t ns);

/* In the handler. True: there is a question, and hauli_ask_answered() has to follow. */
static inline bool hauli_is_asked(struct hauli_asked *a)
{
	return hauli_permit_take_remote(&a->asked);
}

static inline void hauli_ask_answered(struct hauli_asked *a)
{
	hauli_completion_set(&a->answered);
}

#endif
