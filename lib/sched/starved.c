/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/starved.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sched/runtime.h"

/* A shorter extension would not let a starved thread run. */
#define LEAST_NS HAUL_MS

struct times {
	uint64_t ran, waited; /* for a CPU; ns since the thread began */
	bool ready; /* now; or it runs */
};

static bool read_line(const struct haul_carrier *c, const char *file, char *line, int size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu32 "/%s",
		hauli_u32_published_get(&c->tid), file);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, size, f))
		line[0] = '\0';
	fclose(f);
	return line[0];
}

/* False if the kernel does not tell, or the thread has not begun. */
static bool read_times(const struct haul_carrier *c, struct times *t)
{
	char line[512];
	const char *state;

	if (!read_line(c, "stat", line, sizeof(line)))
		return false;
	state = strrchr(line, ')'); /* the end of its name */
	t->ready = state && strncmp(state, ") R", 3) == 0;
	return read_line(c, "schedstat", line, sizeof(line)) &&
		sscanf(line, "%" SCNu64 " %" SCNu64, &t->ran, &t->waited) == 2;
}

void hauli_starved_begin(struct haul_runtime *rt)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		struct haul_carrier *c = &rt->carriers[i];
		struct times t;

		if (!read_times(c, &t))
			t = (struct times){.ran = 0};
		hauli_u64_owned_set(&c->ran_before, t.ran);
		hauli_u64_owned_set(&c->waited_before, t.waited);
		hauli_u64_owned_set(&c->stop_began, haul_now());
	}
}

/* The ns since the stop began for which c was ready and had no CPU. */
static uint64_t starved(const struct haul_carrier *c)
{
	uint64_t ran, waited, wall = haul_now() - hauli_u64_owned_get(&c->stop_began);
	struct times t;

	if (!read_times(c, &t))
		return 0;
	ran = t.ran - hauli_u64_owned_get(&c->ran_before);
	waited = t.waited - hauli_u64_owned_get(&c->waited_before);
	/* The kernel counts a wait when it is over. So the rest of the time is taken for one. */
	if (t.ready && ran < wall && waited < wall - ran)
		waited = wall - ran;
	return waited;
}

static uint64_t longest(const struct haul_runtime *rt)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		uint64_t ns = starved(&rt->carriers[i]);

		if (ns > most)
			most = ns;
	}
	return most;
}

uint64_t hauli_starved_grant(const struct haul_runtime *rt, uint64_t *granted)
{
	uint64_t ns = longest(rt), more = ns > *granted ? ns - *granted : 0;

	if (more < LEAST_NS)
		return 0;
	*granted = ns;
	return more;
}
