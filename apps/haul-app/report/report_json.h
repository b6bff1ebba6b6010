/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics as one JSON object. */
#ifndef HAULI_APP_REPORT_REPORT_JSON_H
#define HAULI_APP_REPORT_REPORT_JSON_H

#include "process/state.h"

/* Adds the totals to a JSON object: seconds, ports[], carriers[], counters, and options. */
void hauli_app_report_json(struct hauli_app *a, struct haul_app_json *object);

#endif
