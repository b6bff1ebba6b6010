/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted: for each carrier, by haul_app_count(); and how it is shown. */
#ifndef DNS_STATS_H
#define DNS_STATS_H

#include <haul-app/app.h>

enum dns_count {
	DNS_COUNT_QUERIES, /* that were understood, and come from clients that may ask */
	DNS_COUNT_TCP, /* of these */
	/* How they were answered. */
	DNS_COUNT_LOCAL,
	DNS_COUNT_HITS, /* with expired ones */
	DNS_COUNT_MISSES,
	DNS_COUNT_JOINED, /* by the answer to an equal question under way */
	DNS_COUNT_REFRESHED, /* of the hits: a server was asked again in advance */
	DNS_COUNT_BUSY, /* too many wait */
	/* What was sent. */
	DNS_COUNT_NOERROR,
	DNS_COUNT_NXDOMAIN,
	DNS_COUNT_SERVFAIL,
	DNS_COUNT_REFUSED,
	DNS_COUNT_OTHER, /* codes */
	DNS_COUNT_TRUNCATED, /* of all these */
	DNS_COUNT_LIMITED, /* not sent, or truncated, by the limit of a network */
	/* Servers, and those that do not answer: gauges. */
	DNS_COUNT_UPSTREAMS,
	DNS_COUNT_RESTING,
};

extern const struct haul_app_counter dns_counters[];

/* Reasons of drops. */
enum { DNS_DROP_NO_QUERY, DNS_DROP_LIMITED };

struct dns_shared;
struct dns_upstreams;

/* Main thread, while no figures are read: the servers that the gauges are about; NULL: none. */
void dns_stats_watch(const struct dns_upstreams *upstreams);

/* haul_app_hooks.report and .json: of the cache and of the servers. Main thread. */
void dns_stats_print(struct haul_app *app, struct dns_shared *cache,
	const struct dns_upstreams *upstreams, FILE *out);
void dns_stats_json(struct haul_app *app, struct dns_shared *cache,
	const struct dns_upstreams *upstreams, struct haul_app_json *object);

#endif
