/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <inttypes.h>
#include <stddef.h>

enum { NAMES = 22 }; /* columns of names, as in the totals of packet programs */

/* Of one carrier, or of all: the figure at an offset into struct http_counts. */
static uint64_t of_carrier(const struct http_server *s, unsigned carrier, size_t at)
{
	const char *counts = (const char *)&s->locals[carrier].counts;

	return hauli_u64_owned_get((const struct hauli_u64_owned *)(counts + at));
}

static uint64_t sum(const struct http_server *s, size_t at)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < s->carriers; i++)
		n += of_carrier(s, i, at);
	return n;
}

static size_t limit_at(unsigned limit)
{
	return offsetof(struct http_counts, limits) + limit * sizeof(struct hauli_u64_owned);
}

static size_t status_at(unsigned status)
{
	return offsetof(struct http_counts, statuses) +
		(status - HTTP_STATUS_MIN) * sizeof(struct hauli_u64_owned);
}

static const struct {
	const char *name;
	size_t at;
} figures[] = {
	{"connections", offsetof(struct http_counts, connections)},
	{"requests", offsetof(struct http_counts, requests)},
	{"rx_bytes", offsetof(struct http_counts, rx_bytes)},
	{"tx_bytes", offsetof(struct http_counts, tx_bytes)},
};
enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static double seconds_since(uint64_t ns)
{
	return (double)(haul_now() - ns) / 1e9;
}

void http_report_period(struct http_report *r, FILE *out)
{
	const struct http_server *s = r->server;
	uint64_t *const last[FIGURES] = {&r->connections, &r->requests, &r->rx_bytes, &r->tx_bytes};
	double seconds = seconds_since(r->last_ns), rates[FIGURES];
	uint64_t closed = sum(s, offsetof(struct http_counts, closed));

	for (unsigned i = 0; i < FIGURES; i++) {
		uint64_t n = sum(s, figures[i].at);

		rates[i] = seconds > 0 ? (double)(n - *last[i]) / seconds : 0;
		*last[i] = n;
	}
	r->last_ns = haul_now();
	fprintf(out,
		"%.1f s  open %" PRIu64
		"  connections %.1f/s  requests %.1f/s  rx %.1f kB/s  tx %.1f kB/s\n",
		seconds_since(r->began_ns), r->connections - closed, rates[0], rates[1],
		rates[2] / 1e3, rates[3] / 1e3);
	fflush(out);
}

/* With those of the carriers, if there are several. */
static void print_figure(const struct http_server *s, FILE *out, const char *name, size_t at)
{
	fprintf(out, "  %-*s%13" PRIu64, NAMES - 2, name, sum(s, at));
	for (unsigned i = 0; s->carriers > 1 && i < s->carriers; i++)
		fprintf(out, "%s carrier %u %" PRIu64, i > 0 ? "," : " ", i, of_carrier(s, i, at));
	fputc('\n', out);
}

void http_report_totals(const struct http_report *r, FILE *out)
{
	const struct http_server *s = r->server;
	char name[32];

	fprintf(out, "total of %.1f s\n", seconds_since(r->began_ns));
	for (unsigned i = 0; i < FIGURES; i++)
		print_figure(s, out, figures[i].name, figures[i].at);
	for (unsigned i = HTTP_STATUS_MIN; i <= HTTP_STATUS_MAX; i++) {
		if (sum(s, status_at(i)) == 0)
			continue;
		snprintf(name, sizeof(name), "status %u", i);
		print_figure(s, out, name, status_at(i));
	}
	for (unsigned i = 0; i < HTTP_LIMITS; i++) {
		if (sum(s, limit_at(i)) == 0)
			continue;
		snprintf(name, sizeof(name), "limit %s", http_limit_name(i));
		print_figure(s, out, name, limit_at(i));
	}
}

static void set(struct haul_app_json *to, const char *key, uint64_t n)
{
	haul_app_json_number(to, key, (int64_t)n);
}

void http_report_figures(const struct http_report *r, struct haul_app_json *object)
{
	const struct http_server *s = r->server;
	struct haul_app_json *inner;
	char name[8];

	haul_app_json_real(object, "seconds", seconds_since(r->began_ns));
	for (unsigned i = 0; i < FIGURES; i++)
		set(object, figures[i].name, sum(s, figures[i].at));
	inner = haul_app_json_object(object, "statuses");
	for (unsigned i = HTTP_STATUS_MIN; i <= HTTP_STATUS_MAX; i++) {
		if (sum(s, status_at(i)) == 0)
			continue;
		snprintf(name, sizeof(name), "%u", i);
		set(inner, name, sum(s, status_at(i)));
	}
	inner = haul_app_json_object(object, "limits");
	for (unsigned i = 0; i < HTTP_LIMITS; i++)
		set(inner, http_limit_name(i), sum(s, limit_at(i)));
	inner = haul_app_json_array(object, "carriers");
	for (unsigned c = 0; c < s->carriers; c++) {
		struct haul_app_json *carrier = haul_app_json_object(inner, NULL);

		set(carrier, "id", c);
		for (unsigned i = 0; i < FIGURES; i++)
			set(carrier, figures[i].name, of_carrier(s, c, figures[i].at));
	}
}

void http_report_json(const struct http_report *r, FILE *out)
{
	struct haul_app_json *object = haul_app_json_begin();

	http_report_figures(r, object);
	haul_app_json_end(object, out);
}
