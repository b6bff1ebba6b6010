/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/fault.h"

#define WRONG 2
#define SEEDS_A_DAY 1000000
#define JOBS_MAX 1024

enum {
	OPT_TEST = 't',
	OPT_HELP = 'h',
	OPT_SEEDS = 256,
	OPT_FROM,
	OPT_SEED,
	OPT_FOR,
	OPT_JOBS,
	OPT_KEEP_GOING,
	OPT_FAULTS,
	OPT_STEPS,
	OPT_LIMIT,
	OPT_SHORTEN,
	OPT_TWICE,
	OPT_JSON,
	OPT_TRACE,
	OPT_LIST,
};

static const struct option longs[] = {
	{"test", required_argument, NULL, OPT_TEST},
	{"help", no_argument, NULL, OPT_HELP},
	{"seeds", required_argument, NULL, OPT_SEEDS},
	{"from", required_argument, NULL, OPT_FROM},
	{"seed", required_argument, NULL, OPT_SEED},
	{"for", required_argument, NULL, OPT_FOR},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"keep-going", no_argument, NULL, OPT_KEEP_GOING},
	{"faults", required_argument, NULL, OPT_FAULTS},
	{"steps", required_argument, NULL, OPT_STEPS},
	{"limit", required_argument, NULL, OPT_LIMIT},
	{"shorten", required_argument, NULL, OPT_SHORTEN},
	{"twice", required_argument, NULL, OPT_TWICE},
	{"json", required_argument, NULL, OPT_JSON},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"list", no_argument, NULL, OPT_LIST},
	{NULL, 0, NULL, 0},
};

static const char help[] =
	"Runs tests in simulations, under many seeds, and stops at the first failure.\n"
	"\n"
	"  -t, --test NAME    run this test only; may be given several times\n"
	"      --seeds N      so many seeds for each test (1000); the environment's\n"
	"                     HAUL_SIM_SEEDS is stronger\n"
	"      --from SEED    the first of them (changes each day)\n"
	"      --for SECONDS  no further run after this time, but at least one of each test\n"
	"      --keep-going   go on after a failure, and count failures\n"
	"      --seed SEED    one run, in this process, as for a debugger\n"
	"      --faults LIST  faults that may come: all, none, or as loss,stall:3,stall:7-9 "
	"(those\n"
	"                     of the test)\n"
	"      --steps N      steps between two switches of threads, on average (the seed "
	"decides)\n"
	"      --limit SECONDS  of real time, for a run; 0: none (60)\n"
	"      --shorten SECONDS  to look for the fewest faults of a failure; 0: do not (20)\n"
	"      --twice N      make each N-th run twice and compare them; 0: none (20)\n"
	"      --jobs N       so many runs at a time (one for each CPU)\n"
	"      --json FILE    write what was found\n"
	"      --trace FILE   write the timeline of the run of --seed, for haul-trace\n"
	"      --list         show the tests and the kinds of faults\n"
	"  -h, --help         show this\n"
	"\n"
	"Exit status: 0: no run has failed; 1: one has; 2: wrong arguments; 3: two runs with the "
	"same\n"
	"seed differ; 4: no memory, no processes; 130: interrupted.\n";

static const char *name_of_option(int opt)
{
	for (unsigned i = 0; longs[i].name; i++)
		if (longs[i].val == opt)
			return longs[i].name;
	return "?";
}

/* A number up to `most`. False: said that it is none. */
static bool parse_number(const char *program, int opt, const char *text, uint64_t most, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 0);
	if (*text >= '0' && *text <= '9' && !*end && errno == 0 && *n <= most)
		return true;
	fprintf(stderr, "%s: --%s %s: give a number, 0 to %" PRIu64 "\n", program,
		name_of_option(opt), text, most);
	return false;
}

static bool parse_unsigned(
	const char *program, int opt, const char *text, unsigned most, unsigned *n)
{
	uint64_t value = 0;
	bool ok = parse_number(program, opt, text, most, &value);

	*n = (unsigned)value;
	return ok;
}

static bool add_test(
	struct hauli_sim_options *o, const struct haul_sim_test *tests, const char *name)
{
	const struct haul_sim_test *t;

	for (t = tests; t->name && strcmp(t->name, name) != 0; t++)
		;
	for (unsigned i = 0; i < o->nb_tests; i++)
		if (o->tests[i] == t)
			return true;
	if (t->name && o->nb_tests < HAULI_SIM_TESTS) {
		o->tests[o->nb_tests++] = t;
		return true;
	}
	fprintf(stderr, "%s: --test %s: there is none; --list shows them\n", o->program, name);
	return false;
}

static bool add_all(struct hauli_sim_options *o, const struct haul_sim_test *tests)
{
	bool ok = true;

	for (const struct haul_sim_test *t = tests; ok && t->name; t++)
		ok = add_test(o, tests, t->name);
	return ok;
}

static bool check_faults(const struct hauli_sim_options *o, const char *text)
{
	struct hauli_sim_fault_set set;
	char why[128] = "no memory";

	if (hauli_sim_faults_parse(&set, text, why, sizeof(why)) != 0) {
		fprintf(stderr, "%s: --%s\n", o->program, why);
		return false;
	}
	free(set.ranges);
	return true;
}

static void list(const struct haul_sim_test *tests)
{
	printf("Tests:\n");
	for (const struct haul_sim_test *t = tests; t->name; t++)
		printf("  %s\n", t->name);
	printf("Faults:\n");
	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++)
		printf("  %s\n", hauli_sim_fault_name(i));
}

/* -1: go on; else the exit status. */
static int take(struct hauli_sim_options *o, int opt, char *arg, const struct haul_sim_test *tests)
{
	bool ok = true;

	switch (opt) {
	case OPT_TEST:
		ok = add_test(o, tests, arg);
		break;
	case OPT_SEEDS:
		ok = parse_number(o->program, opt, arg, UINT64_MAX, &o->seeds);
		break;
	case OPT_SEED:
		o->one = true;
		ok = parse_number(o->program, opt, arg, UINT64_MAX, &o->from);
		break;
	case OPT_FROM:
		ok = parse_number(o->program, opt, arg, UINT64_MAX, &o->from);
		break;
	case OPT_FOR:
		ok = parse_number(o->program, opt, arg, INT_MAX, &o->for_s);
		break;
	case OPT_JOBS:
		ok = parse_unsigned(o->program, opt, arg, JOBS_MAX, &o->jobs);
		break;
	case OPT_KEEP_GOING:
		o->keep_going = true;
		break;
	case OPT_FAULTS:
		o->faults = arg;
		ok = check_faults(o, arg);
		break;
	case OPT_STEPS:
		ok = parse_unsigned(o->program, opt, arg, 1000000000, &o->steps);
		break;
	case OPT_LIMIT:
		ok = parse_unsigned(o->program, opt, arg, 1000000, &o->real_s);
		break;
	case OPT_SHORTEN:
		ok = parse_unsigned(o->program, opt, arg, 1000000, &o->shorten_s);
		break;
	case OPT_TWICE:
		ok = parse_unsigned(o->program, opt, arg, INT_MAX, &o->twice);
		break;
	case OPT_JSON:
		o->json = arg;
		break;
	case OPT_TRACE:
		o->trace = arg;
		break;
	case OPT_LIST:
		list(tests);
		return 0;
	default:
		printf("Usage: %s [OPTION...]\n%s", o->program, help);
		return 0;
	}
	return ok ? -1 : WRONG;
}

static unsigned cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void defaults(struct hauli_sim_options *o)
{
	o->seeds = 1000;
	o->from = (uint64_t)time(NULL) / 86400 * SEEDS_A_DAY;
	o->jobs = 0;
	o->real_s = 60;
	o->shorten_s = 20;
	o->twice = 20;
}

/* For a longer search by a script of tests, which gives --seeds. */
static bool take_environment(struct hauli_sim_options *o)
{
	const char *seeds = getenv("HAUL_SIM_SEEDS");

	return !seeds || parse_number("HAUL_SIM_SEEDS", OPT_SEEDS, seeds, UINT64_MAX, &o->seeds);
}

/* What getopt_long() has not understood. */
static void refuse(const struct hauli_sim_options *o, int opt, int arg, char **argv)
{
	if (opt == ':')
		fprintf(stderr, "%s: %s needs a value; --help shows the options\n", o->program,
			argv[arg]);
	else
		fprintf(stderr, "%s: %s: no such option; --help shows them\n", o->program,
			argv[arg]);
}

int hauli_sim_options_parse(
	struct hauli_sim_options *o, int argc, char **argv, const struct haul_sim_test *tests)
{
	int rc = -1, opt, arg;

	*o = (struct hauli_sim_options){.program = argc > 0 ? argv[0] : "?"};
	defaults(o);
	opterr = 0;
	optind = 1;
	while (rc == -1 &&
		(arg = optind, opt = getopt_long(argc, argv, "+:t:h", longs, NULL)) != -1) {
		if (opt != '?' && opt != ':') {
			rc = take(o, opt, optarg, tests);
		} else {
			refuse(o, opt, arg, argv);
			rc = WRONG;
		}
	}
	if (rc != -1)
		return rc;
	if (optind < argc) {
		fprintf(stderr, "%s: \"%s\": give a test as --test %s\n", o->program, argv[optind],
			argv[optind]);
		return WRONG;
	}
	if (!take_environment(o) || (o->nb_tests == 0 && !add_all(o, tests)))
		return WRONG;
	if (o->nb_tests == 0 || (o->one && o->nb_tests > 1)) {
		fprintf(stderr, "%s: %s\n", o->program,
			o->nb_tests ? "--seed runs one test: name it by --test"
				    : "the program has no tests");
		return WRONG;
	}
	if (o->trace && !o->one) {
		fprintf(stderr, "%s: --trace %s: it is the timeline of one run: give its --seed\n",
			o->program, o->trace);
		return WRONG;
	}
	o->jobs = o->jobs ? o->jobs : cpus();
	return -1;
}
