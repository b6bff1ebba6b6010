/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of a program: rates once a period, totals at the end. */
#ifndef HAULI_APP_REPORT_REPORT_H
#define HAULI_APP_REPORT_REPORT_H

#include "process/state.h"

/* The text of the rates since the last call, or since the start; to be freed. */
char *hauli_app_report_period(struct hauli_app *a, size_t *len);

/* Prints the totals to out. */
void hauli_app_report_totals(struct hauli_app *a, FILE *out);

void hauli_app_report_free(struct hauli_app *a);

#endif
