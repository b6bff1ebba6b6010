/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-sim/sim.h>
#include <haul/sometimes.h>

#include "base/random.h"
#include "sim/real.h"
#include "sim/steps.h"

#define NEVER UINT64_MAX
#define SECTIONS 256 /* of HAUL_SOMETIMES(); a power of two */

/* One strike in so many opportunities: the seed takes a number between these. */
struct often {
	uint32_t most, least;
};

static const struct {
	const char *name;
	struct often often;
} kinds[HAULI_SIM_FAULTS] = {
	[HAULI_SIM_LOSS] = {"loss", {3, 10000}},
	[HAULI_SIM_BURST_LOSS] = {"burst-loss", {100, 100000}},
	[HAULI_SIM_DUPLICATE] = {"duplicate", {3, 10000}},
	[HAULI_SIM_REORDER] = {"reorder", {3, 10000}},
	[HAULI_SIM_FLIP] = {"flip", {10, 100000}},
	[HAULI_SIM_DELAY] = {"delay", {3, 10000}},
	[HAULI_SIM_PARTITION] = {"partition", {5, 1000}},
	[HAULI_SIM_CLOG] = {"clog", {5, 10000}},
	[HAULI_SIM_LINK_DOWN] = {"link-down", {10, 10000}},
	[HAULI_SIM_NO_MBUF] = {"no-mbuf", {10, 100000}},
	[HAULI_SIM_NO_STACK] = {"no-stack", {2, 1000}},
	[HAULI_SIM_SLOW] = {"slow", {30000, 3000000}},
	[HAULI_SIM_STALL] = {"stall", {10000, 1000000}},
	[HAULI_SIM_LATE] = {"late", {2, 10000}},
	[HAULI_SIM_KILL] = {"kill", {10, 10000}},
	[HAULI_SIM_CLOCK_STEP] = {"clock-step", {10, 10000}},
	[HAULI_SIM_SYSCALL] = {"syscall", {10, 10000}},
	[HAULI_SIM_SOMETIMES] = {"sometimes", {2, 1000}},
};

/* Errors of calls that come from without, not from a wrong call. */
static const struct {
	const char *call;
	int errors[4];
} calls[] = {
	{"accept4", {EMFILE, ENFILE, ECONNABORTED, ENOMEM}},
	{"connect", {ECONNREFUSED, ENETUNREACH, ETIMEDOUT, ENOBUFS}},
	{"epoll_create1", {EMFILE, ENFILE, ENOMEM}},
	{"epoll_ctl", {ENOMEM, ENOSPC}},
	{"epoll_wait", {EINTR}},
	{"eventfd", {EMFILE, ENFILE, ENOMEM}},
	{"fsync", {EIO, ENOSPC}},
	{"open", {EMFILE, ENFILE, ENOSPC, ENOMEM}},
	{"pipe2", {EMFILE, ENFILE}},
	{"poll", {EINTR, ENOMEM}},
	{"pthread_create", {EAGAIN}},
	{"read", {EINTR, EIO}},
	{"recv", {EINTR, ECONNRESET, ENOMEM}},
	{"sem_timedwait", {EINTR}},
	{"sem_wait", {EINTR}},
	{"send", {EINTR, ECONNRESET, ENOBUFS, EPIPE}},
	{"socket", {EMFILE, ENFILE, ENOBUFS, ENOMEM}},
	{"timerfd_create", {EMFILE, ENFILE, ENOMEM}},
	{"write", {EINTR, ENOSPC, EIO}},
};

#define NB_CALLS (sizeof(calls) / sizeof(calls[0]))

struct section {
	const char *name;
	uint64_t left, gaps;
	uint32_t one_in; /* 0: not in this run */
};

static struct {
	uint64_t seed;
	const struct hauli_sim_fault_set *set;
	bool stopped;
	struct {
		uint32_t one_in;
		uint64_t last, count, gaps;
		struct hauli_random random;
	} of[HAULI_SIM_FAULTS];
	struct section sections[SECTIONS];
	unsigned nb_sections;
} f;

uint64_t hauli_sim_fault_left[HAULI_SIM_FAULTS];
void (*hauli_sim_faults_stopped)(void);
void (*hauli_sim_fault_seen)(
	enum hauli_sim_fault kind, uint64_t number, const struct hauli_sim_target *target);

/* The finalizer of splitmix64: all bits of the result depend on all of x. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* A number that depends on the seed and on these, and on nothing else. */
static uint64_t drawn(uint64_t what, uint64_t number)
{
	return mix(mix(mix(f.seed) ^ what) + number);
}

/* As likely between 10 and 20 as between 1,000 and 2,000. From integers only: the same on each
 * machine. 0 < least <= most. */
static uint64_t log_uniform(uint64_t x, uint64_t least, uint64_t most)
{
	unsigned octaves = 0, octave;
	uint64_t from;

	while (octaves < 63 && most >> octaves > least)
		octaves++;
	octave = octaves ? (unsigned)(x % octaves) : 0;
	from = least << octave;
	from += mix(x) % from;
	return from < most ? from : most;
}

static uint32_t often(uint64_t what, const struct often *o)
{
	return drawn(what, 0) % 2 ? (uint32_t)log_uniform(drawn(what, 1), o->most, o->least) : 0;
}

/* 1 to 2 one_in - 1 opportunities. */
static uint64_t gap(uint64_t what, uint64_t number, uint32_t one_in)
{
	return one_in ? 1 + drawn(what, UINT64_C(1) << 32 | number) % (2 * one_in - 1) : NEVER;
}

/* One for each kind; those of sections are hashes of their names. */
static uint64_t what_of(enum hauli_sim_fault kind)
{
	return mix(kind + 1);
}

const char *hauli_sim_fault_name(enum hauli_sim_fault kind)
{
	return kinds[kind].name;
}

const char *hauli_sim_fault_names(void)
{
	static char names[256];

	names[0] = '\0';
	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++) {
		strcat(names, i ? ", " : "");
		strcat(names, kinds[i].name);
	}
	return names;
}

void hauli_sim_faults_begin(uint64_t seed, const struct hauli_sim_fault_set *set)
{
	memset(&f, 0, sizeof(f));
	f.seed = seed;
	f.set = set;
	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++) {
		uint64_t what = what_of(i);

		if (set->kinds & 1U << i)
			f.of[i].one_in = often(what, &kinds[i].often);
		hauli_sim_fault_left[i] = gap(what, 0, f.of[i].one_in);
		hauli_random_init(&f.of[i].random, drawn(what, 2));
	}
}

void hauli_sim_faults_end(void)
{
	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++)
		hauli_sim_fault_left[i] = NEVER;
	f.set = NULL;
}

uint64_t hauli_sim_fault_count(enum hauli_sim_fault kind)
{
	return f.of[kind].count;
}

uint64_t hauli_sim_fault_last(enum hauli_sim_fault kind)
{
	return f.of[kind].last;
}

void haul_sim_faults_stop(void)
{
	f.stopped = true;
	if (hauli_sim_faults_stopped)
		hauli_sim_faults_stopped();
}

void haul_sim_faults_start(void)
{
	f.stopped = false;
}

static bool is_in_set(enum hauli_sim_fault kind, uint64_t number)
{
	bool has_ranges = false;

	for (size_t i = 0; i < f.set->n; i++) {
		const struct hauli_sim_range *r = &f.set->ranges[i];

		if (r->kind != kind)
			continue;
		if (number >= r->from && number <= r->to)
			return true;
		has_ranges = true;
	}
	return !has_ranges;
}

static bool strike(enum hauli_sim_fault kind, const struct hauli_sim_target *target)
{
	uint64_t number;

	if (f.stopped)
		return false;
	number = ++f.of[kind].last;
	if (!is_in_set(kind, number))
		return false;
	hauli_random_init(&f.of[kind].random, drawn(what_of(kind), UINT64_C(1) << 33 | number));
	f.of[kind].count++;
	if (hauli_sim_fault_seen)
		hauli_sim_fault_seen(kind, number, target);
	return true;
}

static bool is_due(enum hauli_sim_fault kind, const struct hauli_sim_target *target)
{
	hauli_sim_fault_left[kind] = gap(what_of(kind), ++f.of[kind].gaps, f.of[kind].one_in);
	return f.of[kind].one_in && strike(kind, target);
}

bool hauli_sim_fault_due(enum hauli_sim_fault kind, const char *from, const char *to)
{
	return is_due(kind, &(struct hauli_sim_target){.from = from, .to = to});
}

uint64_t hauli_sim_fault_draw(enum hauli_sim_fault kind, uint64_t most)
{
	uint64_t x = hauli_random_next(&f.of[kind].random);

	return most < UINT64_MAX ? x % (most + 1) : x;
}

uint64_t hauli_sim_fault_draw_log(enum hauli_sim_fault kind, uint64_t most)
{
	return log_uniform(mix(hauli_random_next(&f.of[kind].random)), 1, most);
}

bool hauli_sim_fails(const char *call, int *err)
{
	unsigned n = 0, i;

	if (--hauli_sim_fault_left[HAULI_SIM_SYSCALL] > 0)
		return false;
	for (i = 0; i < NB_CALLS && strcmp(calls[i].call, call) != 0; i++)
		;
	if (i == NB_CALLS) {
		hauli_sim_fault_left[HAULI_SIM_SYSCALL] = 1; /* the next one */
		return false;
	}
	if (!is_due(HAULI_SIM_SYSCALL, &(struct hauli_sim_target){.function = calls[i].call}))
		return false;
	while (n < 4 && calls[i].errors[n])
		n++;
	*err = calls[i].errors[hauli_sim_fault_draw(HAULI_SIM_SYSCALL, n - 1)];
	return true;
}

_Bool hauli_sim_no_memory(void)
{
	return hauli_sim_strikes(HAULI_SIM_NO_STACK);
}

static uint64_t hash_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

/* NULL: there are too many. */
static struct section *section_of(const char *name)
{
	uint64_t what = hash_of(name);
	struct section *s;

	for (unsigned i = 0; i < f.nb_sections; i++)
		if (f.sections[i].name == name || strcmp(f.sections[i].name, name) == 0)
			return &f.sections[i];
	if (f.nb_sections == SECTIONS)
		return NULL;
	s = &f.sections[f.nb_sections++];
	s->name = name;
	s->one_in = often(what, &kinds[HAULI_SIM_SOMETIMES].often);
	s->left = gap(what, 0, s->one_in);
	return s;
}

HAULI_SIM_REPLACED bool haul_sometimes_(const char *name)
{
	struct section *s;

	hauli_sim_step(); /* code that marks a place may well be such a place */
	if (!f.set || !f.of[HAULI_SIM_SOMETIMES].one_in)
		return false;
	s = section_of(name);
	if (!s || --s->left > 0)
		return false;
	s->left = gap(hash_of(name), ++s->gaps, s->one_in);
	return strike(HAULI_SIM_SOMETIMES, &(struct hauli_sim_target){.function = name});
}

static int refuse(char *errbuf, size_t errlen, const char *item, size_t len, const char *why)
{
	if (errlen > 0)
		snprintf(errbuf, errlen, "faults: \"%.*s\" %s", (int)len, item, why);
	return -EINVAL;
}

static int add_range(struct hauli_sim_fault_set *set, const struct hauli_sim_range *range)
{
	struct hauli_sim_range *more = realloc(set->ranges, (set->n + 1) * sizeof(more[0]));

	if (!more)
		return -ENOMEM;
	set->ranges = more;
	set->ranges[set->n++] = *range;
	return 0;
}

/* "3" or "7-9", up to `end`. */
static bool parse_range(struct hauli_sim_range *r, const char *text, const char *end)
{
	char *after;

	if (*text < '0' || *text > '9')
		return false;
	r->from = r->to = strtoull(text, &after, 10);
	if (*after == '-' && after[1] >= '0' && after[1] <= '9')
		r->to = strtoull(after + 1, &after, 10);
	return after == end && r->from > 0 && r->from <= r->to;
}

static int parse_item(
	struct hauli_sim_fault_set *set, const char *item, size_t len, char *errbuf, size_t errlen)
{
	const char *colon = memchr(item, ':', len);
	size_t name = colon ? (size_t)(colon - item) : len;
	struct hauli_sim_range r;
	unsigned i;

	for (i = 0; i < HAULI_SIM_FAULTS; i++)
		if (strlen(kinds[i].name) == name && memcmp(kinds[i].name, item, name) == 0)
			break;
	if (i == HAULI_SIM_FAULTS)
		return refuse(errbuf, errlen, item, name, "is none: --list shows them");
	set->kinds |= 1U << i;
	if (!colon)
		return 0;
	r.kind = i;
	if (!parse_range(&r, colon + 1, item + len))
		return refuse(errbuf, errlen, item, len, "should be as loss:3 or loss:7-9");
	return add_range(set, &r);
}

int hauli_sim_faults_parse(
	struct hauli_sim_fault_set *set, const char *text, char *errbuf, size_t errlen)
{
	int rc = 0;

	*set = (struct hauli_sim_fault_set){.kinds = 0};
	if (strcmp(text, "none") == 0)
		return 0;
	if (strcmp(text, "all") == 0) {
		set->kinds = (1U << HAULI_SIM_FAULTS) - 1;
		return 0;
	}
	for (size_t len; rc == 0; text += len + 1) {
		len = strcspn(text, ",");
		rc = parse_item(set, text, len, errbuf, errlen);
		if (!text[len])
			break;
	}
	if (rc) {
		free(set->ranges);
		*set = (struct hauli_sim_fault_set){.kinds = 0};
	}
	return rc;
}
