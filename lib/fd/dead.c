/* SPDX-License-Identifier: BSD-3-Clause */
#include "fd/dead.h"

#include <fcntl.h>

#include "base/forks.h"
#include "conc/word.h"

/* The program may have closed it, by closefrom() for instance, and the number is another file's. */
static bool is_dead(int fd)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_PATH;
}

int hauli_fd_dead_file(void)
{
	static struct hauli_u32_published at; /* plus 1 */
	int fd = (int)hauli_u32_published_get(&at) - 1;

	if (is_dead(fd))
		return fd;
	hauli_process_lock();
	fd = (int)hauli_u32_published_get(&at) - 1;
	if (!is_dead(fd)) {
		fd = open("/", O_PATH | O_CLOEXEC);
		hauli_u32_published_set(&at, (uint32_t)(fd + 1));
	}
	hauli_process_unlock();
	return fd;
}
