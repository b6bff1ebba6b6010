/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrival processes: the times at which packets are due, computed from nothing but a plan, so that
 * a slow sender or receiver does not change them (an open loop).
 *
 * The plan's rate as a function of time has an integral, the number of arrivals that are due by a
 * time. A process steps along that number (by 1, by exponential steps for Poisson, by N for bursts)
 * and the inverse gives the time. So gaps do not add up: rounding does not change the rate.
 */
#ifndef FWD_ARRIVALS_H
#define FWD_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRIVALS_PHASES_MAX 4096
#define ARRIVALS_END UINT64_MAX

enum arrivals_kind { ARRIVALS_CONSTANT, ARRIVALS_POISSON, ARRIVALS_BURST };

/* A time during which the rate is constant or changes linearly. */
struct arrivals_phase {
	double from, to; /* packets per second */
	double seconds; /* INFINITY: the last phase, with a constant rate */
};

struct arrivals_plan {
	struct arrivals_phase phases[ARRIVALS_PHASES_MAX];
	unsigned nb_phases; /* 0: no packets */
	bool as_fast_as_possible; /* there are no phases */
	enum arrivals_kind kind;
	unsigned burst; /* ARRIVALS_BURST: packets that are due at once */
	uint64_t seed;
};

/*
 * Parse the texts of options into a plan. Return 0, or -EINVAL with the mistake in errbuf.
 * arrivals_parse_rate: phases RATE[-RATE][/TIME], separated by commas; "0": none; "max".
 * arrivals_read_rates: a file with a phase in each line; # begins a comment. Its path
 * is for lines about mistakes.
 * arrivals_parse_kind: "constant", "poisson", "burst[:N]".
 */
int arrivals_parse_rate(struct arrivals_plan *plan, const char *text, char *errbuf, size_t errlen);
int arrivals_read_rates(
	struct arrivals_plan *plan, FILE *file, const char *path, char *errbuf, size_t errlen);
int arrivals_parse_kind(struct arrivals_plan *plan, const char *text, char *errbuf, size_t errlen);

/* xoshiro256++, Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS
 * 47(4), 2021. */
struct arrivals_random {
	uint64_t s[4];
};
void arrivals_random_init(struct arrivals_random *r, uint64_t seed);
uint64_t arrivals_random_next(struct arrivals_random *r);

/* One of the streams among which a plan is divided. May be copied, to look ahead. */
struct arrivals {
	const struct arrivals_plan *plan;
	double count; /* of arrivals of all streams before the next one, since the phase began */
	double phase_at; /* beginning of the phase, in seconds */
	double streams;
	unsigned phase;
	unsigned left; /* arrivals of the present burst that follow */
	struct arrivals_random random;
};

/* plan must outlive it. stream: 0 to streams - 1. */
void arrivals_init(
	struct arrivals *a, const struct arrivals_plan *plan, unsigned stream, unsigned streams);

/* The time of the next arrival, in ns since the beginning; never less than the one before.
 * ARRIVALS_END: there are no more. */
uint64_t arrivals_next(struct arrivals *a);

#endif
