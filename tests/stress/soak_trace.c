/* SPDX-License-Identifier: BSD-3-Clause */
/* The timelines of the soak: threads ask for files at random, change what asks for them, and check
 * what is in them. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "soak.h"
#include "support/timeline_check.h"

static struct timeline_sums sums; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Threads take turns, as each file takes some memory. */
void soak_check_timelines(void)
{
	int fd = memfd_create("trace", MFD_CLOEXEC), err = haul_trace_write(fd);

	RIGHT(err == 0 || err == -ENOENT);
	pthread_mutex_lock(&lock);
	if (err == 0) {
		struct timeline_file *f = timeline_open(fd);

		timeline_check(f, &sums);
		timeline_close(f);
	}
	pthread_mutex_unlock(&lock);
	close(fd);
}

/* Also what an operator sees of a program. */
void soak_is_traced(struct actor *a)
{
	struct haul_trace_opts opts = {.path = "/dev/null",
		.slice_ns = below(a, 2) * below(a, 1000) * HAUL_US,
		.gap_ns = below(a, 2) * below(a, 1000) * HAUL_US,
		.on_drop = below(a, 2)};
	int err;

	switch (below(a, 4)) {
	case 0:
		RIGHT(haul_trace_to(&opts) == 0);
		break;
	case 1:
		haul_trace_trigger();
		break;
	case 2:
		err = haul_trace_save();
		RIGHT(err == 0 || err == -ENOENT);
		break;
	default:
		soak_check_timelines();
	}
}

void soak_tell_timelines(void)
{
	fprintf(stderr,
		"timelines: files %" PRIu64 ", events %" PRIu64 ", slices %" PRIu64
		", waits %" PRIu64 "\n",
		sums.files, sums.events, sums.runs, sums.waits);
}
