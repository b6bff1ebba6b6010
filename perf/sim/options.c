/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum kind { NUMBER, REAL, SWITCH };

static const struct option {
	const char *name;
	enum kind kind;
	size_t at;
	const char *is; /* default */
	const char *words; /* names of the values 0, 1, ...; NULL: a number */
	double least, most;
	const char *what;
} options[] = {
#define OPTION(name, kind, field, ...)                                    \
	{                                                                 \
		name, kind, offsetof(struct sim_opts, field), __VA_ARGS__ \
	}
	OPTION("carriers", NUMBER, carriers, "64", NULL, 2, 256, "how many"),
	OPTION("clusters", NUMBER, clusters, "8", NULL, 1, 16, "they are in so many, evenly"),
	OPTION("idle", NUMBER, idle, "park", "park spin", 0, 0, "what they do without work"),
	OPTION("steal", NUMBER, steal, "cluster", "off cluster global", 0, 0, "from whom"),
	OPTION("searchers", NUMBER, searchers, "1", NULL, 1, 32, "of a group at a time"),
	OPTION("most", NUMBER, most, NULL, NULL, 1, 128, "tasks in one theft, of at most half"),
	OPTION("depth", NUMBER, depth, NULL, NULL, 1, 256, "so many must wait, but behind a hog"),
	OPTION("min-work", NUMBER, min_work, NULL, NULL, 0, 1e9, "ns of work that must wait"),
	OPTION("least", NUMBER, least, NULL, NULL, 0, 1e9, "ns of a slice that is worth moving"),
	OPTION("barrier-work", NUMBER, barrier_work, NULL, NULL, 0, 1e9,
		"the same, of a theft with a barrier"),
	OPTION("barrier-gap", NUMBER, barrier_gap, NULL, NULL, 0, 1e12,
		"ns from one theft with a barrier to the next such"),
	OPTION("min-gap", NUMBER, min_gap, NULL, NULL, 0, 1e12,
		"ns from one theft of a group to the next"),
	OPTION("hog", NUMBER, hog, NULL, NULL, 0, 1e12, "ns of a batch that count as a hog"),
	OPTION("nap", NUMBER, nap, NULL, NULL, 1, 1e9, "ns of a searcher's first nap"),
	OPTION("naps", NUMBER, naps, NULL, NULL, 0, 20, "that end a search, each twice as long"),
	OPTION("pull-every", NUMBER, pull_every, NULL, NULL, 1, 1e6, "empty polls of who spins"),
	OPTION("arrive", NUMBER, arrive, "poll", "poll mail source", 0, 0,
		"by pollers, by other threads, or started in a closed loop"),
	OPTION("load", REAL, load, "0.7", NULL, 0.001, 10, "share of all carriers' time"),
	OPTION("service", NUMBER, service, "exp", "const exp bimodal", 0, 0, "length of a slice"),
	OPTION("mean", NUMBER, mean, "10000", NULL, 1, 1e9, "ns of it; bimodal: the short ones"),
	OPTION("long", NUMBER, long_ns, "500000", NULL, 1, 1e9, "bimodal: ns of the long ones"),
	OPTION("long-share", REAL, long_share, "0.01", NULL, 0, 1, "bimodal: how many are long"),
	OPTION("longest", NUMBER, longest_ns, "100000000", NULL, 1, 1e9,
		"bimodal: ns of a third kind"),
	OPTION("longest-share", REAL, longest_share, "0", NULL, 0, 1, "bimodal: how many are such"),
	OPTION("slices", NUMBER, slices, "1", NULL, 1, 1000, "of a task, with yields in between"),
	OPTION("burst", NUMBER, burst, "1", NULL, 1, 1000, "tasks that come at once"),
	OPTION("hot", NUMBER, hot, "0", NULL, 0, 256, "so many carriers are hot; 0: even"),
	OPTION("hot-share", REAL, hot_share, "0.5", NULL, 0, 1, "of all tasks that come to them"),
	OPTION("zipf", REAL, zipf, "0", NULL, 0, 10, "instead: the n-th gets n^-this"),
	OPTION("packed", SWITCH, packed, NULL, NULL, 0, 0,
		"the hottest are in one cluster, else spread over all"),
	OPTION("us", NUMBER, us, "100000", NULL, 1, 1e9, "how long tasks come"),
	OPTION("tasks", NUMBER, tasks, "100000", NULL, 1, 1e9, "that sources start"),
	OPTION("seed", NUMBER, seed, "1", NULL, 0, 1e18, "of all that is drawn"),
	OPTION("slice-cost", NUMBER, slice_cost, "50", NULL, 0, 1e9, "ns: a switch"),
	OPTION("spawn-cost", NUMBER, spawn_cost, "150", NULL, 0, 1e9, "ns: start a task"),
	OPTION("send-cost", NUMBER, send_cost, "100", NULL, 0, 1e9, "ns: a message to a carrier"),
	OPTION("receive-cost", NUMBER, receive_cost, "50", NULL, 0, 1e9, "ns: handle one"),
	OPTION("poll-cost", NUMBER, poll_cost, "60", NULL, 1, 1e9, "ns: an empty poll"),
	OPTION("look-cost", NUMBER, look_cost, "60", NULL, 0, 1e9, "ns: look at a carrier"),
	OPTION("far-look-cost", NUMBER, far_look_cost, "200", NULL, 0, 1e9,
		"ns: the same, of another cluster"),
	OPTION("wake-call", NUMBER, wake_call, "2500", NULL, 0, 1e9, "ns: of who wakes"),
	OPTION("wake", NUMBER, wake, "6000", NULL, 1, 1e9, "ns: until who slept runs"),
	OPTION("barrier", NUMBER, barrier, "2500", NULL, 0, 1e9, "ns: a theft, for the thief"),
	OPTION("interrupt", NUMBER, interrupt, "1500", NULL, 0, 1e9,
		"ns: a theft, for who is interrupted"),
	OPTION("parallel", SWITCH, parallel, NULL, NULL, 0, 0,
		"barriers do not wait for each other (Linux before 6.8)"),
	OPTION("whom", NUMBER, whom, "ring", "all victim ring group ask", 0, 0,
		"a theft interrupts all carriers that run; the one; all, and then fences the ring"
		" or the group; or asks, and interrupts all for hogs only"),
	OPTION("theft", NUMBER, theft, "400", NULL, 0, 1e9, "ns: a theft without barrier"),
	OPTION("fence", NUMBER, fence, "8", NULL, 0, 1e9, "ns: a pop from a fenced ring, more"),
	OPTION("lease", NUMBER, lease, NULL, NULL, 1, 1e12,
		"pops for which a ring stays fenced after a theft; or ns, of a group"),
	OPTION("answer", NUMBER, answer, "200", NULL, 0, 1e9, "ns: of a victim that is asked"),
	OPTION("patience", NUMBER, patience, "20000", NULL, 0, 1e9, "ns: of a thief that asks"),
	OPTION("sleep-gap", NUMBER, sleep_gap, "0", NULL, 0, 1e12,
		"ns between the barriers of a carrier that sleeps; 0: no barriers"),
	OPTION("refill", NUMBER, refill, "1000", NULL, 0, 1e9, "ns: a stolen slice's cold caches"),
	OPTION("far-refill", NUMBER, far_refill, "3000", NULL, 0, 1e9,
		"ns: the same, from another cluster"),
	OPTION("yield", NUMBER, yield, "0", NULL, 0, 1e9,
		"ns after which a slice is cut; 0: never"),
	OPTION("fifo", SWITCH, fifo, NULL, NULL, 0, 0,
		"what was cut goes behind all others, not to a queue of its own"),
	OPTION("rescue", NUMBER, rescue, "0", NULL, 0, 1e9,
		"ns after which a slice is left behind; 0: never"),
	OPTION("rescue-takes", NUMBER, rescue_takes, "30000", NULL, 0, 1e9,
		"ns: until it is, more"),
	OPTION("rescuers", NUMBER, rescuers, "0", NULL, 0, SIM_RESCUERS_MAX,
		"threads for that, with CPUs to spare"),
	OPTION("json", SWITCH, json, NULL, NULL, 0, 0, "print one line of JSON"),
};

#define NB_OPTIONS (sizeof(options) / sizeof(options[0]))

static void help(void)
{
	printf("sim: stealing in virtual time, decided by the library's own code\n\n"
	       "usage: sim [--OPTION VALUE] ...\n\n");
	for (unsigned i = 0; i < NB_OPTIONS; i++) {
		const struct option *p = &options[i];

		printf("  --%-14s %s", p->name, p->what);
		if (p->words)
			printf(" (%s)", p->words);
		if (p->is)
			printf(" [%s]", p->is);
		printf("\n");
	}
	printf("\nWhat has no default here has the library's. The same options give the same "
	       "output. Exit code: 0, 1 when tasks are lost, "
	       "2 for a wrong option.\n");
}

/* The index of a word among those of the option, or -1. */
static int find(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (int i = 0; *words; i++) {
		size_t len = strcspn(words, " ");

		if (len == n && memcmp(words, word, n) == 0)
			return i;
		words += len + (words[len] == ' ');
	}
	return -1;
}

static int refuse(const struct option *p, const char *value)
{
	if (p->words)
		fprintf(stderr, "sim: --%s '%s': give one of: %s\n", p->name, value, p->words);
	else
		fprintf(stderr, "sim: --%s '%s': give a number from %g to %g\n", p->name, value,
			p->least, p->most);
	return -1;
}

static int set(struct sim_opts *o, const struct option *p, const char *value)
{
	void *field = (char *)o + p->at;
	char *end;
	double x;

	if (p->words) {
		int n = find(p->words, value);

		if (n < 0)
			return refuse(p, value);
		*(uint64_t *)field = (uint64_t)n;
		return 0;
	}
	x = strtod(value, &end);
	if (end == value || *end || !(x >= p->least && x <= p->most))
		return refuse(p, value);
	if (p->kind == REAL) {
		*(double *)field = x;
		return 0;
	}
	*(uint64_t *)field = strtoull(value, &end, 10);
	return *end ? refuse(p, value) : 0;
}

static const struct option *find_option(const char *arg)
{
	if (strncmp(arg, "--", 2) == 0)
		for (unsigned i = 0; i < NB_OPTIONS; i++)
			if (strcmp(arg + 2, options[i].name) == 0)
				return &options[i];
	return NULL;
}

static int check(const struct sim_opts *o)
{
	if (o->carriers % o->clusters != 0) {
		fprintf(stderr,
			"sim: %" PRIu64 " carriers in %" PRIu64
			" clusters: give a multiple of the clusters\n",
			o->carriers, o->clusters);
		return -1;
	}
	if (o->hot >= o->carriers) {
		fprintf(stderr, "sim: --hot %" PRIu64 ": give fewer than there are carriers\n",
			o->hot);
		return -1;
	}
	return 0;
}

static void set_if_not(uint64_t *option, uint64_t value)
{
	if (*option == SIM_NEVER)
		*option = value;
}

/* The library's default for a parameter. */
static void set_defaults(struct sim_opts *o)
{
	struct hauli_policy_params r = hauli_policy_defaults(
		(unsigned)o->carriers, o->steal == HAUL_STEAL_GLOBAL ? 1 : (unsigned)o->clusters);

	set_if_not(&o->most, r.most);
	set_if_not(&o->depth, r.depth);
	set_if_not(&o->min_work, r.min_work);
	set_if_not(&o->least, r.least);
	set_if_not(&o->barrier_work, r.barrier_work);
	set_if_not(&o->min_gap, r.min_gap);
	set_if_not(&o->lease, r.lease);
	set_if_not(&o->barrier_gap, r.barrier_gap);
	set_if_not(&o->hog, r.hog);
	set_if_not(&o->nap, r.nap);
	set_if_not(&o->naps, r.naps);
	set_if_not(&o->pull_every, r.pull_every);
}

int sim_options(struct sim_opts *o, int argc, char **argv)
{
	uint64_t *const params[] = {&o->least, &o->most, &o->depth, &o->min_work, &o->min_gap,
		&o->barrier_work, &o->barrier_gap, &o->lease, &o->hog, &o->nap, &o->naps,
		&o->pull_every};

	for (unsigned i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		*params[i] = SIM_NEVER;
	for (unsigned i = 0; i < NB_OPTIONS; i++)
		if (options[i].is)
			set(o, &options[i], options[i].is);
	for (int i = 1; i < argc; i++) {
		const struct option *p = find_option(argv[i]);

		if (strcmp(argv[i], "--help") == 0) {
			help();
			return 1;
		}
		if (!p) {
			fprintf(stderr, "sim: '%s' is no option; --help lists them\n", argv[i]);
			return -1;
		}
		if (p->kind == SWITCH) {
			*(bool *)((char *)o + p->at) = true;
			continue;
		}
		if (++i == argc) {
			fprintf(stderr, "sim: --%s: give a value\n", p->name);
			return -1;
		}
		if (set(o, p, argv[i]) != 0)
			return -1;
	}
	if (check(o) != 0)
		return -1;
	set_defaults(o);
	return 0;
}

void sim_options_json(FILE *out, const struct sim_opts *o)
{
	for (unsigned i = 0; i < NB_OPTIONS; i++) {
		const struct option *p = &options[i];
		const void *field = (const char *)o + p->at;

		if (p->at == offsetof(struct sim_opts, json))
			continue;
		fprintf(out, "\"%s\":", p->name);
		if (p->kind == SWITCH)
			fprintf(out, "%s,", *(const bool *)field ? "true" : "false");
		else if (p->kind == REAL)
			fprintf(out, "%g,", *(const double *)field);
		else
			fprintf(out, "%" PRIu64 ",", *(const uint64_t *)field);
	}
}
