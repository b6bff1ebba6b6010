/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/delay.h"

#include "sim/fault.h"
#include "sim/world.h"

/* At most. */
#define LATE_NS (10 * HAUL_MS)
#define STALL_NS (10 * HAUL_MS)
#define SLOW_NS (10 * HAUL_MS)
#define SLOW_STEP_NS (100 * HAUL_US)
#define CLOCK_NS (24 * 3600 * HAUL_S)

static int64_t clock_step;

void hauli_sim_delays_begin(void)
{
	clock_step = 0;
}

uint64_t hauli_sim_away_ns(struct hauli_sim_thread *t, uint64_t now)
{
	if (hauli_sim_strikes(HAULI_SIM_STALL))
		return hauli_sim_fault_draw_log(HAULI_SIM_STALL, STALL_NS);
	if (hauli_sim_strikes(HAULI_SIM_SLOW)) {
		t->slow_until = now + hauli_sim_fault_draw_log(HAULI_SIM_SLOW, SLOW_NS);
		t->slow_ns = hauli_sim_fault_draw_log(HAULI_SIM_SLOW, SLOW_STEP_NS);
	}
	return now < t->slow_until ? t->slow_ns : 0;
}

uint64_t hauli_sim_late_ns(void)
{
	if (!hauli_sim_strikes(HAULI_SIM_LATE))
		return 0;
	return hauli_sim_fault_draw_log(HAULI_SIM_LATE, LATE_NS);
}

int64_t hauli_sim_clock_step(bool reads)
{
	if (reads && hauli_sim_strikes(HAULI_SIM_CLOCK_STEP)) {
		clock_step = (int64_t)hauli_sim_fault_draw_log(HAULI_SIM_CLOCK_STEP, CLOCK_NS);
		if (hauli_sim_fault_draw(HAULI_SIM_CLOCK_STEP, 1))
			clock_step = -clock_step;
	}
	return clock_step;
}
