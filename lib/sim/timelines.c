/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/timelines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <haul/trace.h>

#include "sim/real.h"
#include "sim/steps.h"
#include "sim/world.h"
#include "trace/timeline.h"
#include "trace/write.h"

#define STRIKES 65536u /* events; a strike has up to six */
#define FRAMES 65536u /* events of a node */
#define HOSTS 1000000u /* numbers of hosts as processes: no such process or thread has one */
#define NETWORK (HOSTS - 1)

struct kept {
	struct hauli_timeline *first;
	unsigned n, process;
	const char *name; /* of the host */
};

/* Not of a carrier. */
struct hauli_sim_track {
	struct hauli_timeline *timeline;
	unsigned process;
	const char *name, *process_name;
	struct hauli_sim_track *next;
};

static struct {
	const char *path; /* NULL: they are not kept */
	struct kept *all;
	unsigned n, room;
	struct hauli_sim_track *strikes, *tracks; /* tracks: all, the last one first */
	uint64_t framed; /* the time of the last frame */
	const char **hosts; /* names of processes */
	unsigned nb_hosts;
} k;

bool hauli_sim_is_traced(void)
{
	return k.path;
}

/* The number of a host as a process, by its name: it may be started again. */
static unsigned process_of(const char *name)
{
	unsigned i = 0;

	while (i < k.nb_hosts && strcmp(k.hosts[i], name) != 0)
		i++;
	if (i == k.nb_hosts) {
		k.hosts = hauli_sim_needed(realloc(k.hosts, (i + 1) * sizeof(k.hosts[0])));
		k.hosts[k.nb_hosts++] = name;
	}
	return HOSTS + 1 + i;
}

/* Numbers of runtimes are those of their starts: slots are used again (trace/timelines.c). */
void hauli_sim_keep_timelines(void *first, unsigned n)
{
	const char *name = hauli_sim_host_name(hauli_sim_host());
	struct hauli_timeline *t = first;

	if (!k.path)
		return;
	if (k.n == k.room) {
		k.room = 2 * k.room + 16;
		k.all = hauli_sim_needed(realloc(k.all, k.room * sizeof(k.all[0])));
	}
	for (unsigned i = 0; i < n; i++)
		t[i].head.runtime = k.n;
	k.all[k.n++] = (struct kept){t, n, process_of(name), name};
}

/* NULL: no memory. */
static struct hauli_sim_track *new_track(const char *name, uint32_t events)
{
	const size_t bytes = events * sizeof(struct hauli_last_entry);
	struct hauli_sim_track *track = calloc(1, sizeof(*track));
	void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (track)
		track->timeline = aligned_alloc(HAULI_CACHE_LINE, sizeof(*track->timeline));
	if (!track || !track->timeline || ring == MAP_FAILED)
		return NULL;
	*track->timeline = (struct hauli_timeline){.head.size = events};
	hauli_unseen_begin();
	hauli_last_init(&track->timeline->ring, ring, events);
	hauli_unseen_end();
	track->name = name;
	track->process = NETWORK;
	track->process_name = "network";
	track->next = k.tracks;
	k.tracks = track;
	return track;
}

int hauli_sim_timelines_begin(const char *path)
{
	int fd = HAULI_SIM_REAL(open)(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return -errno;
	HAULI_SIM_REAL(close)(fd);
	k.strikes = new_track("faults", STRIKES);
	if (!k.strikes)
		return -ENOMEM;
	k.strikes->process = HOSTS;
	k.strikes->process_name = k.strikes->name;
	k.path = path;
	haul_traced_add_(1); /* programs tell their spans */
	return 0;
}

void hauli_sim_timelines_mark(const char *text)
{
	if (k.path)
		hauli_timeline_put_at(k.strikes->timeline, hauli_sim_now(), HAUL_TRACE_MARK, 0, 0,
			hauli_timeline_name(k.strikes->timeline, text));
}

struct hauli_sim_track *hauli_sim_track_new(const char *name)
{
	return k.path ? hauli_sim_needed(new_track(name, FRAMES)) : NULL;
}

void hauli_sim_track_move(struct hauli_sim_track *t, unsigned host)
{
	const char *name = hauli_sim_host_name(host);

	if (t->process_name == name)
		return;
	t->process = process_of(name);
	t->process_name = name;
}

void hauli_sim_track_frame(
	struct hauli_sim_track *t, unsigned fate, uint32_t number, uint32_t bytes, const char *who)
{
	uint64_t now = hauli_sim_now();

	k.framed = now > k.framed ? now : k.framed + 1;
	if (bytes > UINT16_MAX)
		bytes = UINT16_MAX;
	hauli_timeline_put_at(t->timeline, k.framed, HAUL_TRACE_FRAME, fate,
		(uint64_t)number << 16 | bytes, hauli_timeline_name(t->timeline, who));
}

/* track: its name; NULL: it is a carrier's. */
static int write_ring(int fd, struct hauli_timeline *t, unsigned process, const char *process_name,
	const char *track)
{
	unsigned slot = hauli_timeline_name(t, process_name);

	hauli_timeline_put_at(t, hauli_sim_now(), HAUL_TRACE_HOST, 0, process, slot);
	if (track) {
		slot = hauli_timeline_name(t, track);
		hauli_timeline_put_at(t, hauli_sim_now(), HAUL_TRACE_TRACK, 0, 0, slot);
	}
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
			err = write_ring(
				fd, &k.all[i].first[j], k.all[i].process, k.all[i].name, NULL);
	for (struct hauli_sim_track *t = k.tracks; t && !err; t = t->next)
		err = write_ring(fd, t->timeline, t->process, t->process_name, t->name);
	return err;
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
