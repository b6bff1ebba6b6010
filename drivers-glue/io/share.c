/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/share.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

static uint64_t work(const struct hauli_poller *p, uint64_t now)
{
	return hauli_stopwatch_read(hauli_glue_work(p->carrier), now);
}

void hauli_share_begin(struct hauli_poller *p)
{
	uint64_t now = hauli_ticks();

	hauli_counter_add(&p->share.work_before, work(p, now));
	hauli_counter_add(&p->share.began, now);
	hauli_u32_published_set(&p->share.phase, HAULI_SHARE_RUNS);
}

void hauli_share_end(struct hauli_poller *p)
{
	uint64_t now = hauli_ticks();

	if (p->works)
		hauli_share_work_ends(p);
	hauli_counter_add(&p->share.work_after, work(p, now));
	hauli_counter_add(&p->share.ended, now);
	hauli_u32_published_set(&p->share.phase, HAULI_SHARE_ENDED);
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
	uint32_t phase = hauli_u32_published_get(&share->phase);
	/* The carrier may be gone once the poller has ended. */
	bool ended = phase == HAULI_SHARE_ENDED;
	uint64_t now, worked, asleep;

	if (phase == HAULI_SHARE_NOT_BEGUN)
		return;
	now = ended ? hauli_counter_read(&share->ended) : hauli_ticks();
	worked = ended ? hauli_counter_read(&share->work_after) : work(p, now);
	worked = minus(worked, hauli_counter_read(&share->work_before));
	asleep = hauli_stopwatch_read(&p->idle.asleep, now);
	s->work_ns += hauli_ns_from_ticks(worked);
	s->asleep_ns += hauli_ns_from_ticks(asleep);
	s->empty_ns += hauli_ns_from_ticks(
		minus(now - hauli_counter_read(&share->began), worked + asleep));
}

void haul_io_get_share(const struct haul_io *io, int carrier, struct haul_io_share *s)
{
	HAUL_MISUSE_IF(!io || !s, HAULI_NO_IO);
	memset(s, 0, sizeof(*s));
	for (unsigned c = 0; c < io->nb_pollers; c++)
		if (carrier < 0 || (unsigned)carrier == c)
			add(io->pollers[c], s);
}
