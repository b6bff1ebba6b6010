/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_io_stop() waits for a carrier that waits for a CPU, however long that takes. */
#include <haul/haul.h>

#include "io_bed.h"
#include "sched/state/carrier.h"
#include "support/starve.h"

static void drops(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

/* Returns when the thread, which spins, has run beside the busy ones: its next wait is long. */
static void wait_for_a_wait(uint32_t tid)
{
	struct hauli_delay_look first, now;

	WAIT_UNTIL(hauli_delay_look(tid, &first));
	WAIT_UNTIL(hauli_delay_look(tid, &now) && now.ran > first.ran + HAUL_MS);
	do
		first = now;
	while (!hauli_delay_look(tid, &now) || now.ran != first.ran);
}

static void stop_a_starved_one(void)
{
	struct haul_io_opts opts;
	struct starve s;
	char later[256];
	struct bed bed;
	uint32_t tid;
	int err;

	bed_open(&bed, (const char *const[]){"ring:", NULL});
	opts = bed_io_opts(&bed);
	opts.on_burst = drops;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 100);
	tid = hauli_u32_published_get(&haul_carrier(bed.rt, 0)->run.tid);
	starve_begin(&s, tid);
	wait_for_a_wait(tid);
	starve_for(&s, 3 * HAUL_S);
	err = haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf));
	starve_end(&s);
	if (err)
		haul_io_stop(bed.io, HAUL_FOREVER, later, sizeof(later));
	ck_assert_int_eq(bed_take_down(&bed), 0);
	ck_assert_msg(err == 0, "%s", bed.errbuf);
}

/* Twice: on a busy machine this thread may be the one that waits for a CPU. */
START_TEST(a_stop_waits_for_a_poller_that_waits_for_a_cpu)
{
	stop_a_starved_one();
	stop_a_starved_one();
}
END_TEST

BED_MAIN("io_starved", {a_stop_waits_for_a_poller_that_waits_for_a_cpu})
