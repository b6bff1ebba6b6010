/* SPDX-License-Identifier: BSD-3-Clause */
/* Many runs of tests in simulations: seeds in order, all tests with one seed, then the next. */
#include <haul-sim/main.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "coro/fiber.h"
#include "sim/options.h"
#include "sim/real.h"
#include "sim/report.h"
#include "sim/runs.h"
#include "sim/timelines.h"
#include "sim/twice.h"

#define LINES 80 /* of a run's output, at most */
#define FAILED 1
#define DIFFER 3
#define BROKEN 4
#define INTERRUPTED 130

#if HAULI_ASAN
/* It does not look for leaks: a run may end wherever its threads are, whose stacks it does not
 * know. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}
#endif

struct search {
	const struct hauli_sim_options *o;
	struct hauli_sim_runs runs;
	struct hauli_sim_totals totals;
	uint64_t next, all; /* runs: seeds times tests */
	struct hauli_sim_trail *trails; /* by slot: of its last run, which is to be made again */
	bool *again; /* by slot: its run is a second one */
	/* The failure with the lowest number so far, which is looked at when all runs before it
	 * have ended: so it is the same one, however many run at a time. */
	struct hauli_sim_outcome *failure;
	struct hauli_sim_spec failed;
	uint64_t failed_run;
	bool stops;
	int status;
};

static int broken(struct search *s, int rc)
{
	if (!hauli_sim_interrupted())
		fprintf(stderr, "%s: %s\n", s->o->program, strerror(-rc));
	s->stops = true;
	s->status = BROKEN;
	return rc;
}

static struct hauli_sim_spec spec_of(const struct search *s, uint64_t run)
{
	const struct hauli_sim_options *o = s->o;

	return (struct hauli_sim_spec){
		.test = o->tests[run % o->nb_tests],
		.seed = o->from + run / o->nb_tests,
		.steps = o->steps,
		.faults = o->faults,
		.real_s = o->real_s,
	};
}

static bool may_begin(const struct search *s)
{
	uint64_t ns = hauli_sim_real_ns() - s->totals.began;

	if (s->stops || s->failure || s->next == s->all)
		return false;
	return s->o->for_s == 0 || ns < s->o->for_s * HAUL_S || s->next < s->o->nb_tests;
}

static void begin_more(struct search *s)
{
	struct hauli_sim_slot *slot;

	while (may_begin(s) && (slot = hauli_sim_runs_free(&s->runs))) {
		struct hauli_sim_spec spec = spec_of(s, s->next);
		int rc;

		slot->tag = s->next++;
		s->again[slot - s->runs.slots] = false;
		rc = hauli_sim_runs_begin(&s->runs, slot, &spec, NULL);
		if (rc)
			broken(s, rc);
	}
}

static void print_replay(
	const struct search *s, const struct hauli_sim_spec *spec, const char *faults, bool twice)
{
	fputs("Again: ", stderr);
	hauli_sim_report_replay(stderr, s->o, spec, faults, twice);
	fputs("\n", stderr);
}

/* The first failure: the fewest faults, and what that run has printed. */
static void explain(
	struct search *s, const struct hauli_sim_spec *spec, const struct hauli_sim_outcome *out)
{
	struct hauli_sim_short least = {NULL};
	int rc;

	hauli_sim_runs_kill(&s->runs);
	if (s->o->shorten_s == 0) {
		print_replay(s, spec, spec->faults, false);
		hauli_sim_json_failure(spec, out, NULL);
		return;
	}
	rc = hauli_sim_shorten(&s->runs, spec, out, s->o->shorten_s, &least);
	if (rc && rc != -EINTR) {
		broken(s, rc);
	} else {
		hauli_sim_report_short(s->o, spec, &least);
		hauli_sim_slot_print(&s->runs.slots[0], LINES);
	}
	print_replay(s, spec, least.again ? least.faults : spec->faults, false);
	hauli_sim_json_failure(spec, out, &least);
	free(least.faults);
}

static void fail(struct search *s, struct hauli_sim_slot *slot)
{
	s->totals.failed++;
	if (s->status == 0)
		s->status = FAILED;
	if (s->o->keep_going) {
		hauli_sim_report_progress(s->o, &s->totals, s->all, true);
		hauli_sim_report_failure(s->o, &slot->spec, slot->out);
		print_replay(s, &slot->spec, slot->spec.faults, false);
		hauli_sim_json_failure(&slot->spec, slot->out, NULL);
		return;
	}
	if (s->failure && s->failed_run < slot->tag)
		return;
	s->failure = s->failure ? s->failure : malloc(sizeof(*s->failure));
	if (!s->failure) {
		broken(s, -ENOMEM);
		return;
	}
	*s->failure = *slot->out;
	s->failed = slot->spec;
	s->failed_run = slot->tag;
}

/* Once no run before the failure is under way. */
static void end_at_failure(struct search *s)
{
	for (unsigned i = 0; i < s->runs.n; i++)
		if (s->runs.slots[i].pid && s->runs.slots[i].tag < s->failed_run)
			return;
	hauli_sim_report_progress(s->o, &s->totals, s->all, true);
	hauli_sim_report_failure(s->o, &s->failed, s->failure);
	explain(s, &s->failed, s->failure);
	s->stops = true;
}

static void tell_difference(struct search *s, struct hauli_sim_slot *slot)
{
	const struct hauli_sim_spec spec = slot->spec;
	struct hauli_sim_outcome *out = malloc(sizeof(*out));
	char text[256];

	s->totals.differ++;
	s->status = DIFFER;
	hauli_sim_report_progress(s->o, &s->totals, s->all, true);
	if (!out) {
		broken(s, -ENOMEM);
		return;
	}
	*out = *slot->out;
	snprintf(text, sizeof(text), "not looked for");
	if (!s->o->keep_going) {
		hauli_sim_runs_kill(&s->runs);
		hauli_sim_find_difference(
			&s->runs, &spec, &s->trails[slot - s->runs.slots], out, text, sizeof(text));
		s->stops = true;
	}
	fprintf(stderr, "%s: seed %" PRIu64 ": two runs differ: %s\n", spec.test->name, spec.seed,
		text);
	print_replay(s, &spec, spec.faults, true);
	hauli_sim_json_difference(&spec, text);
	free(out);
}

/* True: the slot's run is made a second time. */
static bool make_again(struct search *s, struct hauli_sim_slot *slot)
{
	size_t i = (size_t)(slot - s->runs.slots);
	struct hauli_sim_spec spec = slot->spec;
	int rc;

	/* Not the first, but soon one: those who run few seeds look at one, too. */
	if (s->o->twice == 0 || slot->tag % s->o->twice != s->o->twice / 2)
		return false;
	hauli_sim_trail_of(&s->trails[i], slot->out);
	s->again[i] = true;
	s->totals.twice++;
	spec.anew = s->o->program;
	rc = hauli_sim_runs_begin(&s->runs, slot, &spec, NULL);
	if (rc)
		broken(s, rc);
	return rc == 0;
}

static void end_run(struct search *s, struct hauli_sim_slot *slot)
{
	size_t i = (size_t)(slot - s->runs.slots);

	if (s->again[i]) {
		s->again[i] = false;
		if (!hauli_sim_trail_is(&s->trails[i], slot->out))
			tell_difference(s, slot);
		return;
	}
	s->totals.runs++;
	if (slot->out->how == HAULI_SIM_REFUSED)
		broken(s, -ENOMEM);
	else if (!hauli_sim_is_good(slot->out))
		fail(s, slot);
	else
		make_again(s, slot);
}

static void search(struct search *s)
{
	struct hauli_sim_slot *slot;

	s->totals.began = hauli_sim_real_ns();
	begin_more(s);
	while (s->runs.busy > 0 && !hauli_sim_interrupted() && !s->stops) {
		slot = hauli_sim_runs_wait(&s->runs, 100);
		if (slot)
			end_run(s, slot);
		hauli_sim_report_progress(s->o, &s->totals, s->all, false);
		if (s->failure && !s->stops)
			end_at_failure(s);
		begin_more(s);
	}
	hauli_sim_report_progress(s->o, &s->totals, s->all, true);
	hauli_sim_runs_kill(&s->runs);
	hauli_sim_report_totals(s->o, &s->totals);
}

static int search_all(const struct hauli_sim_options *o)
{
	struct search s = {.o = o};
	int rc = hauli_sim_runs_init(&s.runs, o->jobs);

	s.all = o->seeds < UINT64_MAX / o->nb_tests ? o->seeds * o->nb_tests : UINT64_MAX;
	s.trails = rc ? NULL : calloc(o->jobs, sizeof(s.trails[0]));
	s.again = rc ? NULL : calloc(o->jobs, sizeof(s.again[0]));
	if (rc || !s.trails || !s.again)
		broken(&s, rc ? rc : -ENOMEM);
	else
		search(&s);
	free(s.trails);
	free(s.again);
	free(s.failure);
	if (rc == 0)
		hauli_sim_runs_fini(&s.runs);
	rc = hauli_sim_json_end(&s.totals);
	if (rc) {
		fprintf(stderr, "%s: %s: %s\n", o->program, o->json, strerror(-rc));
		return BROKEN;
	}
	return hauli_sim_interrupted() ? INTERRUPTED : s.status;
}

static int run_one(const struct hauli_sim_options *o)
{
	const struct hauli_sim_spec spec = {
		.test = o->tests[0],
		.seed = o->from,
		.steps = o->steps,
		.faults = o->faults,
		.real_s = o->real_s,
		.trace = o->trace,
	};
	struct hauli_sim_outcome *out = hauli_sim_runs_adopt();
	int status = o->trace ? hauli_sim_timelines_begin(o->trace) : 0;

	if (status) {
		fprintf(stderr, "%s: --trace %s: %s\n", o->program, o->trace, strerror(-status));
		return 2;
	}

	if (out) {
		hauli_sim_run_here(&spec, out, true);
		fflush(NULL);
		_exit(0);
	}
	out = calloc(1, sizeof(*out));
	if (!out)
		return BROKEN;
	hauli_sim_run_here(&spec, out, false);
	fflush(stdout);
	hauli_sim_report_one(&spec, out);
	status = hauli_sim_is_good(out) ? 0 : FAILED;
	free(out);
	return status;
}

int haul_sim_main(int argc, char **argv, const struct haul_sim_test *tests)
{
	struct hauli_sim_options o;
	int rc;

	HAUL_MISUSE_IF(!tests, "the tests are NULL");
	rc = hauli_sim_options_parse(&o, argc, argv, tests);
	if (rc != -1)
		return rc;
	hauli_clock_init();
	if (&hauli_sim_hooks && hauli_sim_hooks.before)
		hauli_sim_hooks.before();
	if (o.one)
		return run_one(&o);
	rc = hauli_sim_json_begin(&o);
	if (rc) {
		fprintf(stderr, "%s: --json %s: %s\n", o.program, o.json, strerror(-rc));
		return 2;
	}
	return search_all(&o);
}
