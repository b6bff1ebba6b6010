/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints findings as text, one by one, or collects them for one JSON object. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include <stdio.h>

#include <haul-app/json.h>

#include "doctor.h"

struct doctor_report {
	FILE *out;
	struct haul_app_json *json; /* the object of --json; NULL: print as text */
	struct haul_app_json *findings; /* an array in it */
	unsigned counts[DOCTOR_STATUSES];
	unsigned columns; /* of the terminal */
	bool colours;
};

/* Begins a report. json: collect findings, and print one object at the end. */
void doctor_report_begin(struct doctor_report *r, bool json);

/* Begins a group of findings; prints a heading in text. */
void doctor_report_group(struct doctor_report *r, const char *title);

/* Makes the checks of a table, and reports their findings. title begins a group; NULL: the last
 * group goes on. */
void doctor_report_checks(struct doctor_report *r, const char *title,
	const struct doctor_check *checks, const struct doctor_subject *subject);

/* Counts a finding of the check name, and prints or collects it. */
void doctor_report_finding(struct doctor_report *r, const struct doctor_subject *subject,
	const char *name, const struct doctor_finding *finding);

/* Prints the summary, or the JSON object. checked: findings were made, not only a plan. */
void doctor_report_end(struct doctor_report *r, const struct haul_plan *plan, bool checked);

/* Adds the plan to an object of JSON. */
void doctor_plan_json(struct haul_app_json *to, const struct haul_plan *plan);

#endif
