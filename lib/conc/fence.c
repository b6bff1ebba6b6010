/* SPDX-License-Identifier: BSD-3-Clause */
#include "conc/fence.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

int hauli_fence_init(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
		return -errno;
	return 0;
}

void hauli_fence_heavy(void)
{
	long err = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);

	/* After registration the kernel refuses only if a system-call filter was installed since.
	 * Without the barrier two carriers could run the same coroutine. */
	HAUL_BUG_ON(err != 0);
}
