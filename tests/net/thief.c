/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program, this is another program that takes huge pages at the worst moment: a
 * look at whether some are free finds them, and when EAL comes to map them the fourth and all
 * after are gone. (Or it finds none, where the machine has none.)
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The build says how wide an off_t is; with 64 bits these are mmap64() and fallocate64(). */
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
