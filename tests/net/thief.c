/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program, this plays another program that takes huge pages at the worst moment: a
 * check for free pages finds some, and when EAL maps them the fourth and all further ones are gone.
 * (On a machine without huge pages the check finds none.)
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The build sets the width of off_t; with 64 bits these are mmap64() and fallocate64(). */
#define SEEN __attribute__((visibility("default")))
#define LEFT 3
#define SMALLEST (2 << 20)

SEEN void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (flags & MAP_ANONYMOUS)
		flags &= (int)~(MAP_HUGETLB | (unsigned)MAP_HUGE_MASK << MAP_HUGE_SHIFT);
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

SEEN int fallocate(int fd, int mode, off_t offset, off_t len)
{
	static int taken;
	struct stat st;

	if (mode == 0 && fstat(fd, &st) == 0 && st.st_blksize >= SMALLEST && taken++ >= LEFT) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}
