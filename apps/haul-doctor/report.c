/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <haul/version.h>

#include "port_spec.h"

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
		.columns = screen_columns(),
		.colours = isatty(STDOUT_FILENO) && !(plain && plain[0]),
	};
	if (json) {
		r->json = haul_app_json_begin();
		haul_app_json_text(r->json, "haul", haul_version());
		r->findings = haul_app_json_array(r->json, "findings");
		haul_app_json_text(r->json, "costs", NULL); /* unless they are measured */
	} else if (uname(&kernel) == 0)
		fprintf(r->out, "haul-doctor %s, Linux %s, %s\n\n", haul_version(), kernel.release,
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

static void add_finding(const struct doctor_report *r, const struct doctor_subject *subject,
	const char *name, const struct doctor_finding *finding)
{
	struct haul_app_json *object = haul_app_json_object(r->findings, NULL);

	haul_app_json_text(object, "check", name);
	haul_app_json_text(object, "interface", subject->iface);
	haul_app_json_text(object, "port", subject->port ? subject->port->text : NULL);
	haul_app_json_text(object, "status", statuses[finding->status].word);
	haul_app_json_text(object, "says", finding->says);
	haul_app_json_text(object, "todo", finding->todo);
}

void doctor_report_finding(struct doctor_report *r, const struct doctor_subject *subject,
	const char *name, const struct doctor_finding *finding)
{
	if (finding->status == DOCTOR_NONE)
		return;
	r->counts[finding->status]++;
	if (r->json)
		add_finding(r, subject, name, finding);
	else
		print_finding(r, name, finding);
}

void doctor_report_checks(struct doctor_report *r, const char *title,
	const struct doctor_check *checks, const struct doctor_subject *subject)
{
	if (title)
		doctor_report_group(r, title);
	for (; checks->name; checks++) {
		struct doctor_finding finding = {0};

		checks->fn(subject, &finding);
		doctor_report_finding(r, subject, checks->name, &finding);
	}
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

static void end_object(const struct doctor_report *r, const struct haul_plan *plan)
{
	doctor_plan_json(haul_app_json_object(r->json, "plan"), plan);
	haul_app_json_number(r->json, "problems", r->counts[DOCTOR_PROBLEM]);
	haul_app_json_number(r->json, "notes", r->counts[DOCTOR_NOTE]);
	haul_app_json_end(r->json, r->out);
}

void doctor_report_end(struct doctor_report *r, const struct haul_plan *plan, bool checked)
{
	if (r->json)
		end_object(r, plan);
	else if (checked)
		print_summary(r);
}
