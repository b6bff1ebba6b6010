/* SPDX-License-Identifier: BSD-3-Clause */
/* What haul calls by syscall(2). */
#include "sim/fds/syscalls.h"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/fds/table.h"
#include "sim/real.h"
#include "sim/world.h"

/* Whether the kernel has a path in its memory, the seed says, as in io.c. */
static long open_cached(const long a[6])
{
	struct open_how how = *(const struct open_how *)a[2];

	if (hauli_sim_random() % 2)
		return hauli_sim_fds_result(-EAGAIN);
	how.resolve &= ~(uint64_t)RESOLVE_CACHED;
	return HAULI_SIM_REAL(syscall)(SYS_openat2, a[0], a[1], &how, sizeof(how));
}

static bool is_cached_open(long number, const long a[6])
{
	return number == SYS_openat2 && (size_t)a[3] == sizeof(struct open_how) &&
		((const struct open_how *)a[2])->resolve & RESOLVE_CACHED;
}

bool hauli_sim_fds_syscall(long number, const long a[6], long *result)
{
	bool is_ours = hauli_sim_fds_file((int)a[0]);

	if (is_ours && number == SYS_recvfrom)
		*result = recvfrom((int)a[0], (void *)a[1], (size_t)a[2], (int)a[3],
			(struct sockaddr *)a[4], (socklen_t *)a[5]);
	else if (is_ours && number == SYS_sendto)
		*result = sendto((int)a[0], (const void *)a[1], (size_t)a[2], (int)a[3],
			(const struct sockaddr *)a[4], (socklen_t)a[5]);
	else if (is_cached_open(number, a))
		*result = open_cached(a);
	else
		return false;
	return true;
}
