/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/share.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

static uint64_t work(const struct hauli_poller *p, uint64_t now)
{
	return hauli_stopwatch_read(hauli_glue_work(p->carrier), now);
}

static void set(struct hauli_counter *c, uint64_t value)
{
	hauli_counter_add(c, value - hauli_counter_read(c));
}

void hauli_share_begin(struct hauli_poller *p)
{
	uint64_t now = hauli_ticks();

	set(&p->share.work_before, work(p, now));
	set(&p->share.began, now);
	hauli_u32_published_set(&p->share.runs, 1);
}

void hauli_share_end(struct hauli_poller *p)
{
	uint64_t now = hauli_ticks();

	if (p->works)
		hauli_share_work_ends(p);
	hauli_counter_add(&p->share.elapsed, now - hauli_counter_read(&p->share.began));
	hauli_counter_add(
		&p->share.worked, work(p, now) - hauli_counter_read(&p->share.work_before));
	hauli_u32_published_set(&p->share.runs, 0);
}

void hauli_share_work_begins(struct hauli_poller *p)
{
	p->works = true;
	hauli_stopwatch_start(hauli_glue_work(p->carrier), hauli_ticks());
}

void hauli_share_work_ends(struct hauli_poller *p)
{
	p->works = false;
	hauli_stopwatch_stop(hauli_glue_work(p->carrier), hauli_ticks());
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void add(const struct hauli_poller *p, struct haul_io_share *s)
{
	const struct hauli_share *share = &p->share;
	/* Without a poller the carrier may be gone. */
	bool runs = hauli_u32_published_get(&share->runs);
	uint64_t now = hauli_ticks();
	uint64_t elapsed = hauli_counter_read(&share->elapsed);
	uint64_t worked = hauli_counter_read(&share->worked);
	uint64_t asleep = hauli_stopwatch_read(&p->idle.asleep, now);

	if (runs) {
		elapsed += minus(now, hauli_counter_read(&share->began));
		worked += minus(work(p, now), hauli_counter_read(&share->work_before));
	}
	s->work_ns += hauli_ns_from_ticks(worked);
	s->asleep_ns += hauli_ns_from_ticks(asleep);
	s->empty_ns += hauli_ns_from_ticks(minus(elapsed, worked + asleep));
}

void haul_io_get_share(const struct haul_io *io, int carrier, struct haul_io_share *s)
{
	HAUL_MISUSE_IF(!io || !s, HAULI_NO_IO);
	memset(s, 0, sizeof(*s));
	for (unsigned c = 0; c < io->nb_pollers; c++)
		if (carrier < 0 || (unsigned)carrier == c)
			add(io->pollers[c], s);
}
