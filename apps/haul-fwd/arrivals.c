/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrivals.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_MAX 1e9
#define BURST_DEFAULT 32
#define BURST_MAX 65536

static uint64_t rotate(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

/* The state is filled by splitmix64, as the authors advise: it is never all zeros. */
void arrivals_random_init(struct arrivals_random *r, uint64_t seed)
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		r->s[i] = z ^ (z >> 31);
	}
}

uint64_t arrivals_random_next(struct arrivals_random *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotate(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

/* Exponential with mean 1. */
static double exponential(struct arrivals_random *r)
{
	double u = (double)(arrivals_random_next(r) >> 11) * 0x1p-53; /* [0, 1) */

	return -log1p(-u);
}

/* How far the count moves to the next arrival of this stream. */
static double step(struct arrivals *a)
{
	switch (a->plan->kind) {
	case ARRIVALS_POISSON:
		return a->streams * exponential(&a->random);
	case ARRIVALS_BURST:
		if (a->left > 0) {
			a->left--;
			return 0;
		}
		a->left = a->plan->burst - 1;
		return a->streams * a->plan->burst;
	default:
		return a->streams;
	}
}

void arrivals_init(
	struct arrivals *a, const struct arrivals_plan *plan, unsigned stream, unsigned streams)
{
	*a = (struct arrivals){.plan = plan, .streams = streams, .count = stream};
	arrivals_random_init(
		&a->random, plan->seed + (uint64_t)stream * UINT64_C(0x5851f42d4c957f2d));
	if (plan->kind == ARRIVALS_POISSON) {
		a->count = step(a);
	} else if (plan->kind == ARRIVALS_BURST) {
		a->count = (double)stream * plan->burst;
		a->left = plan->burst - 1;
	}
}

/* Seconds from the beginning of the phase until count arrivals are due; INFINITY: not in it. */
static double time_of(const struct arrivals_phase *p, double count)
{
	if (p->from == p->to)
		return p->from > 0 ? count / p->from : INFINITY;
	if (count >= (p->from + p->to) / 2 * p->seconds)
		return INFINITY;
	if (count == 0)
		return 0;
	/* count = from t + (to - from) / (2 seconds) t^2, without a difference of large numbers. */
	return 2 * count /
		(p->from + sqrt(p->from * p->from + 2 * (p->to - p->from) / p->seconds * count));
}

uint64_t arrivals_next(struct arrivals *a)
{
	const struct arrivals_plan *plan = a->plan;

	for (; a->phase < plan->nb_phases; a->phase++) {
		const struct arrivals_phase *p = &plan->phases[a->phase];
		double t = time_of(p, a->count);

		if (t < p->seconds) {
			a->count += step(a);
			return (uint64_t)((a->phase_at + t) * 1e9 + 0.5);
		}
		a->count -= (p->from + p->to) / 2 * p->seconds;
		if (a->count < 0)
			a->count = 0; /* rounding */
		a->phase_at += p->seconds;
	}
	return ARRIVALS_END;
}

/* A number with k, M or G behind it. Returns the end, or NULL. */
static const char *parse_number(const char *text, double *value)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return NULL;
	*value = strtod(text, &end);
	switch (*end) {
	case 'k':
		*value *= 1e3;
		return end + 1;
	case 'M':
		*value *= 1e6;
		return end + 1;
	case 'G':
		*value *= 1e9;
		return end + 1;
	default:
		return end;
	}
}

static const char *parse_seconds(const char *text, double *seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"s", 1}, {"", 1}};
	char *end;
	unsigned i;

	if (text[0] < '0' || text[0] > '9')
		return NULL;
	*seconds = strtod(text, &end);
	for (i = 0; strncmp(end, units[i].name, strlen(units[i].name)) != 0; i++)
		;
	*seconds *= units[i].seconds;
	return *seconds > 0 && isfinite(*seconds) ? end + strlen(units[i].name) : NULL;
}

/* Returns the end of the phase, or NULL. */
static const char *parse_phase(struct arrivals_phase *p, const char *text)
{
	text = parse_number(text, &p->from);
	if (!text)
		return NULL;
	p->to = p->from;
	p->seconds = INFINITY;
	if (*text == '-')
		text = parse_number(text + 1, &p->to);
	if (text && *text == '/')
		text = parse_seconds(text + 1, &p->seconds);
	return text;
}

static const char *mistake_in(const struct arrivals_phase *p, bool last)
{
	if (p->from > RATE_MAX || p->to > RATE_MAX)
		return "a rate is at most 1G";
	if (p->seconds != INFINITY)
		return NULL;
	if (!last)
		return "give each phase but the last a time, such as 100k/5s,200k";
	if (p->from != p->to)
		return "give the ramp a time, such as 1k-1M/10s";
	return p->from == 0 ? "the last phase would have no packets and no end" : NULL;
}

/* Parses phases up to the end of the text into a plan. Returns NULL, or what is wrong with the last
 * of plan->nb_phases. */
static const char *parse_phases(struct arrivals_plan *plan, const char *text)
{
	const char *wrong = NULL;

	while (!wrong) {
		struct arrivals_phase *p = &plan->phases[plan->nb_phases];

		if (plan->nb_phases++ == ARRIVALS_PHASES_MAX)
			return "too many phases: at most 4096 are possible";
		text = parse_phase(p, text);
		if (!text || (*text && *text != ','))
			return "give packets per second, such as 50k, a ramp with its time, such "
			       "as 1k-1M/10s, several of these with commas between, or max";
		wrong = mistake_in(p, !*text);
		if (!wrong && !*text)
			return NULL;
		text++;
	}
	return wrong;
}

int arrivals_parse_rate(struct arrivals_plan *plan, const char *text, char *errbuf, size_t errlen)
{
	const char *wrong;

	plan->nb_phases = 0;
	plan->as_fast_as_possible = strcmp(text, "max") == 0;
	if (plan->as_fast_as_possible || strcmp(text, "0") == 0)
		return 0;
	wrong = parse_phases(plan, text);
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "--rate %s: %s", text, wrong);
	return -EINVAL;
}

/* Makes one text, with commas, of the lines of a file, without comments. */
static void join_lines(FILE *file, FILE *text)
{
	const char *comma = "";
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, file) >= 0) {
		char *phase = line + strspn(line, " \t");

		phase[strcspn(phase, "# \t\r\n")] = '\0';
		if (!*phase)
			continue;
		fprintf(text, "%s%s", comma, phase);
		comma = ",";
	}
	free(line);
}

int arrivals_read_rates(
	struct arrivals_plan *plan, FILE *file, const char *path, char *errbuf, size_t errlen)
{
	char *text = NULL;
	size_t size = 0;
	FILE *joined = open_memstream(&text, &size);
	const char *wrong;

	if (!joined)
		abort();
	join_lines(file, joined);
	fclose(joined);
	wrong = size == 0 ? "it has no phases" : NULL;
	plan->nb_phases = 0;
	plan->as_fast_as_possible = false;
	if (wrong) {
		snprintf(errbuf, errlen, "--rate @%s: %s", path, wrong);
	} else {
		wrong = parse_phases(plan, text);
		if (wrong)
			snprintf(errbuf, errlen, "--rate @%s, phase %u: %s", path, plan->nb_phases,
				wrong);
	}
	free(text);
	return wrong ? -EINVAL : 0;
}

int arrivals_parse_kind(struct arrivals_plan *plan, const char *text, char *errbuf, size_t errlen)
{
	unsigned long n = BURST_DEFAULT;
	char *end = "";

	if (strcmp(text, "constant") == 0) {
		plan->kind = ARRIVALS_CONSTANT;
		return 0;
	}
	if (strcmp(text, "poisson") == 0) {
		plan->kind = ARRIVALS_POISSON;
		return 0;
	}
	if (strncmp(text, "burst:", 6) == 0 && text[6] >= '0' && text[6] <= '9')
		n = strtoul(text + 6, &end, 10);
	else if (strcmp(text, "burst") != 0)
		n = 0;
	if (n > 0 && n <= BURST_MAX && !*end) {
		plan->kind = ARRIVALS_BURST;
		plan->burst = (unsigned)n;
		return 0;
	}
	snprintf(errbuf, errlen,
		"--arrivals %s: give constant, poisson, burst, or burst:N with N from 1 to %u",
		text, BURST_MAX);
	return -EINVAL;
}
