/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/harness.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine.h"
#include "harness/report.h"
#include "harness/side.h"

#define RUNS_DEFAULT 9
#define RUNS_MIN 5
/* Long compared with a clock read, and shorter than the kernel's time slice on a shared CPU: even
 * on a busy machine some runs are uninterrupted. */
#define RUN_MS 2
#define WARM_UPS 2

struct options {
	unsigned runs;
	unsigned run_ms;
	const char *filter;
	FILE *table;
	FILE *json; /* NULL: none */
	bool list;
	int cpu;
};

static bool has_sibling;

static void usage(const char *program)
{
	printf("usage: %s [--runs N] [--ms N] [--filter PATTERN] [--json FILE|-] [--list] [--cpu "
	       "N]\n"
	       "       %s [--sibling] --once CASE SIDE N\n"
	       "  --runs N         measured runs of each side, %d or more (%d)\n"
	       "  --ms N           how long a run should take, in milliseconds (%d)\n"
	       "  --filter PATTERN only cases whose name matches (* and ? as in a shell)\n"
	       "  --json FILE      append a line per case to FILE; -: to stdout, the table to "
	       "stderr\n"
	       "  --list           show the cases; with --json - as JSON, with commands\n"
	       "  --cpu N          pin to that CPU (the last usable one)\n"
	       "  --sibling        stealing is on, and one more carrier is busy all the time\n"
	       "  --once ...       set up, warm up, do N operations once: for callgrind\n",
		program, program, RUNS_MIN, RUNS_DEFAULT, RUN_MS);
}

static unsigned count_sides(const struct perf_case *c)
{
	unsigned n = 0;

	while (n < PERF_SIDES_MAX && c->sides[n].name)
		n++;
	return n;
}

static uint64_t unit_of(const struct perf_case *c)
{
	return c->unit ? c->unit : 1;
}

static void list_json(FILE *out, const struct perf_case *c)
{
	fprintf(out,
		"{\"case\":\"%s\",\"question\":\"%s\",\"unit\":%" PRIu64
		",\"isolated\":%s,\"cpus\":%u,\"sides\":[",
		c->name, c->question, unit_of(c), c->isolated ? "true" : "false",
		c->cpus ? c->cpus : 1);
	for (unsigned i = 0; i < count_sides(c); i++)
		fprintf(out, "%s{\"side\":\"%s\",\"program\":\"%s\"}", i ? "," : "",
			c->sides[i].name, perf_side_program(c, &c->sides[i]));
	fprintf(out, "]}\n");
}

static void list(const struct options *o, const struct perf_case *c)
{
	if (o->json) {
		list_json(o->json, c);
		return;
	}
	printf("%-20s %s (", c->name, c->question);
	for (unsigned i = 0; i < count_sides(c); i++)
		printf("%s%s", i ? ", " : "", c->sides[i].name);
	printf(")\n");
}

/* The shorter of two runs, in nanoseconds; the longer one may have been interrupted. -1 if the side
 * fails. */
static int64_t shorter_of_two(const struct perf_case *c, const struct perf_side *s, uint64_t n)
{
	int64_t shorter = INT64_MAX;

	for (int i = 0; i < 2; i++) {
		struct perf_once once = {0};

		if (perf_side_run(c, s, n, &once) < 0)
			return -1;
		if ((int64_t)once.ns < shorter)
			shorter = (int64_t)once.ns;
	}
	return shorter;
}

/* The number of operations that fill the time of a run; 0 if the side fails. */
static uint64_t calibrate(
	const struct options *o, const struct perf_case *c, const struct perf_side *s)
{
	uint64_t unit = unit_of(c), target = o->run_ms * UINT64_C(1000000);
	uint64_t limit = c->max ? c->max : UINT64_C(1) << 40;
	uint64_t n = perf_side_is_outside(c, s) ? 1024 : 1;

	for (;;) {
		uint64_t grow;
		int64_t ns;

		n = (n + unit - 1) / unit * unit;
		if (n >= limit)
			return limit;
		ns = shorter_of_two(c, s, n);
		if (ns < 0)
			return 0;
		if ((uint64_t)ns >= target)
			return n;
		/* In small factors: the first runs are slow ones. */
		grow = ns ? target / (uint64_t)ns + 1 : 10;
		n *= grow < 10 ? grow : 10;
	}
}

/* Sets up the sides that can run here; returns their number. */
static unsigned set_up(const struct perf_case *c, struct perf_series *series)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count_sides(c); i++) {
		const struct perf_side *s = &c->sides[i];
		int err = 0;

		if (!perf_side_is_outside(c, s))
			err = perf_side_set_up(s, c->param);
		else if (access(perf_side_program(c, s), X_OK) < 0)
			err = -errno;
		if (err) {
			fprintf(stderr, "%s: left out: %s: %s\n", c->name, s->name,
				err == -ENOENT ? "not built (its compiler or library was missing)"
					       : strerror(-err));
			if (i == 0)
				return 0; /* the others need it for comparison */
			continue;
		}
		series[n++].side = s;
	}
	return n;
}

static void progress(const char *name, unsigned run, unsigned runs)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (run < runs)
		fprintf(stderr, "\r%s: run %u of %u   ", name, run + 1, runs);
	else
		fprintf(stderr, "\r%*s\r", (int)strlen(name) + 24, "");
}

/* One run of each side; the first side changes from round to round. -1 if a side fails. */
static int run_round(
	const struct perf_case *c, struct perf_series *series, unsigned sides, unsigned round)
{
	for (unsigned i = 0; i < sides; i++) {
		struct perf_series *s = &series[round % 2 ? sides - 1 - i : i];

		memset(&s->last, 0, sizeof(s->last));
		if (perf_side_run(c, s->side, s->n, &s->last) < 0)
			return -1;
		s->ns[round] = (double)s->last.ns / (double)s->last.n;
	}
	return 0;
}

static int measure(const struct options *o, const struct perf_case *c, struct perf_series *series,
	unsigned sides)
{
	for (unsigned i = 0; i < sides; i++) {
		series[i].n = calibrate(o, c, series[i].side);
		if (series[i].n == 0)
			return -1;
	}
	for (unsigned i = 0; !c->isolated && i < WARM_UPS; i++)
		if (run_round(c, series, sides, i) < 0)
			return -1;
	for (unsigned i = 0; i < o->runs; i++) {
		progress(c->name, i, o->runs);
		if (run_round(c, series, sides, i) < 0)
			return -1;
	}
	progress(c->name, o->runs, o->runs);
	perf_report_table(o->table, c, series, sides, o->runs);
	if (o->json)
		perf_report_json(o->json, c, series, sides, o->runs);
	return 0;
}

static int run_case(const struct options *o, const struct perf_case *c)
{
	static struct perf_series series[PERF_SIDES_MAX];
	unsigned sides;
	int err = -1;

	if (!perf_pin(c->cpus ? c->cpus : 1)) {
		fprintf(stderr, "%s: left out: needs %u CPUs\n", c->name, c->cpus);
		return 0;
	}
	sides = set_up(c, series);
	if (sides > 0)
		err = measure(o, c, series, sides);
	for (unsigned i = 0; i < sides; i++)
		if (!perf_side_is_outside(c, series[i].side) && series[i].side->teardown)
			series[i].side->teardown();
	return err;
}

static int run_once(const struct perf_case *cases, char **args)
{
	for (const struct perf_case *c = cases; c->name; c++) {
		for (unsigned i = 0; strcmp(c->name, args[0]) == 0 && i < count_sides(c); i++) {
			if (strcmp(c->sides[i].name, args[1]) != 0)
				continue;
			if (!perf_pin(c->cpus ? c->cpus : 1))
				return 1;
			return perf_side_once(c, &c->sides[i], strtoull(args[2], NULL, 10));
		}
	}
	fprintf(stderr, "--once %s %s: no such case or side: see --list\n", args[0], args[1]);
	return 2;
}

/* A number from min to max, or -1 with a line on stderr. */
static int number(const char *option, const char *text, int min, int max)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*text == '\0' || *end != '\0' || n < min || n > max) {
		fprintf(stderr, "--%s %s: not a number from %d to %d\n", option, text, min, max);
		return -1;
	}
	return (int)n;
}

static int open_json(struct options *o, const char *name)
{
	if (strcmp(name, "-") == 0) {
		o->json = stdout;
		o->table = stderr;
		return 0;
	}
	o->json = fopen(name, "ae");
	if (!o->json)
		fprintf(stderr, "--json %s: %s\n", name, strerror(errno));
	return o->json ? 0 : -1;
}

/* 0: run; 1: --once, with its arguments from optind on; -1: wrong arguments; -2: done. */
static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"runs", required_argument, NULL, 'r'},
		{"ms", required_argument, NULL, 'm'},
		{"filter", required_argument, NULL, 'f'},
		{"json", required_argument, NULL, 'j'},
		{"list", no_argument, NULL, 'l'},
		{"cpu", required_argument, NULL, 'c'},
		{"once", no_argument, NULL, 'o'},
		{"sibling", no_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int opt, n = 0;
	bool once = false;

	while (!once && n >= 0 && (opt = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
		switch (opt) {
		case 'r':
			n = number("runs", optarg, RUNS_MIN, PERF_RUNS_MAX);
			o->runs = (unsigned)n;
			break;
		case 'm':
			n = number("ms", optarg, 1, 10000);
			o->run_ms = (unsigned)n;
			break;
		case 'f':
			o->filter = optarg;
			break;
		case 'j':
			n = open_json(o, optarg);
			break;
		case 'l':
			o->list = true;
			break;
		case 'c':
			n = number("cpu", optarg, 0, 4095);
			o->cpu = n;
			break;
		case 'o':
			once = true;
			break;
		case 's':
			has_sibling = true;
			break;
		case 'h':
			usage(argv[0]);
			return -2;
		default:
			return -1;
		}
	}
	if (n < 0 || argc - optind != (once ? 3 : 0)) {
		if (n >= 0)
			fprintf(stderr, "%s: wrong arguments: see --help\n", argv[0]);
		return -1;
	}
	return once;
}

bool perf_has_sibling(void)
{
	return has_sibling;
}

void perf_must(int err, const char *what)
{
	if (err == 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	exit(1);
}

int perf_main(int argc, char **argv, const struct perf_case *cases)
{
	struct options o = {
		.runs = RUNS_DEFAULT, .run_ms = RUN_MS, .table = stdout, .cpu = -1, .filter = "*"};
	int parsed = parse(&o, argc, argv), failed = 0;
	const char *refusal;
	unsigned matched = 0;

	if (parsed < 0)
		return parsed == -2 ? 0 : 2;
	/* perf/instructions lists the cases, and runs one of them under callgrind. */
	refusal = perf_build_refusal(!parsed && !o.list);
	if (refusal) {
		fprintf(stderr, "%s: refused: %s\n", argv[0], refusal);
		return 1;
	}
	if (perf_machine_init(o.cpu) < 0)
		return 2;
	if (parsed == 1)
		return run_once(cases, argv + optind);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!o.list)
		perf_machine_print(o.table);
	for (const struct perf_case *c = cases; c->name; c++) {
		if (fnmatch(o.filter, c->name, 0) != 0)
			continue;
		matched++;
		if (o.list)
			list(&o, c);
		else if (run_case(&o, c) < 0)
			failed = 1;
	}
	if (matched == 0) {
		fprintf(stderr, "--filter %s: no such case: see --list\n", o.filter);
		return 2;
	}
	return failed;
}
