/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings on a screen and as JSON: both are told of each finding in turn. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include "doctor.h"

struct doctor_report {
	FILE *out;
	json_t *json; /* the findings; NULL: print as text */
	json_t *costs; /* what pollers cost, or NULL; becomes part of the object */
	unsigned counts[DOCTOR_STATUSES];
	unsigned columns; /* of the screen */
	bool colours;
};

/* json: collect, and print one object at the end. */
void doctor_report_begin(struct doctor_report *r, bool json);

/* A heading; iface is NULL for what concerns the machine. */
void doctor_report_group(struct doctor_report *r, const char *title);

void doctor_report_finding(struct doctor_report *r, const struct doctor_subject *subject,
	const char *name, const struct doctor_finding *finding);

/* Prints what is left. checked: whether the machine was, not only planned for. */
void doctor_report_end(struct doctor_report *r, const struct haul_plan *plan, bool checked);

/* The plan as the object that --json shows. The caller owns it. */
json_t *doctor_plan_json(const struct haul_plan *plan);

#endif
