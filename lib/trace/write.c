/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes timelines to a file. A signal handler may do so, after a crash, so this takes no lock and
 * no memory. The copy of a ring is argued in conc/last.h. */
#include "trace/write.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <haul/trace.h>

#include "trace/timelines.h"

#define CHUNK 256 /* events copied at once */

/* 0, or the error of write(2). */
static int put(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int put_events(int fd, const struct hauli_last *ring, uint64_t first, uint64_t end)
{
	uint64_t copy[CHUNK][2];
	unsigned n;
	int err = 0;

	for (; first < end && !err; first += n) {
		n = end - first < CHUNK ? (unsigned)(end - first) : CHUNK;
		for (unsigned i = 0; i < n; i++) {
			copy[i][0] = hauli_last_word(ring, first + i, 0);
			copy[i][1] = hauli_last_word(ring, first + i, 1);
		}
		err = put(fd, copy, n * sizeof(copy[0]));
	}
	return err;
}

/* A file that is being written. */
struct file {
	int fd;
	enum haul_trace_why why;
	bool begun;
};

int hauli_trace_put_ring(int fd, const struct hauli_timeline *t)
{
	struct haul_trace_ring head = t->head;
	struct haul_trace_tail tail;
	int err;

	head.tid = hauli_u32_published_get(&t->tid);
	head.end = hauli_last_end(&t->ring);
	head.first = head.end > head.size ? head.end - head.size : 0;
	err = put(fd, &head, sizeof(head));
	if (!err)
		err = put_events(fd, &t->ring, head.first, head.end);
	tail.first = hauli_last_first(&t->ring);
	return err ? err : put(fd, &tail, sizeof(tail));
}

static uint64_t now_by(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

int hauli_trace_put_head(int fd, const struct haul_trace_file *head)
{
	struct haul_trace_file f = *head;

	for (size_t i = 0; i + 1 < sizeof(f.program) && program_invocation_short_name[i]; i++)
		f.program[i] = program_invocation_short_name[i];
	return put(fd, &f, sizeof(f));
}

static int put_head(int fd, enum haul_trace_why why)
{
	const struct haul_trace_file f = {
		.magic = HAUL_TRACE_MAGIC,
		.version = HAUL_TRACE_VERSION,
		.why = why,
		.ticks = hauli_timer_ticks(),
		.monotonic_ns = now_by(CLOCK_MONOTONIC),
		.realtime_ns = now_by(CLOCK_REALTIME),
		.ns_per_tick = hauli_ns_per_tick(),
		.pid = (uint32_t)getpid(),
	};

	return hauli_trace_put_head(fd, &f);
}

/* The head comes with the first ring. */
static int put_one(const struct hauli_timeline *t, void *arg)
{
	struct file *f = arg;
	int err = f->begun ? 0 : put_head(f->fd, f->why);

	f->begun = true;
	return err ? err : hauli_trace_put_ring(f->fd, t);
}

int hauli_trace_write(int fd, enum haul_trace_why why)
{
	struct file f = {.fd = fd, .why = why};
	int err = hauli_timelines_for_each(put_one, &f);

	return err || f.begun ? err : -ENOENT;
}

int haul_trace_write(int fd)
{
	return hauli_trace_write(fd, HAUL_TRACE_ASKED);
}
