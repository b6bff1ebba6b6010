/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw.h"

#include <stdlib.h>
#include <string.h>

#define TICK_BITS 52

/* All of a file, in memory of the caller; NULL: it cannot be read. */
static char *slurp(FILE *in, size_t *len)
{
	size_t size = 1 << 20, n;
	char *all = malloc(size);

	*len = 0;
	while (all && (n = fread(all + *len, 1, size - *len, in)) > 0) {
		char *more;

		*len += n;
		if (*len < size)
			continue;
		more = realloc(all, size *= 2);
		if (!more)
			free(all);
		all = more;
	}
	if (all && ferror(in)) {
		free(all);
		return NULL;
	}
	return all;
}

/* Takes len bytes off the front. False: there are fewer. */
static bool take(const char **at, size_t *left, void *to, size_t len)
{
	if (*left < len)
		return false;
	if (to)
		memcpy(to, *at, len);
	*at += len;
	*left -= len;
	return true;
}

static bool has_time(const uint64_t words[2])
{
	unsigned kind = words[0] & 63;

	return kind > HAUL_TRACE_TEXT && kind != HAUL_TRACE_VALUE;
}

/* How many of the oldest events are torn, of a ring whose tail is missing: what was overwritten is
 * younger than what follows it. */
static uint64_t torn_by_times(const struct trace_ring *r, uint64_t n)
{
	uint64_t torn = 0, last = 0;
	bool has_last = false;

	for (uint64_t i = 0; i < n; i++) {
		if (!has_time(r->words[i]))
			continue;
		if (has_last && r->words[last][0] >> 12 > r->words[i][0] >> 12)
			torn = i;
		has_last = true;
		last = i;
	}
	return torn;
}

/* False: not even the head is there. */
static bool take_ring(struct trace_raw *raw, struct trace_ring *r, const char **at, size_t *left)
{
	struct haul_trace_tail tail;
	uint64_t n, torn;

	if (!take(at, left, &r->head, sizeof(r->head)))
		return false;
	n = r->head.end - r->head.first;
	r->words = (const uint64_t(*)[2]) * at;
	if (n > *left / sizeof(r->words[0]))
		n = *left / sizeof(r->words[0]);
	take(at, left, NULL, n * sizeof(r->words[0]));
	if (n == r->head.end - r->head.first && take(at, left, &tail, sizeof(tail))) {
		torn = tail.first > r->head.first ? tail.first - r->head.first : 0;
		torn = torn < n ? torn : n;
	} else {
		raw->is_cut = true;
		*left = 0;
		torn = torn_by_times(r, n);
	}
	r->words += torn;
	r->lost = r->head.first + torn;
	r->n = n - torn;
	return true;
}

static bool add_ring(struct trace_raw *raw, const char **at, size_t *left)
{
	struct trace_ring *more = realloc(raw->rings, (raw->nb + 1) * sizeof(raw->rings[0]));

	if (!more)
		return false;
	raw->rings = more;
	if (!take_ring(raw, &raw->rings[raw->nb], at, left)) {
		raw->is_cut = true;
		*left = 0;
		return true;
	}
	raw->nb++;
	return true;
}

bool trace_raw_read(struct trace_raw *raw, FILE *in, const char **why)
{
	size_t left;
	const char *at;

	*raw = (struct trace_raw){.memory = slurp(in, &left)};
	at = raw->memory;
	*why = "it cannot be read";
	if (!at)
		return false;
	*why = "it is no raw trace file of this version of haul";
	if (!take(&at, &left, &raw->head, sizeof(raw->head)) ||
		raw->head.magic != HAUL_TRACE_MAGIC || raw->head.version != HAUL_TRACE_VERSION)
		return false;
	*why = "out of memory";
	while (left > 0)
		if (!add_ring(raw, &at, &left))
			return false;
	return true;
}

void trace_raw_free(struct trace_raw *raw)
{
	free(raw->rings);
	free(raw->memory);
}

uint64_t trace_raw_ns(const struct trace_raw *raw, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * raw->head.ns_per_tick >> 32);
}

/* An event has the low bits of its ticks: the file's time tells the others. It may be younger than
 * that, as the rings were copied afterwards. */
static uint64_t when(const struct trace_raw *raw, uint64_t low)
{
	uint64_t ago = (raw->head.ticks - low) << (64 - TICK_BITS) >> (64 - TICK_BITS);

	if (ago >> (TICK_BITS - 1))
		return raw->head.monotonic_ns + trace_raw_ns(raw, (UINT64_C(1) << TICK_BITS) - ago);
	ago = trace_raw_ns(raw, ago);
	return ago < raw->head.monotonic_ns ? raw->head.monotonic_ns - ago : 0;
}

struct trace_event trace_raw_event(
	const struct trace_raw *raw, const struct trace_ring *ring, uint64_t i)
{
	const uint64_t *words = ring->words[i];
	struct trace_event e = {
		.kind = (enum haul_trace_kind)(words[0] & 63),
		.sub = words[0] >> 6 & 63,
		.extra = words[1] & UINT16_MAX,
		.value = words[1] >> 16,
	};

	if ((words[0] & UINT8_MAX) == HAUL_TRACE_TEXT)
		e.kind = HAUL_TRACE_TEXT;
	else if (e.kind == HAUL_TRACE_VALUE)
		e.value = words[1];
	else if (e.kind != HAUL_TRACE_NAME)
		e.ns = when(raw, words[0] >> 12);
	return e;
}

const char *trace_raw_why(uint32_t why)
{
	static const char *const names[] = {[HAUL_TRACE_ASKED] = "asked for",
		[HAUL_TRACE_SIGNAL] = "signal",
		[HAUL_TRACE_CRASH] = "crash",
		[HAUL_TRACE_SLICE] = "long slice",
		[HAUL_TRACE_GAP] = "gap between polls",
		[HAUL_TRACE_DROP] = "drop",
		[HAUL_TRACE_PROGRAM] = "the program"};

	return why < sizeof(names) / sizeof(names[0]) ? names[why] : "?";
}

static const char *const stops[] = {
	[HAUL_TRACE_BEGAN] = "began",
	[HAUL_TRACE_YIELDED] = "yielded",
	[HAUL_TRACE_PARKED] = "parked",
	[HAUL_TRACE_SLEEPS] = "sleeps",
	[HAUL_TRACE_JOINS] = "joins",
	[HAUL_TRACE_BLOCKED] = "blocked",
	[HAUL_TRACE_ORDERED] = "waits for its order",
	[HAUL_TRACE_WENT_HOME] = "went home",
	[HAUL_TRACE_ENDED] = "ended",
};

const char *trace_raw_stop(unsigned how)
{
	return how < sizeof(stops) / sizeof(stops[0]) ? stops[how] : "?";
}

const char *trace_raw_frame(unsigned fate)
{
	static const char *const fates[] = {
		[HAUL_TRACE_SENT] = "to ",
		[HAUL_TRACE_DUPLICATED] = "duplicate, to ",
		[HAUL_TRACE_ARRIVED] = "from ",
		[HAUL_TRACE_LOST] = "lost: ",
	};

	return fate < sizeof(fates) / sizeof(fates[0]) ? fates[fate] : "? ";
}

const char *trace_raw_end(unsigned end)
{
	static const char *const ends[] = {
		[HAUL_TRACE_WOKEN] = "woken",
		[HAUL_TRACE_EXPIRED] = "timer",
		[HAUL_TRACE_CANCELLED] = "cancelled",
	};

	return end < sizeof(ends) / sizeof(ends[0]) ? ends[end] : NULL;
}
