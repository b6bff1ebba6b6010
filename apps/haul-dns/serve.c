/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <haul/haul.h>

#include "about.h"
#include "address.h"
#include "stats.h"

static const struct dns_config *config_of(const struct dns_service *s)
{
	return hauli_ptr_published_get(&s->config);
}

static void fail(struct dns_visit *v, enum dns_rcode rcode, enum dns_ede ede)
{
	v->reply.opts.ede = ede;
	v->reply.n = dns_write_error(v->msg, v->msg, &v->query, rcode, &v->reply.opts);
	v->reply.opts.ede = DNS_EDE_NONE;
}

/* RFC 7873, 5.2: a client that sends a cookie gets ours. */
static void take_cookie(struct dns_service *s, struct dns_visit *v)
{
	const struct dns_edns *e = &v->query.edns;
	uint32_t now;

	if (!e->is_there || e->nb_cookie == 0)
		return;
	now = (uint32_t)time(NULL);
	v->knows_us = e->nb_cookie == DNS_COOKIE_CLIENT + DNS_COOKIE_SERVER &&
		dns_cookie_is_good(
			e->cookie + DNS_COOKIE_CLIENT, &s->cookies, e->cookie, &v->client, now);
	dns_cookie_make(v->cookie, &s->cookies, e->cookie, &v->client, now);
	v->reply.opts.server_cookie = v->cookie;
}

/* RFC 8482, 4.2: who asks for all types gets one record, and no amplifier. */
static void answer_any(struct dns_visit *v)
{
	static const uint8_t record[] = {0xc0, DNS_HEADER, 0, DNS_HINFO, 0, DNS_IN, 0, 0, 0x0e,
		0x10, 0, 9, 7, 'R', 'F', 'C', '8', '4', '8', '2', 0};
	union {
		struct dns_answer answer;
		uint8_t bytes[sizeof(struct dns_answer) + sizeof(record)];
	} made = {.answer = {.nb_answers = 1,
			  .size = sizeof(record),
			  .expires = UINT64_MAX,
			  .dead_at = UINT64_MAX}};

	memcpy(made.answer.bytes, record, sizeof(record));
	v->reply.n = dns_write_answer(v->msg, v->msg, &v->query, &made.answer, &v->reply.opts);
}

/* Other classes than IN. */
static void answer_about(struct dns_service *s, struct dns_visit *v)
{
	const char *state;
	bool serves = haul_app_is_serving(&state);

	v->reply.n =
		dns_about_write(v->msg, v->msg, &v->query, s->id, serves, state, &v->reply.opts);
	if (v->reply.n == 0)
		fail(v, DNS_REFUSED, DNS_EDE_NONE);
}

/* Answers that need neither cache nor servers. Returns false if the query is not one of these. Does
 * not suspend. */
static bool answer_here(struct dns_service *s, struct dns_visit *v, int parsed)
{
	const struct dns_config *config = config_of(s);
	const struct dns_key *key = &v->query.key;

	if (!dns_acl_allows(config->acl, &v->client)) {
		fail(v, DNS_REFUSED, DNS_EDE_PROHIBITED);
		return true;
	}
	haul_app_count(DNS_COUNT_QUERIES, 1);
	if (v->is_stream)
		haul_app_count(DNS_COUNT_TCP, 1);
	if (parsed > 0) {
		fail(v, (enum dns_rcode)parsed, DNS_EDE_NONE);
		return true;
	}
	v->reply.n = config->hosts
		? dns_hosts_write(config->hosts, v->msg, v->msg, &v->query, &v->reply.opts)
		: 0;
	if (v->reply.n > 0)
		haul_app_count(DNS_COUNT_LOCAL, 1);
	else if (key->class != DNS_IN)
		answer_about(s, v);
	else if (!(v->query.flags & DNS_RD))
		fail(v, DNS_REFUSED, DNS_EDE_NONE); /* what is in the cache is nobody's business */
	else if (key->type == DNS_ANY)
		answer_any(v);
	else if (dns_type_is_meta(key->type))
		fail(v, DNS_NOTIMP, DNS_EDE_NONE);
	else
		return false;
	return true;
}

/* Queries of a network wait for servers until they are half of those of a carrier. */
static struct hauli_u64_shared *waiting_of(struct dns_service *s, struct dns_visit *v)
{
	struct haul_addr network = v->client;

	dns_address_mask(&network, network.version == 4 ? 24 : 56);
	v->network = dns_siphash(&s->hash, &network, sizeof(network)) % DNS_NETWORKS;
	return &s->waiting_of[v->network];
}

/* The count of a network matters when there are many, so hits of other times do not pay for it. */
static bool may_wait(struct dns_service *s, struct dns_visit *v)
{
	uint64_t n = hauli_u64_shared_get(&s->waiting[v->carrier]);

	if (n >= s->waiting_max)
		return false;
	return n < s->waiting_max / 4 ||
		hauli_u64_shared_get(waiting_of(s, v)) < s->waiting_max / 2;
}

static void begin_wait(struct dns_service *s, struct dns_visit *v)
{
	hauli_u64_shared_add(&s->waiting[v->carrier], 1);
	hauli_u64_shared_add(waiting_of(s, v), 1);
}

static void end_wait(struct dns_service *s, const struct dns_visit *v)
{
	hauli_u64_shared_add(&s->waiting[v->carrier], UINT64_MAX);
	hauli_u64_shared_add(&s->waiting_of[v->network], UINT64_MAX);
}

static struct dns_upstreams *hold_upstreams(struct dns_service *s)
{
	struct dns_upstreams *u = config_of(s)->upstreams;

	dns_upstreams_hold(u);
	return u;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What has come of a flight. */
static void land(struct dns_service *s, struct dns_visit *v, int rc, struct dns_answer *answer,
	struct dns_client *client)
{
	if (rc == 0)
		dns_shared_land(s->cache, v->flight, answer, haul_now(), client);
	else
		dns_shared_fail(s->cache, v->flight, rc, haul_now(), client);
	v->flight = NULL;
}

/* A server's answer, for the client, too. A client that has waited gets an expired one, and the
 * question goes on in dns_serve_rest(). */
static void ask(struct dns_service *s, struct dns_visit *v, uint64_t began)
{
	uint64_t deadline = began + s->deadline, patience = earlier(began + s->patience, deadline);
	struct dns_question q = {.upstreams = hold_upstreams(s), .key = &v->query.key};
	struct dns_answer *answer = NULL;
	int rc = dns_upstreams_ask(&q, &answer, patience);

	if (rc == -ETIMEDOUT && patience < deadline) {
		if (dns_shared_write_stale(s->cache, &v->reply)) {
			dns_upstreams_release(q.upstreams);
			return;
		}
		rc = dns_upstreams_ask(&q, &answer, deadline);
	}
	dns_upstreams_release(q.upstreams);
	v->reply.opts.now = haul_now();
	land(s, v, rc, answer, &v->reply);
	if (v->reply.n == 0) /* no memory for the failure */
		fail(v, DNS_SERVFAIL, DNS_EDE_OTHER);
}

static void wait_for_other(struct dns_service *s, struct dns_visit *v, uint64_t began)
{
	struct dns_flight *flight = v->flight;
	int rc;

	v->flight = NULL;
	rc = dns_shared_wait(s->cache, flight, &v->reply, began + s->patience, began + s->deadline);
	if (rc < 0)
		fail(v, DNS_SERVFAIL, rc == -ETIMEDOUT ? DNS_EDE_NO_REACHABLE : DNS_EDE_OTHER);
}

static void be_busy(struct dns_service *s, struct dns_visit *v)
{
	haul_app_count(DNS_COUNT_BUSY, 1);
	if (!dns_shared_write_stale(s->cache, &v->reply))
		fail(v, DNS_SERVFAIL, DNS_EDE_OTHER);
}

/* From the cache, or from a server. */
static void answer_shared(struct dns_service *s, struct dns_visit *v)
{
	uint64_t began = v->reply.opts.now;
	enum dns_look found;

	v->reply.hits_only = !may_wait(s, v);
	found = dns_shared_look(s->cache, &v->reply, &v->flight);
	if (found == DNS_LOOK_HIT || found == DNS_LOOK_REFRESH) {
		haul_app_count(DNS_COUNT_HITS, 1);
		if (found == DNS_LOOK_REFRESH)
			haul_app_count(DNS_COUNT_REFRESHED, 1);
		return;
	}
	if (found == DNS_LOOK_BUSY) {
		be_busy(s, v);
		return;
	}
	haul_app_count(found == DNS_LOOK_ASK ? DNS_COUNT_MISSES : DNS_COUNT_JOINED, 1);
	begin_wait(s, v);
	if (found == DNS_LOOK_ASK)
		ask(s, v, began);
	else
		wait_for_other(s, v, began);
	end_wait(s, v);
}

static void count_answer(unsigned flags)
{
	switch (flags & DNS_RCODE) {
	case DNS_NOERROR:
		haul_app_count(DNS_COUNT_NOERROR, 1);
		break;
	case DNS_NXDOMAIN:
		haul_app_count(DNS_COUNT_NXDOMAIN, 1);
		break;
	case DNS_SERVFAIL:
		haul_app_count(DNS_COUNT_SERVFAIL, 1);
		break;
	case DNS_REFUSED:
		haul_app_count(DNS_COUNT_REFUSED, 1);
		break;
	default:
		haul_app_count(DNS_COUNT_OTHER, 1);
	}
	if (flags & DNS_TC)
		haul_app_count(DNS_COUNT_TRUNCATED, 1);
}

/* Does not suspend. */
static enum dns_served limit(struct dns_service *s, struct dns_visit *v)
{
	unsigned rcode = dns_get16(v->msg + 2) & DNS_RCODE;
	enum dns_rrl_kind kind = rcode == DNS_NOERROR ? DNS_RRL_ANSWER
		: rcode == DNS_NXDOMAIN               ? DNS_RRL_NXDOMAIN
						      : DNS_RRL_ERROR;

	if (!s->rrl || v->is_stream || v->knows_us)
		return DNS_SERVED;
	switch (dns_rrl_check(
		s->rrl, &v->client, kind, v->query.key.name_hash, v->reply.opts.now)) {
	case DNS_RRL_SEND:
		return DNS_SERVED;
	case DNS_RRL_SLIP:
		haul_app_count(DNS_COUNT_LIMITED, 1);
		v->reply.n = dns_write_truncated(v->msg, v->msg, &v->query, &v->reply.opts);
		return DNS_SERVED;
	default:
		haul_app_count(DNS_COUNT_LIMITED, 1);
		return DNS_LIMITED;
	}
}

static void init_reply(struct dns_service *s, struct dns_visit *v)
{
	size_t max = v->is_stream || v->room < s->udp_max ? v->room : s->udp_max;

	v->reply = (struct dns_client){.msg = v->msg,
		.query = &v->query,
		.out = v->msg,
		.opts = {.now = haul_now(),
			.max = max,
			.is_stream = v->is_stream,
			.ede = DNS_EDE_NONE}};
	v->knows_us = false;
}

enum dns_served dns_serve(struct dns_service *s, struct dns_visit *v)
{
	enum dns_served done;
	int parsed;

	v->flight = NULL;
	v->query.key.name_hash = 0; /* of what has no question */
	parsed = dns_query_parse(&v->query, v->msg, v->n, &s->hash);
	if (parsed < 0)
		return DNS_NO_QUERY;
	init_reply(s, v);
	if (parsed == 0)
		take_cookie(s, v);
	if (!answer_here(s, v, parsed))
		answer_shared(s, v);
	if (hauli_u64_shared_get(&s->is_ending))
		return DNS_ENDING;
	done = limit(s, v);
	if (done == DNS_SERVED)
		count_answer(dns_get16(v->msg + 2));
	return done;
}

void dns_serve_rest(struct dns_service *s, struct dns_visit *v)
{
	struct dns_question q = {.key = &v->query.key};
	struct dns_answer *answer = NULL;
	int rc;

	if (!v->flight)
		return;
	begin_wait(s, v);
	q.upstreams = hold_upstreams(s);
	rc = dns_upstreams_ask(&q, &answer, haul_in(s->deadline));
	dns_upstreams_release(q.upstreams);
	end_wait(s, v);
	land(s, v, rc, answer, NULL);
}

struct rest {
	struct dns_service *service;
	struct dns_visit visit;
};

static void *serve_rest(void *arg)
{
	struct rest *r = arg;

	dns_serve_rest(r->service, &r->visit);
	free(r);
	return NULL;
}

void dns_serve_rest_later(struct dns_service *s, const struct dns_visit *v)
{
	static const struct haul_coro_opts opts = {.name = "refresh"};
	struct rest *r = v->flight ? malloc(sizeof(*r)) : NULL;

	if (!v->flight)
		return;
	if (r) {
		r->service = s;
		memcpy(&r->visit, v, sizeof(*v));
		if (haul_spawn(NULL, serve_rest, r, &opts) == 0)
			return;
	}
	free(r);
	dns_shared_fail(s->cache, v->flight, -ENOMEM, haul_now(), NULL); /* another time */
}
