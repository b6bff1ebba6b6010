/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/clock.h"

#include <stdbool.h>
#include <time.h>

#include <haul/base.h>

#include "base/clock.h"

#define TRIES 8
#define PERIOD (100 * HAUL_MS)
#define MOST_SLEW 0.01 /* beyond that, the system's clock was set */

/* The fastest of several tries: no interruption between the two clocks. */
static void measure(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		struct timespec t;
		uint64_t before = hauli_ticks(), after;

		clock_gettime(CLOCK_REALTIME, &t);
		after = hauli_ticks();
		if (after - before >= best)
			continue;
		best = after - before;
		*ticks = before + best / 2;
		*ns = (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
	}
}

void hauli_capture_clock_init(struct hauli_capture_clock *clock)
{
	const uint64_t many = UINT64_C(1) << 32;

	hauli_clock_init();
	measure(&clock->measured_ticks, &clock->measured_ns);
	clock->now = (struct hauli_capture_line){
		.ticks = clock->measured_ticks,
		.ns = clock->measured_ns,
		.ns_per_tick = (double)hauli_ns_from_ticks(many) / (double)many,
	};
	clock->before = clock->now;
}

static uint64_t on(const struct hauli_capture_line *line, uint64_t ticks)
{
	/* The difference may be negative: stamps before the first measurement. */
	return line->ns +
		(uint64_t)(int64_t)((double)(int64_t)(ticks - line->ticks) * line->ns_per_tick);
}

uint64_t hauli_capture_clock_ns(const struct hauli_capture_clock *clock, uint64_t ticks)
{
	return on((int64_t)(ticks - clock->now.ticks) < 0 ? &clock->before : &clock->now, ticks);
}

static bool is_far(double share)
{
	return share > MOST_SLEW || share < -MOST_SLEW;
}

/* The new line begins where the old one ends, so that time does not go back, and meets the system's
 * clock one period later. */
void hauli_capture_clock_update(struct hauli_capture_clock *clock)
{
	uint64_t ticks = 0, ns = 0, at;
	double rate, error;

	if (hauli_ns_from_ticks(hauli_ticks() - clock->measured_ticks) < PERIOD)
		return;
	measure(&ticks, &ns);
	rate = (double)(int64_t)(ns - clock->measured_ns) / (double)(ticks - clock->measured_ticks);
	clock->measured_ticks = ticks;
	clock->measured_ns = ns;
	at = on(&clock->now, ticks);
	error = (double)(int64_t)(ns - at) / (double)PERIOD;
	clock->before = clock->now;
	if (is_far(error) || is_far(rate / clock->now.ns_per_tick - 1))
		clock->now = (struct hauli_capture_line){ticks, ns, clock->now.ns_per_tick};
	else
		clock->now = (struct hauli_capture_line){ticks, at, rate * (1 + error)};
}
