/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>

#include <haul/haul.h>

#include "tcp_ask.h"

enum {
	DATAGRAM_MAX = 2048, /* bytes of a reply by UDP: more than we say we take */
	/* In a row: then letters stay as they are, and a cookie is forgotten even if no TCP tells
	 * that the server has none. */
	LOSSES_MAX = 4,
};
#define TCP_TIME (2 * HAUL_S)

/* A question, and what came back. */
struct
try {
	struct dns_exchange *x;
	struct dns_ask ask;
	uint64_t patience; /* ns */
	bool expects_cookie, same_case;
	enum dns_reply verdict;
	bool case_lost;
	struct dns_reply_info info;
};

/* Numbers that cannot be guessed, of the carrier that runs the caller, until its next suspension.
 * NULL: no memory. */
static struct dns_random *random_here(void)
{
	static struct haul_local pools = HAUL_LOCAL(free);
	struct dns_random *r = haul_local_get(&pools);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (r && haul_local_set(&pools, r) < 0) {
		free(r);
		r = NULL;
	}
	return r;
}

/* Makes the question in the way that this server takes it. */
static int make_question(struct try *t)
{
	const struct dns_server *s = t->x->server;
	struct dns_random *random = random_here();
	uint8_t cookie[DNS_COOKIE_MAX];
	struct dns_ask_opts opts = {.cookie = cookie};
	uint64_t now = haul_now();

	if (!random)
		return -ENOMEM;
	pthread_mutex_lock(t->x->lock);
	t->x->server->asked++;
	t->patience = dns_server_patience(s, t->x->round);
	opts.without_edns = now < s->plain_until;
	opts.same_case = now < s->same_case_until;
	memcpy(cookie, s->cookie, s->nb_cookie);
	opts.nb_cookie = s->nb_cookie;
	pthread_mutex_unlock(t->x->lock);
	t->expects_cookie = opts.nb_cookie > DNS_COOKIE_CLIENT && !opts.without_edns;
	t->same_case = opts.same_case;
	dns_ask_make(&t->ask, t->x->key, &opts, random);
	return 0;
}

/* haul_request_opts.is_reply */
static bool is_reply(void *arg, const struct rte_mbuf *pkt)
{
	const uint8_t *msg = rte_pktmbuf_mtod(pkt, const uint8_t *);
	size_t n = rte_pktmbuf_data_len(pkt);
	struct try *t = arg;

	if (pkt->nb_segs > 1 || n > DATAGRAM_MAX)
		return false;
	t->verdict = dns_reply_judge(&t->ask, msg, n, t->expects_cookie, &t->info);
	if (t->verdict != DNS_REPLY_OTHER)
		return true;
	/* Right but for the case of its letters: from a server that does not repeat it, or forged
	 * by somebody who has guessed the port and the id. TCP tells which. */
	t->case_lost = n > DNS_HEADER && memcmp(msg, t->ask.msg, 2) == 0 &&
		(dns_get16(msg + 2) & DNS_QR) &&
		memcmp(msg + DNS_HEADER, t->ask.msg + DNS_HEADER, t->ask.question) != 0 &&
		dns_name_is(msg, n, DNS_HEADER, dns_key_name(t->ask.key), t->ask.key->length);
	return t->case_lost;
}

/* Anybody may have sent it who guesses a port and an id, so it is to be said again by TCP. */
static bool is_doubtful(const struct try *t)
{
	return t->case_lost || t->verdict == DNS_REPLY_NO_COOKIE;
}

/* Under the lock. */
static void learn_more(struct dns_server *s, const struct try *t)
{
	const struct dns_edns *e = &t->info.edns;

	if (e->nb_cookie > DNS_COOKIE_CLIENT) {
		s->cookie_losses = 0;
		memcpy(s->cookie, e->cookie, e->nb_cookie);
		s->nb_cookie = e->nb_cookie;
	}
	if (t->verdict == DNS_REPLY_NO_EDNS)
		s->plain_until = haul_now() + DNS_FORGIVEN;
}

/* Under the lock. The server's part. */
static void forget_cookie(struct dns_server *s)
{
	s->nb_cookie = DNS_COOKIE_CLIENT;
	s->cookie_losses = 0;
}

static void learn(const struct try *t, uint64_t round_trip)
{
	struct dns_server *s = t->x->server;

	pthread_mutex_lock(t->x->lock);
	dns_server_replied(s, round_trip, haul_now());
	if (t->case_lost && ++s->case_losses >= LOSSES_MAX)
		s->same_case_until = haul_now() + DNS_FORGIVEN;
	if (t->verdict == DNS_REPLY_NO_COOKIE && ++s->cookie_losses >= LOSSES_MAX)
		forget_cookie(s);
	if (!is_doubtful(t)) {
		if (!t->same_case)
			s->case_losses = 0;
		learn_more(s, t);
	}
	pthread_mutex_unlock(t->x->lock);
}

/* From a reply by TCP. lost_cookie: one by UDP had none. */
static void learn_by_tcp(const struct try *t, bool lost_cookie)
{
	struct dns_server *s = t->x->server;

	pthread_mutex_lock(t->x->lock);
	if (lost_cookie && t->info.edns.nb_cookie <= DNS_COOKIE_CLIENT)
		forget_cookie(s);
	learn_more(s, t);
	pthread_mutex_unlock(t->x->lock);
}

static int fail(struct dns_exchange *x)
{
	pthread_mutex_lock(x->lock);
	x->server->failed++;
	pthread_mutex_unlock(x->lock);
	return -EIO;
}

static int be_silent(struct dns_exchange *x)
{
	pthread_mutex_lock(x->lock);
	dns_server_was_silent(x->server, haul_now());
	pthread_mutex_unlock(x->lock);
	return -ETIMEDOUT;
}

static int keep(struct try *t, const uint8_t *reply, size_t n)
{
	const struct dns_keep_opts opts = {.now = haul_now(), .stale = t->x->stale};
	int rc = dns_reply_keep(&t->x->answer, &t->ask, reply, n, &opts);

	if (rc == -ENOMEM)
		return rc;
	if (rc < 0)
		return fail(t->x);
	pthread_mutex_lock(t->x->lock);
	t->x->server->answered++;
	pthread_mutex_unlock(t->x->lock);
	return 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What to do with a reply that is ours. */
static int take(struct try *t, const uint8_t *reply, size_t n)
{
	switch (t->verdict) {
	case DNS_REPLY_GOOD:
		return keep(t, reply, n);
	case DNS_REPLY_NO_EDNS:
	case DNS_REPLY_BAD_COOKIE:
		return -EAGAIN;
	default:
		return fail(t->x);
	}
}

static int take_tcp(struct try *t, const uint8_t *reply, size_t n)
{
	bool lost_cookie = t->verdict == DNS_REPLY_NO_COOKIE;

	t->verdict = dns_reply_judge(&t->ask, reply, n, false, &t->info);
	if (t->verdict != DNS_REPLY_OTHER)
		learn_by_tcp(t, lost_cookie);
	return take(t, reply, n);
}

/* Errors of a socket that say nothing about the server. */
static bool is_own(int error)
{
	switch (error) {
	case -ECANCELED:
	case -ENOMEM:
	case -ENOBUFS:
	case -EMFILE:
	case -ENFILE:
	case -EADDRNOTAVAIL: /* no port is left */
		return true;
	default:
		return false;
	}
}

/* The same question again, as the reply did not fit, or could have been forged. */
static int ask_by_tcp(struct try *t)
{
	const struct dns_endpoint *to = &t->x->server->addr;
	uint64_t until = earlier(t->x->deadline, haul_in(TCP_TIME));
	uint8_t *reply = malloc(DNS_MESSAGE_MAX);
	int n;

	if (!reply)
		return -ENOMEM;
	pthread_mutex_lock(t->x->lock);
	t->x->server->asked_tcp++;
	pthread_mutex_unlock(t->x->lock);
	n = dns_tcp_ask(&to->addr, to->port, t->ask.msg, t->ask.n, reply, DNS_MESSAGE_MAX, until);
	if (n >= 0)
		n = take_tcp(t, reply, (size_t)n);
	else if (!is_own(n) && (n != -ETIMEDOUT || until < t->x->deadline))
		n = fail(t->x);
	free(reply);
	return n;
}

int dns_exchange(struct dns_exchange *x)
{
	const struct dns_endpoint *to = &x->server->addr;
	struct try t = {.x = x};
	struct haul_request_opts opts = {.tries = 1, .is_reply = is_reply, .arg = &t};
	uint8_t reply[DATAGRAM_MAX];
	uint64_t began;
	int n = make_question(&t);

	if (n < 0)
		return n;
	opts.first_ns = t.patience;
	began = haul_now();
	n = haul_request(x->host, &to->addr, to->port, t.ask.msg, t.ask.n, reply, sizeof(reply),
		&opts, x->deadline);
	if (n >= 0) {
		learn(&t, haul_now() - began);
		if (is_doubtful(&t) || t.verdict == DNS_REPLY_TRUNCATED)
			return ask_by_tcp(&t);
		return take(&t, reply, (size_t)n);
	}
	switch (n) {
	case -ECANCELED:
	case -ENOMEM:
	case -ENOBUFS:
	case -EADDRINUSE:
	case -EPERM:
		return n;
	case -ETIMEDOUT:
		/* A deadline that is shorter than patience says nothing. */
		return haul_now() - began >= t.patience ? be_silent(x) : n;
	default: /* ICMP, or no route */
		(void)be_silent(x);
		return fail(x);
	}
}
