/* SPDX-License-Identifier: BSD-3-Clause */
/* All figures as metrics, for Prometheus and others that scrape. */
#ifndef HAULI_APP_TELEMETRY_METRICS_H
#define HAULI_APP_TELEMETRY_METRICS_H

#include <stddef.h>

enum hauli_metrics_format {
	HAULI_METRICS_PROMETHEUS, /* its text format, version 0.0.4 */
	HAULI_METRICS_OPENMETRICS, /* OpenMetrics 1.0.0 */
};

/* Any thread but the main thread and carriers: waits as a reader does (process/readers.h). The
 * caller frees the text. NULL: there are no figures now, for the reason in *why. */
char *hauli_metrics_text(enum hauli_metrics_format format, size_t *len, const char **why);

/* Main thread, when no reader enters any more: what the last scrape was told. */
void hauli_metrics_forget(void);

#endif
