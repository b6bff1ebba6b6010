/* SPDX-License-Identifier: BSD-3-Clause */
/* The argument is in event.h. The kernel compares under the futex's lock, so a set between the
 * test and the wait makes the wait return at once. */
#include "conc/event.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void hauli_event_set(struct hauli_event *e)
{
	atomic_store_explicit(&e->set, 1, memory_order_release /* event.E1:R */);
	syscall(SYS_futex, &e->set, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool is_set(const struct hauli_event *e)
{
	return atomic_load_explicit(&e->set, memory_order_acquire /* event.E1:A */);
}

bool hauli_event_wait_until(struct hauli_event *e, const struct timespec *until)
{
	while (!is_set(e)) {
		long rc = syscall(SYS_futex, &e->set, FUTEX_WAIT_BITSET_PRIVATE, 0, until, NULL,
			FUTEX_BITSET_MATCH_ANY);

		if (rc < 0 && errno == ETIMEDOUT)
			return is_set(e);
	}
	return true;
}
