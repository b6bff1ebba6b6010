/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <haul/haul.h>

#include "cookie.h"
#include "exchange.h"

enum {
	TRIES_MAX = 12, /* of a question, at all servers */
	AGAIN_MAX = 2, /* without EDNS, with a new cookie */
};

struct dns_upstreams {
	struct dns_upstream_opts opts;
	unsigned n;
	/* Under the lock, which is held for a few hundred instructions. */
	pthread_mutex_t lock;
	unsigned refs;
	struct dns_server servers[];
};

static void copy_known(struct dns_server *s, struct dns_upstreams *previous)
{
	pthread_mutex_lock(&previous->lock);
	for (unsigned i = 0; i < previous->n; i++)
		if (dns_endpoint_equal(&previous->servers[i].addr, &s->addr))
			*s = previous->servers[i];
	pthread_mutex_unlock(&previous->lock);
	s->is_probed = false; /* for the other list */
}

struct dns_upstreams *dns_upstreams_create(const struct dns_endpoint *addrs, unsigned n,
	const struct dns_upstream_opts *opts, struct dns_upstreams *previous)
{
	static const struct haul_addr any;
	struct dns_upstreams *u = calloc(1, sizeof(*u) + n * sizeof(u->servers[0]));

	if (!u)
		return NULL;
	u->opts = *opts;
	u->n = n;
	u->refs = 1;
	pthread_mutex_init(&u->lock, NULL);
	for (unsigned i = 0; i < n; i++) {
		struct dns_server *s = &u->servers[i];

		s->addr = addrs[i];
		s->nb_cookie = DNS_COOKIE_CLIENT;
		dns_cookie_client(s->cookie, opts->secret, &addrs[i].addr, &any);
		if (previous)
			copy_known(s, previous);
	}
	return u;
}

void dns_upstreams_hold(struct dns_upstreams *u)
{
	pthread_mutex_lock(&u->lock);
	u->refs++;
	pthread_mutex_unlock(&u->lock);
}

void dns_upstreams_release(struct dns_upstreams *u)
{
	bool was_last;

	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	was_last = --u->refs == 0;
	pthread_mutex_unlock(&u->lock);
	if (!was_last)
		return;
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* A question to a server whose rest is over, beside the one that a client waits for. */
struct probe {
	struct dns_upstreams *u; /* a reference */
	struct dns_server *server;
	struct dns_key key;
};

static void end_probe(struct probe *p)
{
	pthread_mutex_lock(&p->u->lock);
	p->server->is_probed = false;
	pthread_mutex_unlock(&p->u->lock);
	dns_upstreams_release(p->u);
	free(p);
}

static void *probe(void *arg)
{
	struct probe *p = arg;
	struct dns_exchange x = {.host = p->u->opts.host,
		.server = p->server,
		.lock = &p->u->lock,
		.key = &p->key,
		.deadline = haul_in(DNS_RTO_MAX)};

	if (dns_exchange(&x) == 0)
		dns_answer_release(x.answer);
	end_probe(p);
	return NULL;
}

static void begin_probe(const struct dns_question *q, int server)
{
	static const struct haul_coro_opts opts = {.name = "probe"};
	struct dns_upstreams *u = q->upstreams;
	struct probe *p = malloc(sizeof(*p));

	if (!p) {
		pthread_mutex_lock(&u->lock);
		u->servers[server].is_probed = false; /* another time */
		pthread_mutex_unlock(&u->lock);
		return;
	}
	*p = (struct probe){.u = u, .server = &u->servers[server]};
	memcpy(&p->key, q->key, dns_key_size(q->key));
	dns_upstreams_hold(u);
	if (haul_spawn(NULL, probe, p, &opts) < 0)
		end_probe(p);
}

/* Returns the number of the server that is asked next; -1: all have failed. */
static int choose(struct dns_question *q)
{
	struct dns_upstreams *u = q->upstreams;
	int best, probed;

	pthread_mutex_lock(&u->lock);
	best = dns_server_choose(u->servers, u->n, q->asked | q->failed);
	if (best < 0 && q->asked & ~q->failed) {
		q->asked = 0;
		q->round++;
		best = dns_server_choose(u->servers, u->n, q->failed);
	}
	probed = best < 0 ? -1 : dns_server_to_probe(u->servers, u->n, haul_now());
	if (probed >= 0 && probed == best) {
		u->servers[probed].is_probed = false; /* by the question itself */
		probed = -1;
	}
	pthread_mutex_unlock(&u->lock);
	if (probed >= 0)
		begin_probe(q, probed);
	return best;
}

/* What becomes of the question after an exchange. Returns -EAGAIN: it goes on; or rc. */
static int go_on(struct dns_question *q, int server, int rc)
{
	uint64_t bit = UINT64_C(1) << server;

	q->asked |= bit;
	switch (rc) {
	case -EAGAIN:
		if (++q->again > AGAIN_MAX)
			q->failed |= bit;
		else
			q->asked &= ~bit;
		return -EAGAIN;
	case -EIO:
		q->failed |= bit;
		break;
	case -ETIMEDOUT:
		break;
	default:
		return rc;
	}
	q->again = 0;
	return -EAGAIN;
}

int dns_upstreams_ask(struct dns_question *q, struct dns_answer **answer, uint64_t deadline)
{
	struct dns_upstreams *u = q->upstreams;
	struct dns_exchange x = {.host = u->opts.host,
		.lock = &u->lock,
		.key = q->key,
		.stale = u->opts.stale,
		.deadline = deadline};
	int rc = -EAGAIN;

	while (rc == -EAGAIN) {
		int server;

		if (haul_now() >= deadline || ++q->tries > TRIES_MAX)
			return -ETIMEDOUT;
		server = choose(q);
		if (server < 0)
			return -EIO;
		x.server = &u->servers[server];
		x.round = q->round;
		rc = go_on(q, server, dns_exchange(&x));
	}
	*answer = x.answer;
	return rc;
}

bool dns_upstreams_get_stats(
	const struct dns_upstreams *u, unsigned i, struct dns_upstream_stats *stats)
{
	struct dns_upstreams *locked = (struct dns_upstreams *)(uintptr_t)u;
	const struct dns_server *s = &u->servers[i];

	if (i >= u->n)
		return false;
	pthread_mutex_lock(&locked->lock);
	*stats = (struct dns_upstream_stats){
		.addr = s->addr,
		.asked = s->asked,
		.asked_tcp = s->asked_tcp,
		.answered = s->answered,
		.failed = s->failed,
		.timeouts = s->timed_out,
		.round_trip_ns = s->deviation > 0 ? s->round_trip : 0,
		.rests = s->rest > 0,
	};
	pthread_mutex_unlock(&locked->lock);
	return true;
}
