/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

/* A choice takes 1/64 from the rank of those not chosen: one that is a hundred times slower
 * than the best is asked once in 300 questions. */
enum { FADE_SHIFT = 6 };

static bool is_better(const struct dns_server *a, const struct dns_server *b)
{
	if ((a->rest > 0) != (b->rest > 0))
		return b->rest > 0;
	if (a->rest > 0)
		return a->rests_until < b->rests_until;
	return a->rank < b->rank;
}

int dns_server_choose(struct dns_server *servers, unsigned n, uint64_t tried)
{
	int best = -1;

	for (unsigned i = 0; i < n; i++)
		if (!(tried >> i & 1) && (best < 0 || is_better(&servers[i], &servers[best])))
			best = (int)i;
	for (unsigned i = 0; i < n && best >= 0; i++)
		if ((int)i != best)
			servers[i].rank -= servers[i].rank >> FADE_SHIFT;
	return best;
}

int dns_server_to_probe(struct dns_server *servers, unsigned n, uint64_t now)
{
	for (unsigned i = 0; i < n; i++) {
		struct dns_server *s = &servers[i];

		if (s->rest > 0 && now >= s->rests_until && !s->is_probed) {
			s->is_probed = true;
			return (int)i;
		}
	}
	return -1;
}

uint64_t dns_server_patience(const struct dns_server *s, unsigned n)
{
	uint64_t ns = s->deviation > 0 ? s->round_trip + 4 * s->deviation : DNS_RTO_FIRST;

	if (ns < DNS_RTO_MIN)
		ns = DNS_RTO_MIN;
	ns <<= n < 8 ? n : 8;
	return ns < DNS_RTO_MAX ? ns : DNS_RTO_MAX;
}

void dns_server_replied(struct dns_server *s, uint64_t round_trip, uint64_t now)
{
	if (round_trip == 0)
		round_trip = 1;
	if (s->deviation == 0) {
		s->round_trip = round_trip;
		s->deviation = round_trip / 2 + 1;
	} else {
		uint64_t far = round_trip > s->round_trip ? round_trip - s->round_trip
							  : s->round_trip - round_trip;

		s->deviation = s->deviation - s->deviation / 4 + far / 4;
		s->round_trip = s->round_trip - s->round_trip / 8 + round_trip / 8;
		s->deviation += s->deviation == 0; /* 0: not known */
	}
	if (s->rank == 0 || s->timeouts > 0)
		s->rank = s->round_trip;
	else
		s->rank += round_trip / 8 - s->rank / 8;
	s->replied_at = now;
	s->timeouts = 0;
	s->rest = 0;
}

void dns_server_was_silent(struct dns_server *s, uint64_t now)
{
	s->timed_out++;
	if (s->timeouts < UINT8_MAX)
		s->timeouts++;
	/* Slower than any, until it replies. But other questions to it are not to wait longer: each
	 * has rounds of its own, and of many at once some are always lost on a bad path. */
	if (s->rank < DNS_RTO_MAX)
		s->rank = 2 * s->rank + DNS_RTO_MIN;
	if (s->timeouts < DNS_TIMEOUTS_MAX || (s->rest > 0 && now < s->rests_until))
		return;
	/* One slow name may take several questions, and others are answered meanwhile. */
	if (s->replied_at > 0 && now - s->replied_at < DNS_SILENCE)
		return;
	s->rest = s->rest == 0 ? DNS_REST_MIN : 2 * s->rest;
	if (s->rest > DNS_REST_MAX)
		s->rest = DNS_REST_MAX;
	s->rests_until = now + s->rest;
}
