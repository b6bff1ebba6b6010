/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into haul-http, this plays a disk that does not answer: the kernel has no name in
 * memory, and each openat2() that may wait does, while the file exists whose path is in
 * HAUL_TEST_GATE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	long (*next)(long number, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const struct open_how *how;
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_openat2) {
		how = (const struct open_how *)a[2];
		if (how->resolve & RESOLVE_CACHED) {
			errno = EAGAIN;
			return -1;
		}
		while (access(getenv("HAUL_TEST_GATE"), F_OK) == 0)
			usleep(10000); /* the next look */
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
