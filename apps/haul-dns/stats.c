/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <inttypes.h>

#include "shared.h"
#include "upstream.h"

static const struct dns_upstreams *upstreams_now;

void dns_stats_watch(const struct dns_upstreams *upstreams)
{
	upstreams_now = upstreams;
}

static uint64_t count_upstreams(unsigned carrier, bool all)
{
	struct dns_upstream_stats st;
	uint64_t n = 0;

	if (carrier > 0 || !upstreams_now) /* carriers share them, and the figure is a sum */
		return 0;
	for (unsigned i = 0; dns_upstreams_get_stats(upstreams_now, i, &st); i++)
		n += all || st.rests;
	return n;
}

static uint64_t read_upstreams(const struct haul_app *app, unsigned carrier)
{
	return count_upstreams(carrier, true);
}

static uint64_t read_resting(const struct haul_app *app, unsigned carrier)
{
	return count_upstreams(carrier, false);
}

const struct haul_app_counter dns_counters[] = {
	[DNS_COUNT_QUERIES] = {"queries"},
	[DNS_COUNT_TCP] = {"tcp_queries"},
	[DNS_COUNT_LOCAL] = {"local"},
	[DNS_COUNT_HITS] = {"hits"},
	[DNS_COUNT_MISSES] = {"misses"},
	[DNS_COUNT_JOINED] = {"joined"},
	[DNS_COUNT_REFRESHED] = {"refreshed"},
	[DNS_COUNT_BUSY] = {"busy"},
	[DNS_COUNT_NOERROR] = {"noerror"},
	[DNS_COUNT_NXDOMAIN] = {"nxdomain"},
	[DNS_COUNT_SERVFAIL] = {"servfail"},
	[DNS_COUNT_REFUSED] = {"refused"},
	[DNS_COUNT_OTHER] = {"other_codes"},
	[DNS_COUNT_TRUNCATED] = {"truncated"},
	[DNS_COUNT_LIMITED] = {"limited"},
	[DNS_COUNT_UPSTREAMS] = {"upstreams", .read = read_upstreams, .gauge = true},
	[DNS_COUNT_RESTING] = {"upstreams_resting", .read = read_resting, .gauge = true},
	{NULL},
};

struct look {
	struct dns_shared *cache;
	struct dns_shared_stats stats;
};

/* The locks of the cache are for coroutines. */
static int look(struct haul_app *app, unsigned carrier, void *arg)
{
	struct look *l = arg;

	if (carrier == 0)
		dns_shared_get_stats(l->cache, &l->stats);
	return HAUL_APP_DONE;
}

static bool look_at_cache(struct haul_app *app, struct look *l, struct dns_shared *cache)
{
	*l = (struct look){.cache = cache};
	return haul_app_on_carriers(app, look, l) == HAUL_APP_DONE;
}

void dns_stats_print(struct haul_app *app, struct dns_shared *cache,
	const struct dns_upstreams *upstreams, FILE *out)
{
	char text[DNS_ENDPOINT_TEXT];
	struct dns_upstream_stats st;
	struct look l;

	if (look_at_cache(app, &l, cache))
		fprintf(out,
			"cache: %u answers, %.1f MB, %" PRIu64 " evicted, %" PRIu64 " stale, "
			"%u asked for now, %" PRIu64 " not answered\n",
			l.stats.cache.entries, (double)l.stats.cache.bytes / 1e6,
			l.stats.cache.evicted, l.stats.stale, l.stats.flights, l.stats.failed);
	for (unsigned i = 0; dns_upstreams_get_stats(upstreams, i, &st); i++)
		fprintf(out,
			"upstream %s: asked %" PRIu64 ", by TCP %" PRIu64 ", answered %" PRIu64
			", failed %" PRIu64 ", timeouts %" PRIu64 ", round trip %.3f ms%s\n",
			dns_endpoint_text(&st.addr, text), st.asked, st.asked_tcp, st.answered,
			st.failed, st.timeouts, (double)st.round_trip_ns / 1e6,
			st.rests ? ", does not answer" : "");
}

static void set(struct haul_app_json *to, const char *key, uint64_t n)
{
	haul_app_json_number(to, key, (int64_t)n);
}

void dns_stats_json(struct haul_app *app, struct dns_shared *cache,
	const struct dns_upstreams *upstreams, struct haul_app_json *object)
{
	struct haul_app_json *inner;
	char text[DNS_ENDPOINT_TEXT];
	struct dns_upstream_stats st;
	struct look l;

	if (look_at_cache(app, &l, cache)) {
		inner = haul_app_json_object(object, "cache");
		set(inner, "answers", l.stats.cache.entries);
		set(inner, "bytes", l.stats.cache.bytes);
		set(inner, "evicted", l.stats.cache.evicted);
		set(inner, "stale", l.stats.stale);
		set(inner, "not_answered", l.stats.failed);
	}
	inner = haul_app_json_array(object, "upstreams");
	for (unsigned i = 0; dns_upstreams_get_stats(upstreams, i, &st); i++) {
		struct haul_app_json *one = haul_app_json_object(inner, NULL);

		haul_app_json_text(one, "address", dns_endpoint_text(&st.addr, text));
		set(one, "asked", st.asked);
		set(one, "asked_tcp", st.asked_tcp);
		set(one, "answered", st.answered);
		set(one, "failed", st.failed);
		set(one, "timeouts", st.timeouts);
		set(one, "round_trip_ns", st.round_trip_ns);
		haul_app_json_bool(one, "rests", st.rests);
	}
}
