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

	hauli_stopwatch_start(&p->share.worked, work(p, now));
	hauli_stopwatch_start(&p->share.elapsed, now);
}

void hauli_share_end(struct hauli_poller *p)
{
	uint64_t now;

	if (p->works)
		hauli_share_work_ends(p);
	now = hauli_ticks();
	hauli_stopwatch_stop(&p->share.worked, work(p, now));
	hauli_stopwatch_stop(&p->share.elapsed, now);
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

void hauli_share_add(const struct hauli_poller *p, uint64_t now, struct haul_io_share *s)
{
	/* Reads the word once, as a run may begin or end meanwhile. While the stopwatch is stopped
	 * the carrier may be gone. */
	uint64_t word = hauli_counter_read(&p->share.worked.word);
	uint64_t worked = hauli_stopwatch_sum(word, word & 1 ? work(p, now) : 0);
	uint64_t elapsed = hauli_stopwatch_read(&p->share.elapsed, now);
	uint64_t asleep = hauli_stopwatch_read(&p->idle.asleep, now);

	s->work_ns += hauli_ns_from_ticks(worked);
	s->asleep_ns += hauli_ns_from_ticks(asleep);
	s->empty_ns += hauli_ns_from_ticks(minus(elapsed, worked + asleep));
}

void haul_io_get_share(const struct haul_io *io, unsigned carrier, struct haul_io_share *s)
{
	HAUL_MISUSE_IF(!io || !s, HAULI_NO_IO);
	memset(s, 0, sizeof(*s));
	for (unsigned c = 0; c < io->nb_pollers; c++)
		if (carrier == HAUL_ALL || carrier == c)
			hauli_share_add(io->pollers[c], hauli_ticks(), s);
	for (unsigned c = 0; io->earlier && c < io->nb_carriers; c++) {
		if (carrier != HAUL_ALL && carrier != c)
			continue;
		s->work_ns += io->earlier[c]->share.work_ns;
		s->asleep_ns += io->earlier[c]->share.asleep_ns;
		s->empty_ns += io->earlier[c]->share.empty_ns;
	}
}
