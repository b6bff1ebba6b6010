/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/real.h"

#define TEXT (HAULI_SIM_TEXT + 256)
#define SHOWN 20 /* strikes */
#define PROGRESS_TTY_NS (200 * HAUL_MS)
#define PROGRESS_NS (10 * HAUL_S)

static FILE *json;
static unsigned nb_json; /* failures so far */

void hauli_sim_report_replay(FILE *out, const struct hauli_sim_options *o,
	const struct hauli_sim_spec *spec, const char *faults, bool twice)
{
	fprintf(out, "%s --test %s --%s %" PRIu64 "%s", o->program, spec->test->name,
		twice ? "from" : "seed", spec->seed, twice ? " --seeds 1 --twice 1" : "");
	if (o->steps)
		fprintf(out, " --steps %u", o->steps);
	if (faults)
		fprintf(out, " --faults %s", faults);
}

static double seconds_of(const struct hauli_sim_totals *t)
{
	return (double)(hauli_sim_real_ns() - t->began) / 1e9;
}

void hauli_sim_report_progress(const struct hauli_sim_options *o, const struct hauli_sim_totals *t,
	uint64_t all, bool ends)
{
	static uint64_t last;
	uint64_t now = hauli_sim_real_ns();
	bool tty = isatty(STDERR_FILENO);
	double s = seconds_of(t), rate = s > 0 ? (double)t->runs / s : 0, left;

	if (ends) {
		if (tty)
			fprintf(stderr, "\r\033[K");
		return;
	}
	last = last ? last : t->began;
	if (now - last < (tty ? PROGRESS_TTY_NS : PROGRESS_NS))
		return;
	last = now;
	left = rate > 0 ? (double)(all - t->runs) / rate : -1;
	fprintf(stderr, "%s%" PRIu64, tty ? "\r\033[K" : "", t->runs);
	if (o->for_s == 0 || (left >= 0 && left < (double)o->for_s - s))
		fprintf(stderr, " of %" PRIu64, all);
	else
		left = (double)o->for_s > s ? (double)o->for_s - s : 0;
	fprintf(stderr, " runs, %.0f/s", rate);
	if (left >= 0)
		fprintf(stderr, ", %.0f s left", left);
	if (t->failed)
		fprintf(stderr, ", %" PRIu64 " failed", t->failed);
	fputs(tty ? "" : "\n", stderr);
	fflush(stderr);
}

void hauli_sim_report_failure(const struct hauli_sim_options *o, const struct hauli_sim_spec *spec,
	const struct hauli_sim_outcome *out)
{
	char text[TEXT];

	hauli_sim_outcome_text(out, text, sizeof(text));
	fprintf(stderr, "%s: seed %" PRIu64 ": %s\n", spec->test->name, spec->seed, text);
}

static void print_strikes(const struct hauli_sim_outcome *out)
{
	unsigned n = out->nb_strikes < SHOWN ? out->nb_strikes : SHOWN;

	for (unsigned i = 0; i < n; i++) {
		const struct hauli_sim_strike *s = &out->strikes[i];
		char place[HAULI_SIM_PLACE_TEXT];

		hauli_sim_strike_text(s, place, sizeof(place));
		fprintf(stderr, "  %.9f s: %s %" PRIu64 ": %s\n", (double)s->ns / 1e9,
			hauli_sim_fault_name(s->kind), s->number, place);
	}
	if (out->nb_strikes > n)
		fprintf(stderr, "  and %u more\n", out->nb_strikes - n);
}

void hauli_sim_report_short(const struct hauli_sim_options *o, const struct hauli_sim_spec *spec,
	const struct hauli_sim_short *s)
{
	if (!s->again) {
		fprintf(stderr,
			"It did not fail so again: something else than the seed decides, too\n");
		return;
	}
	fprintf(stderr, "Faults: %" PRIu64 " of %" PRIu64 " are enough%s (%u runs)\n", s->kept,
		s->all, s->complete ? "" : ", and maybe fewer", s->runs);
	print_strikes(&s->out);
}

void hauli_sim_report_one(const struct hauli_sim_spec *spec, const struct hauli_sim_outcome *out)
{
	const struct haul_sim_result *r = &out->result;
	char text[TEXT];
	const char *before = "; faults:";

	hauli_sim_outcome_text(out, text, sizeof(text));
	fprintf(stderr, "%s: seed %" PRIu64 ": %s\n", spec->test->name, spec->seed,
		hauli_sim_is_good(out) ? "ok" : text);
	fprintf(stderr,
		"%.9f s simulated in %.3f s, %u threads, %" PRIu64 " switches, hash %016" PRIx64,
		(double)r->ns / 1e9, out->real_s, r->threads, r->switches, r->hash);
	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++) {
		if (out->struck[i] == 0)
			continue;
		fprintf(stderr, "%s %s %" PRIu64, before, hauli_sim_fault_name(i), out->struck[i]);
		before = ",";
	}
	fputs("\n", stderr);
	print_strikes(out);
}

void hauli_sim_report_totals(const struct hauli_sim_options *o, const struct hauli_sim_totals *t)
{
	double s = seconds_of(t);

	fprintf(stderr, "%" PRIu64 " runs in %.1f s", t->runs, s);
	if (s > 0)
		fprintf(stderr, " (%.0f/s)", (double)t->runs / s);
	if (t->twice)
		fprintf(stderr, ", %" PRIu64 " of them twice", t->twice);
	if (t->differ)
		fprintf(stderr, ", %" PRIu64 " of which differ", t->differ);
	fprintf(stderr, ": %" PRIu64 " failed\n", t->failed);
}

int hauli_sim_json_begin(const struct hauli_sim_options *o)
{
	if (!o->json)
		return 0;
	json = fopen(o->json, "we");
	if (!json)
		return -errno;
	fputs("{\"program\": ", json);
	hauli_sim_json_text(o->program, json);
	fprintf(json, ", \"seeds\": %" PRIu64 ", \"from\": %" PRIu64 ", \"found\": [", o->seeds,
		o->from);
	nb_json = 0;
	return 0;
}

static void begin_found(const struct hauli_sim_spec *spec, const char *kind)
{
	fprintf(json, "%s\n{\"kind\": \"%s\", \"test\": ", nb_json++ ? "," : "", kind);
	hauli_sim_json_text(spec->test->name, json);
	fprintf(json, ", \"seed\": %" PRIu64 ", \"text\": ", spec->seed);
}

/* The first ones of a run, with their places. */
static void put_strikes(const struct hauli_sim_outcome *out)
{
	unsigned n = out->nb_strikes < HAULI_SIM_STRIKES ? out->nb_strikes : HAULI_SIM_STRIKES;

	fprintf(json, ", \"nb_struck\": %u, \"struck\": [", out->nb_strikes);
	for (unsigned i = 0; i < n; i++) {
		fputs(i ? ",\n  " : "\n  ", json);
		hauli_sim_strike_json(&out->strikes[i], json);
	}
	fputc(']', json);
}

void hauli_sim_json_failure(const struct hauli_sim_spec *spec, const struct hauli_sim_outcome *out,
	const struct hauli_sim_short *s)
{
	char text[TEXT];

	if (!json)
		return;
	begin_found(spec, "failure");
	hauli_sim_outcome_text(out, text, sizeof(text));
	hauli_sim_json_text(text, json);
	fprintf(json, ", \"simulated_ns\": %" PRIu64, out->result.ns);
	if (s && s->again) {
		fprintf(json,
			", \"strikes\": %" PRIu64 ", \"needed\": %" PRIu64 ", \"faults\": ", s->all,
			s->kept);
		hauli_sim_json_text(s->faults, json);
		out = &s->out;
	}
	put_strikes(out);
	fputs("}", json);
}

void hauli_sim_json_difference(const struct hauli_sim_spec *spec, const char *text)
{
	if (!json)
		return;
	begin_found(spec, "difference");
	hauli_sim_json_text(text, json);
	fputs("}", json);
}

int hauli_sim_json_end(const struct hauli_sim_totals *t)
{
	bool bad;

	if (!json)
		return 0;
	fprintf(json,
		"],\n\"runs\": %" PRIu64 ", \"twice\": %" PRIu64 ", \"failed\": %" PRIu64
		", \"differ\": %" PRIu64 ", \"seconds\": %.3f}\n",
		t->runs, t->twice, t->failed, t->differ, seconds_of(t));
	bad = ferror(json);
	bad |= fclose(json) != 0;
	json = NULL;
	return bad ? -EIO : 0;
}
