/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare-neighbour: another program on a CPU, which counts as fast as it can. haul-compare reads
 * from the count how much of its work a poller beside it takes away.
 *
 * compare-neighbour CPU FILE: the count is the first 8 bytes of FILE, which must exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP 64 /* additions between two stores */

static int fail(const char *what)
{
	fprintf(stderr, "compare-neighbour: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t *count;
	uint64_t n = 0;
	cpu_set_t set;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "Usage: compare-neighbour CPU FILE\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET((size_t)atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return fail(argv[1]);
	fd = open(argv[2], O_RDWR | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(*count)) != 0)
		return fail(argv[2]);
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED)
		return fail(argv[2]);
	for (;;) {
		for (unsigned i = 0; i < STEP; i++) {
			n++;
			__asm__ volatile("" : "+r"(n));
		}
		*count = n;
		__asm__ volatile("" ::: "memory"); /* another process reads it */
	}
}
