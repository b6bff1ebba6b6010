/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/timelines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <haul/trace.h>

#include "sim/real.h"
#include "sim/steps.h"
#include "sim/world.h"
#include "trace/timeline.h"
#include "trace/write.h"

#define STRIKES 65536u /* events; a strike has up to six */
#define IS_NO_CARRIER 1
#define HOSTS 1000000u /* numbers of hosts as processes: no such process or thread has one */

struct kept {
	struct hauli_timeline *first;
	unsigned n, host;
	const char *name; /* of the host */
};

static struct {
	const char *path; /* NULL: they are not kept */
	struct kept *all;
	unsigned n, room;
	struct hauli_timeline *strikes;
} k;

bool hauli_sim_is_traced(void)
{
	return k.path;
}

/* Numbers of runtimes are those of their starts: slots are used again (trace/timelines.c). */
void hauli_sim_keep_timelines(void *first, unsigned n)
{
	struct hauli_timeline *t = first;

	if (!k.path)
		return;
	if (k.n == k.room) {
		k.room = 2 * k.room + 16;
		k.all = hauli_sim_needed(realloc(k.all, k.room * sizeof(k.all[0])));
	}
	for (unsigned i = 0; i < n; i++)
		t[i].head.runtime = k.n;
	k.all[k.n++] = (struct kept){t, n, hauli_sim_host(), hauli_sim_host_name(hauli_sim_host())};
}

int hauli_sim_timelines_begin(const char *path)
{
	const size_t bytes = STRIKES * sizeof(struct hauli_last_entry);
	int fd = HAULI_SIM_REAL(open)(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	void *ring;

	if (fd < 0)
		return -errno;
	HAULI_SIM_REAL(close)(fd);
	k.strikes = calloc(1, sizeof(*k.strikes));
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!k.strikes || ring == MAP_FAILED)
		return -ENOMEM;
	hauli_last_init(&k.strikes->ring, ring, STRIKES);
	k.strikes->head.size = STRIKES;
	k.path = path;
	haul_traced_add_(1); /* programs tell their spans */
	return 0;
}

void hauli_sim_timelines_mark(const char *text)
{
	if (k.path)
		hauli_timeline_put_at(k.strikes, hauli_sim_now(), HAUL_TRACE_MARK, 0, 0,
			hauli_timeline_name(k.strikes, text));
}

static int write_ring(
	int fd, struct hauli_timeline *t, unsigned host, const char *name, unsigned sub)
{
	unsigned slot = hauli_timeline_name(t, name);

	hauli_timeline_put_at(t, hauli_sim_now(), HAUL_TRACE_HOST, sub, HOSTS + host, slot);
	return hauli_trace_put_ring(fd, t);
}

static int write_all(int fd)
{
	/* Times are those since the begin of the run, as in all that it says. */
	const struct haul_trace_file head = {
		.magic = HAUL_TRACE_MAGIC,
		.version = HAUL_TRACE_VERSION,
		.why = HAUL_TRACE_ASKED,
		.ticks = hauli_sim_now(),
		.monotonic_ns = hauli_sim_passed(),
		.realtime_ns = HAULI_SIM_EPOCH * HAUL_S + hauli_sim_passed(),
		.ns_per_tick = UINT64_C(1) << 32,
		.pid = (uint32_t)getpid(),
	};
	int err = hauli_trace_put_head(fd, &head);

	for (unsigned i = 0; i < k.n; i++)
		for (unsigned j = 0; j < k.all[i].n && !err; j++)
			err = write_ring(fd, &k.all[i].first[j], k.all[i].host, k.all[i].name, 0);
	k.strikes->head.runtime = k.n;
	return err ? err : write_ring(fd, k.strikes, 0, "faults", IS_NO_CARRIER);
}

int hauli_sim_timelines_write(void)
{
	int fd, err;

	if (!k.path)
		return 0;
	hauli_unseen_begin();
	fd = HAULI_SIM_REAL(open)(k.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	err = fd < 0 ? -errno : write_all(fd);
	if (fd >= 0 && HAULI_SIM_REAL(close)(fd) != 0 && !err)
		err = -errno;
	hauli_unseen_end();
	k.path = NULL;
	return err;
}
