/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints findings as text, one by one, or collects them for one JSON object. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include "doctor.h"

struct doctor_report {
	FILE *out;
	json_t *json; /* the findings; NULL: print as text */
	json_t *costs; /* costs of poller policies, for the JSON object; or NULL */
	unsigned counts[DOCTOR_STATUSES];
	unsigned columns; /* of the terminal */
	bool colours;
};

/* Begins a report. json: collect findings and print one object at the end. */
void doctor_report_begin(struct doctor_report *r, bool json);

/* Begins a group of findings; prints a heading in text. */
void doctor_report_group(struct doctor_report *r, const char *title);

/* Counts a finding of the check name, and prints or collects it. */
void doctor_report_finding(struct doctor_report *r, const struct doctor_subject *subject,
	const char *name, const struct doctor_finding *finding);

/* Prints the summary, or the JSON object. checked: findings were made, not only a plan. */
void doctor_report_end(struct doctor_report *r, const struct haul_plan *plan, bool checked);

/* The plan as part of the JSON object. Returns a new reference. */
json_t *doctor_plan_json(const struct haul_plan *plan);

#endif
