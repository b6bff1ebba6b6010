/* SPDX-License-Identifier: BSD-3-Clause */
/* The heavy fence under a system call filter that was installed later and refuses it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conc/fence.h"
#include "support/suite.h"

static int refuse_membarrier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ? -errno : 0;
}

START_TEST(refused_later_it_ends_the_program)
{
	int status;
	pid_t child;

	ck_assert_int_eq(hauli_fence_init(), 0);
	hauli_fence_heavy();
	child = fork();
	if (child == 0) {
		fclose(stderr);
		if (refuse_membarrier() != 0)
			_exit(2);
		hauli_fence_heavy();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST

SUITE_MAIN("fence", {refused_later_it_ends_the_program, 1})
