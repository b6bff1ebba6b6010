/* SPDX-License-Identifier: BSD-3-Clause */
/* The argument is in completion.h. The kernel compares under the futex's lock, so a set between the
 * test and the wait makes the wait return at once. */
#include "conc/completion.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void hauli_completion_set(struct hauli_completion *c)
{
	atomic_store_explicit(&c->set, 1, memory_order_release /* completion.E1:R */);
	syscall(SYS_futex, &c->set, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool is_set(const struct hauli_completion *c)
{
	return atomic_load_explicit(&c->set, memory_order_acquire /* completion.E1:A */);
}

bool hauli_completion_wait_until(struct hauli_completion *c, const struct timespec *until)
{
	while (!is_set(c)) {
		long rc = syscall(SYS_futex, &c->set, FUTEX_WAIT_BITSET_PRIVATE, 0, until, NULL,
			FUTEX_BITSET_MATCH_ANY);

		if (rc < 0 && errno == ETIMEDOUT)
			return is_set(c);
	}
	return true;
}
