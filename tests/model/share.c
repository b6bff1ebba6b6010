/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The share of a carrier's time, by the real share.c of the glue: a poller begins and ends two
 * runs, with work in both, while another thread reads the share. The reader counts no time twice,
 * and misses none of a run of which it knows that it has ended.
 */
#include "base/clock.h"
#include "explorer.h"

static uint64_t ticks(void);
#define hauli_ticks() ticks()
#define hauli_ns_from_ticks(t) (t)
#include "io/share.c"

#define READ_AT UINT64_C(100) /* after all changes */

static struct {
	struct hauli_poller p;
	struct haul_carrier c;
	struct hauli_u32_published ended; /* runs */
	uint64_t now; /* of the poller: 10 more at each change */
} m;

static uint64_t ticks(void)
{
	return m.now += 10;
}

static void init(void)
{
	m.p.carrier = &m.c;
	model_private(&m.now, sizeof(m.now), 0);
}

static void run(void)
{
	hauli_share_begin(&m.p);
	hauli_share_works(&m.p);
	hauli_share_end(&m.p);
}

static void poller(void)
{
	run(); /* from 10 to 40; works from 20 to 30 */
	hauli_u32_published_set(&m.ended, 1);
	run(); /* from 50 to 80; works from 60 to 70 */
}

static struct haul_io_share read_share(void)
{
	struct haul_io_share s = {0};

	hauli_share_add(&m.p, READ_AT, &s);
	return s;
}

static void reader(void)
{
	uint32_t ended = hauli_u32_published_get(&m.ended);
	struct haul_io_share s = read_share();

	MODEL_ASSERT(s.work_ns + s.empty_ns <= READ_AT - 10);
	MODEL_ASSERT(s.work_ns <= READ_AT - 20);
	MODEL_ASSERT(s.work_ns >= ended * 10);
	MODEL_ASSERT(s.work_ns + s.empty_ns >= ended * 30);
}

static void check(void)
{
	struct haul_io_share s = read_share();

	MODEL_ASSERT(s.work_ns == 20);
	MODEL_ASSERT(s.empty_ns == 40);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "share of time",
			.nb_threads = 2,
			.threads = {poller, reader},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
