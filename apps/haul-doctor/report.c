/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/text.h"

#define TEXT_COLUMN 25
#define COLUMNS_MIN 80
#define COLUMNS_MAX 100

static const struct {
	const char *word;
	const char *colour;
} statuses[DOCTOR_STATUSES] = {
	[DOCTOR_OK] = {"ok", "\033[32m"},
	[DOCTOR_NOTE] = {"note", "\033[33m"},
	[DOCTOR_PROBLEM] = {"problem", "\033[31m"},
};

static unsigned screen_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < COLUMNS_MIN)
		return COLUMNS_MIN;
	return size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
}

void doctor_report_begin(struct doctor_report *r, bool json)
{
	const char *plain = getenv("NO_COLOR");
	struct utsname kernel;

	*r = (struct doctor_report){
		.out = stdout,
		.json = json ? json_array() : NULL,
		.columns = screen_columns(),
		.colours = isatty(STDOUT_FILENO) && !(plain && plain[0]),
	};
	if (!json && uname(&kernel) == 0)
		fprintf(r->out, "haul-doctor %s, Linux %s, %s\n\n", APP_VERSION, kernel.release,
			kernel.machine);
}

void doctor_report_group(struct doctor_report *r, const char *title)
{
	if (!r->json)
		fprintf(r->out, "\n%s\n", title);
}

/* Prints text wrapped at words, with all lines at the same indentation. */
static void print_wrapped(const struct doctor_report *r, const char *text)
{
	unsigned column = TEXT_COLUMN;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > TEXT_COLUMN && column + 1 + word > r->columns) {
			fprintf(r->out, "\n%*s", TEXT_COLUMN, "");
			column = TEXT_COLUMN;
		} else if (column > TEXT_COLUMN) {
			fputc(' ', r->out);
			column++;
		}
		fwrite(text, 1, word, r->out);
		column += (unsigned)word;
		text += word + strspn(text + word, " ");
	}
	fputc('\n', r->out);
}

static void print_finding(
	const struct doctor_report *r, const char *name, const struct doctor_finding *finding)
{
	fprintf(r->out, "  %s%-7s%s  %-12s  ", r->colours ? statuses[finding->status].colour : "",
		statuses[finding->status].word, r->colours ? "\033[0m" : "", name);
	print_wrapped(r, finding->says);
	/* Not wrapped, so that it can be copied. */
	if (finding->todo[0])
		fprintf(r->out, "%*s-> %s\n", TEXT_COLUMN, "", finding->todo);
}

static json_t *finding_json(const struct doctor_subject *subject, const char *name,
	const struct doctor_finding *finding)
{
	json_t *object = json_object();

	json_object_set_new(object, "check", json_string(name));
	json_object_set_new(
		object, "interface", subject->iface ? app_json_text(subject->iface) : json_null());
	json_object_set_new(object, "status", json_string(statuses[finding->status].word));
	json_object_set_new(object, "says", app_json_text(finding->says));
	json_object_set_new(object, "todo", app_json_text(finding->todo));
	return object;
}

void doctor_report_finding(struct doctor_report *r, const struct doctor_subject *subject,
	const char *name, const struct doctor_finding *finding)
{
	if (finding->status == DOCTOR_NONE)
		return;
	r->counts[finding->status]++;
	if (r->json)
		json_array_append_new(r->json, finding_json(subject, name, finding));
	else
		print_finding(r, name, finding);
}

static void print_count(FILE *out, unsigned n, const char *what)
{
	if (n == 0)
		fprintf(out, "no %s", what);
	else
		fprintf(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static void print_summary(const struct doctor_report *r)
{
	fputc('\n', r->out);
	print_count(r->out, r->counts[DOCTOR_PROBLEM], "problem");
	fputs(", ", r->out);
	print_count(r->out, r->counts[DOCTOR_NOTE], "note");
	fputs(r->counts[DOCTOR_PROBLEM] ? ": haul cannot run like this\n" : ": haul can run here\n",
		r->out);
}

static void print_object(const struct doctor_report *r, const struct haul_plan *plan)
{
	json_t *object = json_object();

	json_object_set_new(object, "haul", json_string(APP_VERSION));
	json_object_set_new(object, "plan", doctor_plan_json(plan));
	json_object_set(object, "findings", r->json);
	json_object_set_new(object, "costs", r->costs ? r->costs : json_null());
	json_object_set_new(
		object, "problems", json_integer((json_int_t)r->counts[DOCTOR_PROBLEM]));
	json_object_set_new(object, "notes", json_integer((json_int_t)r->counts[DOCTOR_NOTE]));
	json_dumpf(object, r->out, JSON_INDENT(2));
	fputc('\n', r->out);
	json_decref(object);
}

void doctor_report_end(struct doctor_report *r, const struct haul_plan *plan, bool checked)
{
	if (r->json)
		print_object(r, plan);
	else if (checked)
		print_summary(r);
	json_decref(r->json);
}
