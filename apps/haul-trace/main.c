/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-trace: makes a trace for Perfetto of a raw trace file. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <haul-app/options.h>

#include "convert.h"

static const char *from, *to;
static uint64_t pid, patience = 5 * HAUL_S;

static bool has_pid(void)
{
	return pid != 0;
}

static const struct haul_app_option options[] = {
	{"-i, --in", "FILE", HAUL_APP_TEXT, &from, .zero = "must be given",
		.help = "the raw trace, which a program wrote (--trace)"},
	{"-o, --out", "FILE", HAUL_APP_TEXT, &to, .zero = "must be given",
		.help = "the trace, for ui.perfetto.dev and trace_processor"},
	{"-p, --pid", "PID", HAUL_APP_NUMBER, &pid, .max = INT32_MAX, .zero = "none",
		.help = "sends SIGUSR2 to this program first, and waits until\n"
			"it has written FILE anew"},
	{"--patience", "TIME", HAUL_APP_TIME, &patience, .max = 3600 * HAUL_S,
		.help = "how long to wait for that", .needs = "--pid", .has_effect = has_pid},
	{0},
};

static const struct haul_app_program program = {
	.name = "haul-trace",
	.purpose = "Makes a trace that Perfetto opens of a raw trace, which a program with a\n"
		   "timeline has written.",
	.examples = "  haul-trace --in fwd.trace --out fwd.pftrace\n"
		    "  haul-trace --pid $(pidof haul-fwd) --in fwd.trace --out fwd.pftrace\n",
	.options = {options},
};

static int fail(const char *what, const char *why)
{
	haul_app_say(&program, "%s: %s", what, why);
	return HAUL_APP_FAILED;
}

/* A number that changes with the file. */
static struct timespec changed(void)
{
	struct stat st;

	return stat(from, &st) == 0 ? st.st_mtim : (struct timespec){0};
}

/* Without --trace it would end at the signal. */
static bool takes_signal(void)
{
	char name[64], line[256];
	uint64_t caught = 0;
	FILE *status;

	snprintf(name, sizeof(name), "/proc/%" PRIu64 "/status", pid);
	status = fopen(name, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "SigCgt: %" SCNx64, &caught) == 1)
			break;
	if (status)
		fclose(status);
	return caught >> (SIGUSR2 - 1) & 1;
}

/* False: the program has not written the file. */
static bool ask(void)
{
	const struct timespec pause = {.tv_nsec = 10 * HAUL_MS};
	struct timespec before = changed(), now;
	uint64_t until = haul_in(patience);

	if (kill((pid_t)pid, 0) != 0) {
		(void)fail("--pid", strerror(errno));
		return false;
	}
	if (!takes_signal()) {
		(void)fail("--pid", "the program has no timeline; start it with --trace");
		return false;
	}
	if (kill((pid_t)pid, SIGUSR2) != 0) {
		(void)fail("--pid", strerror(errno));
		return false;
	}
	do {
		nanosleep(&pause, NULL);
		now = changed();
		if (now.tv_sec != before.tv_sec || now.tv_nsec != before.tv_nsec)
			return true;
	} while (haul_now() < until);
	(void)fail(
		from, "the program has not written it; was it started with --trace and this file?");
	return false;
}

static int convert(const struct trace_raw *raw)
{
	FILE *out = fopen(to, "we");
	struct trace_sums sums;
	bool done;

	if (!out)
		return fail(to, strerror(errno));
	done = trace_convert(raw, out, &sums);
	if (fclose(out) != 0 || !done)
		return fail(to, errno ? strerror(errno) : "out of memory");
	if (raw->is_cut)
		haul_app_say(&program, "%s: its end is missing; the trace has what is there", from);
	printf("%s of %s, process %u: %" PRIu64 " events of %u carriers, and %" PRIu64
	       " older ones were overwritten\n",
		trace_raw_why(raw->head.why), raw->head.program, raw->head.pid, sums.events,
		raw->nb, sums.lost);
	return HAUL_APP_DONE;
}

static int body(void)
{
	struct trace_raw raw;
	const char *why;
	FILE *in;
	int rc;

	if (!from || !to)
		return haul_app_wrong(&program, "give %s FILE", from ? "--out" : "--in");
	if (pid && !ask())
		return HAUL_APP_FAILED;
	in = fopen(from, "re");
	if (!in)
		return fail(from, strerror(errno));
	if (trace_raw_read(&raw, in, &why))
		rc = convert(&raw);
	else
		rc = fail(from, why);
	fclose(in);
	trace_raw_free(&raw);
	return rc;
}

int main(int argc, char **argv)
{
	return haul_app_command(&program, body, argc, argv);
}
