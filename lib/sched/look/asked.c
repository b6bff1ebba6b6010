/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/look/asked.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

bool hauli_ask(struct hauli_asked *a, pid_t tid, int sig, uint64_t ns)
{
	struct timespec until = hauli_monotonic_in(ns);
	bool sent;

	hauli_completion_init(&a->answered);
	hauli_permit_give(&a->asked);
	sent = syscall(SYS_tgkill, getpid(), tid, sig) == 0;
	if (sent && hauli_completion_wait_until(&a->answered, &until))
		return true;
	if (hauli_permit_take_remote(&a->asked))
		return false;
	hauli_completion_wait(&a->answered); /* the handler has begun */
	return true;
}
