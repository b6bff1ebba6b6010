/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of a program: rates once a period, totals at the end, as text or JSON. */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "engine.h"

/* Prints the rates since the last call, or since the start, to e->out. */
void app_report_period(struct app_engine *e);

/* Prints the totals to out. */
void app_report_totals(struct app_engine *e, FILE *out);

/* Adds the totals to a JSON object: seconds, ports[], carriers[], and options. */
void app_report_json(struct app_engine *e, json_t *object);

/* Adds choice i of "first|second|..." to a JSON object. */
void app_report_choice(json_t *object, const char *key, const char *choices, unsigned i);

void app_report_free(struct app_engine *e);

#endif
