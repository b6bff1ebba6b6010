/* SPDX-License-Identifier: BSD-3-Clause */
/* What the server tells of itself. Main thread, unless a comment says otherwise. */
#ifndef HTTP_REPORT_H
#define HTTP_REPORT_H

#include <haul-app/json.h>
#include <stdio.h>

#include "serve.h"

struct http_report {
	const struct http_server *server;
	uint64_t began_ns; /* haul_now() */
	/* Of the last line: its time, and its figures. */
	uint64_t last_ns, connections, requests, rx_bytes, tx_bytes;
};

/* A line with what has happened since the last one. */
void http_report_period(struct http_report *r, FILE *out);

/* At the end: sums, in lines or as a JSON object. */
void http_report_totals(const struct http_report *r, FILE *out);
void http_report_json(const struct http_report *r, FILE *out);

/* The values of that object so far. Any thread. */
void http_report_figures(const struct http_report *r, struct haul_app_json *object);

#endif
