/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sim/real.h"
#include "sim/timelines.h"
#include "sim/world.h"

#define HOUR (3600 * HAUL_S)
/* Not SIGALRM, which a program may take for itself: libcheck then ends the whole process group. */
#define LIMIT_SIGNAL (SIGRTMAX - 4)

static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

static struct {
	struct hauli_sim_outcome *out; /* NULL: no run */
	const struct hauli_sim_spec *spec;
	uint64_t began;
} r;

static double since(uint64_t ns)
{
	return (double)(hauli_sim_real_ns() - ns) / 1e9;
}

/* What is known of a run that does not get to its end. */
static void note_state(enum hauli_sim_how how, int number)
{
	struct hauli_sim_outcome *out = r.out;

	out->how = how;
	out->number = number;
	hauli_sim_result(&out->result);
	out->real_s = since(r.began);
	hauli_sim_self_name(out->text, sizeof(out->text));
}

/* Also where a run does not get to its end. No system call fails any more, or is told about. */
static void end_timelines(void)
{
	int err;

	if (!r.out || !r.spec->trace)
		return;
	hauli_sim_faults_end();
	err = hauli_sim_timelines_write();
	if (err)
		dprintf(STDERR_FILENO, "--trace %s: %s\n", r.spec->trace, strerror(-err));
	else
		dprintf(STDERR_FILENO, "Timeline: haul-trace --in %s --out %s.pftrace\n",
			r.spec->trace, r.spec->trace);
}

static void on_fatal(int sig)
{
	if (r.out && r.out->how == HAULI_SIM_UNKNOWN)
		note_state(HAULI_SIM_SIGNAL, sig);
	end_timelines();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_limit(int sig)
{
	if (r.out->how != HAULI_SIM_UNKNOWN)
		return;
	note_state(HAULI_SIM_SLOW_RUN, sig);
	_exit(0);
}

static void on_exit_of(int status, void *unused)
{
	if (r.out && r.out->how == HAULI_SIM_UNKNOWN)
		note_state(HAULI_SIM_EXIT, status);
	end_timelines();
}

static void limit_time(unsigned real_s)
{
	const struct sigaction sa = {.sa_handler = on_limit, .sa_flags = SA_ONSTACK};
	const struct itimerspec limit = {.it_value.tv_sec = real_s};
	struct sigevent ends = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = LIMIT_SIGNAL};
	timer_t timer;

	sigaction(LIMIT_SIGNAL, &sa, NULL);
	/* Without it the search ends the run, a little later. */
	if (timer_create(CLOCK_MONOTONIC, &ends, &timer) == 0)
		(void)timer_settime(timer, 0, &limit, NULL);
}

static void catch_signals(unsigned real_s)
{
	static char stack[64 * 1024];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | SA_RESETHAND};

	sigaltstack(&alternate, NULL);
	for (unsigned i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		sigaction(fatal[i], &sa, NULL);
	if (real_s > 0)
		limit_time(real_s);
	on_exit(on_exit_of, NULL);
}

static void mark_strike(const struct hauli_sim_strike *s)
{
	char place[HAULI_SIM_PLACE_TEXT], text[sizeof(place) + 48];

	hauli_sim_strike_text(s, place, sizeof(place));
	snprintf(text, sizeof(text), "%s %" PRIu64 ": %s", hauli_sim_fault_name(s->kind), s->number,
		place);
	hauli_sim_timelines_mark(text);
}

static void see_strike(
	enum hauli_sim_fault kind, uint64_t number, const struct hauli_sim_target *target)
{
	struct hauli_sim_outcome *out = r.out;
	struct hauli_sim_strike s;

	out->struck[kind]++;
	out->last[kind] = number;
	if (out->nb_strikes < HAULI_SIM_STRIKES || r.spec->trace)
		hauli_sim_strike_note(&s, kind, number, target);
	if (out->nb_strikes < HAULI_SIM_STRIKES)
		out->strikes[out->nb_strikes] = s;
	out->nb_strikes++;
	if (r.spec->trace)
		mark_strike(&s);
}

static int call(void *arg)
{
	const struct haul_sim_test *test = arg;

	return test->fn();
}

/* A run in which a process is busy with one thread at a time, or with several in turn. */
static unsigned steps_of(uint64_t seed)
{
	static const unsigned steps[] = {4, 16, 64, 256};

	return steps[(seed * UINT64_C(0x9e3779b97f4a7c15)) >> 62];
}

void hauli_sim_run_here(
	const struct hauli_sim_spec *spec, struct hauli_sim_outcome *out, bool in_child)
{
	const struct haul_sim_test *test = spec->test;
	const char *faults = spec->faults ? spec->faults : test->faults;
	const struct haul_sim_opts opts = {
		.seed = spec->seed,
		.steps = spec->steps ? spec->steps : steps_of(spec->seed),
		.faults = faults ? faults : "all",
		.limit_ns = test->limit_ns ? test->limit_ns : HOUR,
	};
	int rc;

	r.out = out;
	r.spec = spec;
	r.began = hauli_sim_real_ns();
	hauli_sim_fault_seen = see_strike;
	hauli_sim_mark(&out->marks);
	/* Also where nobody needs them: a run is the same in a child and in a debugger. */
	catch_signals(in_child ? spec->real_s : 0);
	if (&hauli_sim_hooks && hauli_sim_hooks.begin)
		hauli_sim_hooks.begin(&opts);
	rc = haul_sim_run(&opts, call, (void *)(uintptr_t)test, &out->result);
	end_timelines();
	out->real_s = since(r.began);
	out->how = rc ? HAULI_SIM_REFUSED : HAULI_SIM_ENDED;
	snprintf(out->text, sizeof(out->text), "%s", hauli_sim_failure());
	if (&hauli_sim_hooks && hauli_sim_hooks.end)
		hauli_sim_hooks.end(&out->result);
	hauli_sim_fault_seen = NULL;
	r.out = NULL;
}

uint64_t haul_sim_seed(void)
{
	return hauli_sim_seed();
}

bool hauli_sim_is_good(const struct hauli_sim_outcome *out)
{
	return out->how == HAULI_SIM_ENDED && out->result.end == HAUL_SIM_RETURNED &&
		out->result.value == 0;
}

static void end_text(const struct hauli_sim_outcome *out, char *buf, size_t len)
{
	double s = (double)out->result.ns / 1e9;

	switch (out->result.end) {
	case HAUL_SIM_RETURNED:
		snprintf(buf, len, "returned %d", out->result.value);
		break;
	case HAUL_SIM_STUCK:
		snprintf(buf, len, "stuck at %.6f s: all threads wait, and none for a time", s);
		break;
	case HAUL_SIM_LIMIT:
		snprintf(buf, len, "no end in %.6g s of simulated time", s);
		break;
	case HAUL_SIM_FAILED:
		snprintf(buf, len, "%s", out->text);
		break;
	}
}

void hauli_sim_outcome_text(const struct hauli_sim_outcome *out, char *buf, size_t len)
{
	double s = (double)out->result.ns / 1e9;

	switch (out->how) {
	case HAULI_SIM_UNKNOWN:
		snprintf(buf, len, "the process is gone: %s", strsignal(out->number));
		break;
	case HAULI_SIM_ENDED:
		end_text(out, buf, len);
		break;
	case HAULI_SIM_SIGNAL:
		snprintf(buf, len, "%s at %.6f s in %s", strsignal(out->number), s, out->text);
		break;
	case HAULI_SIM_EXIT:
		snprintf(buf, len, "exit(%d) at %.6f s in %s", out->number, s, out->text);
		break;
	case HAULI_SIM_SLOW_RUN:
		snprintf(buf, len,
			"no end in %.0f s of real time: at %.6f s of simulated time, in %s",
			out->real_s, s, out->text);
		break;
	case HAULI_SIM_REFUSED:
		snprintf(buf, len, "no memory for a simulation");
		break;
	}
}

/* Numbers in them may differ. */
static bool is_same_text(const char *a, const char *b)
{
	static const char digits[] = "0123456789.";

	for (;; a++, b++) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

bool hauli_sim_is_alike(const struct hauli_sim_outcome *a, const struct hauli_sim_outcome *b)
{
	if (a->how != b->how)
		return false;
	if (a->how != HAULI_SIM_ENDED)
		return a->how == HAULI_SIM_SLOW_RUN || a->number == b->number;
	if (a->result.end != b->result.end)
		return false;
	return a->result.end == HAUL_SIM_FAILED ? is_same_text(a->text, b->text)
						: a->result.value == b->result.value;
}
