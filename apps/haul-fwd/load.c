/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time is divided into windows of 10 us. A packet adds one to the present window's count; a window
 * that had packets is added, when the next one begins, to its interval and to the windows of 100
 * us, 1 ms and 10 ms around it. Windows without packets need no work: they add nothing to sums. If
 * the intervals fill the table, each pair becomes one, and intervals are twice as long from then
 * on.
 */
#include "load.h"

#include <math.h>
#include <string.h>

#include <haul/net.h>

#define WINDOWS_PER_S 100000
#define INTERVAL_WINDOWS 10000 /* of an interval at the start: 100 ms */

static const uint64_t per_scale[LOAD_SCALES] = {1, 10, 100, 1000}; /* shortest windows */

void load_init(struct load *l, uint64_t start, uint64_t tsc_hz)
{
	memset(l, 0, sizeof(*l));
	l->start = start;
	l->window_ticks = tsc_hz / WINDOWS_PER_S;
	l->ends = start + l->window_ticks;
	l->interval_windows = INTERVAL_WINDOWS;
}

/* Makes one interval of two, in one table. */
static void merge_pairs(uint64_t table[LOAD_INTERVALS])
{
	for (unsigned i = 0; i < LOAD_INTERVALS / 2; i++)
		table[i] = table[2 * i] + table[2 * i + 1];
	memset(table + LOAD_INTERVALS / 2, 0, sizeof(table[0]) * LOAD_INTERVALS / 2);
}

static void double_intervals(struct load *l)
{
	merge_pairs(l->counts);
	for (unsigned s = 0; s < LOAD_SCALES; s++)
		merge_pairs(l->squares[s]);
	l->interval_windows *= 2;
}

static unsigned interval_of(struct load *l, uint64_t window)
{
	while (window / l->interval_windows >= LOAD_INTERVALS)
		double_intervals(l);
	return (unsigned)(window / l->interval_windows);
}

/* Adds a window that has ended to the sums of its length. */
static void close_window(struct load *l, unsigned s)
{
	l->squares[s][interval_of(l, l->at[s] * per_scale[s])] += l->in[s] * l->in[s];
	l->in[s] = 0;
}

static void count_window(struct load *l)
{
	if (l->packets == 0)
		return;
	l->counts[interval_of(l, l->window)] += l->packets;
	for (unsigned s = 0; s < LOAD_SCALES; s++) {
		uint64_t at = l->window / per_scale[s];

		if (at != l->at[s])
			close_window(l, s);
		l->at[s] = at;
		l->in[s] += l->packets;
	}
	l->packets = 0;
}

static __attribute__((noinline)) void next_window(struct load *l, uint64_t now)
{
	count_window(l);
	l->window = (now - l->start) / l->window_ticks;
	l->ends = l->start + (l->window + 1) * l->window_ticks;
}

void load_count(struct load *l, struct rte_mbuf *const *pkts, uint16_t n, uint64_t now)
{
	if (now >= l->ends)
		next_window(l, now);
	l->packets += n;
	for (uint16_t i = 0; i < n; i++) {
		uint32_t flow = haul_net_flow(pkts[i]) % LOAD_FLOW_BITS;

		l->sizes[RTE_MIN(pkts[i]->pkt_len, LOAD_SIZES - 1u)]++;
		l->flows[flow / 64] |= UINT64_C(1) << flow % 64;
	}
}

static void end(struct load *l)
{
	count_window(l);
	for (unsigned s = 0; s < LOAD_SCALES; s++)
		close_window(l, s);
}

void load_add(struct load *to, struct load *from)
{
	end(to);
	end(from);
	while (to->interval_windows < from->interval_windows)
		double_intervals(to);
	while (from->interval_windows < to->interval_windows)
		double_intervals(from);
	for (unsigned i = 0; i < LOAD_INTERVALS; i++)
		to->counts[i] += from->counts[i];
	for (unsigned s = 0; s < LOAD_SCALES; s++)
		for (unsigned i = 0; i < LOAD_INTERVALS; i++)
			to->squares[s][i] += from->squares[s][i];
	for (unsigned i = 0; i < LOAD_SIZES; i++)
		to->sizes[i] += from->sizes[i];
	for (unsigned i = 0; i < LOAD_FLOW_BITS / 64; i++)
		to->flows[i] |= from->flows[i];
}

/* Linear counting: Whang, Vander-Zanden and Taylor, ACM TODS 15(2), 1990. */
static int64_t count_flows(const struct load *l)
{
	unsigned ones = 0;

	for (unsigned i = 0; i < LOAD_FLOW_BITS / 64; i++)
		ones += (unsigned)__builtin_popcountll(l->flows[i]);
	ones = RTE_MIN(ones, LOAD_FLOW_BITS - 1u);
	return llround(-LOAD_FLOW_BITS * log1p(-(double)ones / LOAD_FLOW_BITS));
}

static void add_numbers(
	struct haul_app_json *to, const char *key, const uint64_t *values, unsigned n)
{
	struct haul_app_json *array = haul_app_json_array(to, key);

	for (unsigned i = 0; i < n; i++)
		haul_app_json_number(array, NULL, (int64_t)values[i]);
}

static void add_sizes(struct haul_app_json *to, const struct load *l)
{
	struct haul_app_json *array = haul_app_json_array(to, "sizes");

	for (unsigned i = 0; i < LOAD_SIZES; i++) {
		struct haul_app_json *one;

		if (l->sizes[i] == 0)
			continue;
		one = haul_app_json_array(array, NULL);
		haul_app_json_number(one, NULL, i);
		haul_app_json_number(one, NULL, (int64_t)l->sizes[i]);
	}
}

void load_json(struct load *l, uint64_t tsc_hz, struct haul_app_json *to)
{
	double window_s = (double)l->window_ticks / (double)tsc_hz;
	unsigned intervals = LOAD_INTERVALS;
	struct haul_app_json *windows;

	end(l);
	while (intervals > 0 && l->counts[intervals - 1] == 0)
		intervals--;
	haul_app_json_real(to, "interval_seconds", window_s * (double)l->interval_windows);
	add_numbers(to, "packets", l->counts, intervals);
	windows = haul_app_json_array(to, "windows");
	for (unsigned s = 0; s < LOAD_SCALES; s++) {
		struct haul_app_json *one = haul_app_json_object(windows, NULL);

		haul_app_json_real(one, "seconds", window_s * (double)per_scale[s]);
		add_numbers(one, "squares", l->squares[s], intervals);
	}
	add_sizes(to, l);
	haul_app_json_number(to, "flows", count_flows(l));
}
