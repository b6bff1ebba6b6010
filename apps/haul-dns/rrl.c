/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An account gets the rate, up to a second's worth, and pays one for each answer, sent or not; it
 * may owe as much as the rate brings in the window. While it owes, answers are limited. So a flood
 * is limited until it has ended, and for the window after that, as with BIND.
 *
 * All carriers use one table. An account is one word: a tag, and the time at which the account will
 * have a second's worth again, from which follows what it has now. To pay is to put that time off.
 *
 * Promise: all carriers together send no more for an account than the rate allows, while it is in
 * the table, but for those that it has when several carriers create it at once.
 *
 *	access                          why
 *	a word is read                  relaxed: it says all itself, and orders nothing
 *	a word is swapped for the       relaxed: only if it is still the one that was read. So each
 *	one with the later time         answer is paid by one swap, and two carriers that find room
 *	                                for one answer do not both send it
 *	a word is swapped for a new     the same: of two carriers that find the same account useless
 *	account                         one fails, and looks again
 *
 * A swap that fails is tried again. It fails only if another carrier's did not, so one of them goes
 * on. Where answers are sent, that is as often as the rate; and an account whose debt is as large
 * as it can be, or nearly so, is only read. So what a flood costs is a line that no carrier writes.
 *
 * Two carriers that both look for an account that is not there may find two different ones to
 * replace, if a third one changes the set in between. The set then has the account twice: one more
 * second's worth for each carrier at most. The first of them is used from then on.
 *
 * Accounts are in sets of eight, a cache line. A new one takes the place of that which is nearest
 * to a full account, for which nothing is forgotten if it is full.
 *
 * Times have 44 bits, which are enough for 50 days: an account that was not used for so long is
 * full, unless it is found in the one or two hours in which its time seems to come again.
 *
 * Model: tests/model/rrl.c. Stress: tests/unit/dns_rrl.c.
 */
#include "rrl.h"

#include <errno.h>
#include <haul/base.h>
#include <stdlib.h>

#include "address.h"

#include "conc/word.h"

enum { WAYS = 8, RATE_MAX = 100000, WINDOW_MAX = 3600, ENTRIES_MAX = 1 << 26 };

/* Of time, in units of 250 ns, so that the price of an answer is a whole number. */
enum { UNIT = 250, SECOND = 1000000000 / UNIT, TIME_BITS = 44 };

#define AHEAD (UINT64_C(3600) * SECOND) /* of an older time, at most */

#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)

struct set {
	struct hauli_u64_shared ways[WAYS]; /* tag, and time; 0: free */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct set) == 64, "a set is a cache line");

struct dns_rrl {
	/* Constant. */
	struct dns_rrl_opts opts;
	struct dns_secret secret;
	uint64_t prices[DNS_RRL_KINDS]; /* of an answer, in time; 0: none */
	uint64_t most; /* from now until an account is full */
	uint64_t mask;
	struct set *sets;
};

static bool is_valid(const struct dns_rrl_opts *o)
{
	return o->rate <= RATE_MAX && o->nxdomain_rate <= RATE_MAX && o->error_rate <= RATE_MAX &&
		o->window <= WINDOW_MAX && o->slip <= UINT8_MAX && o->prefix_4 <= 32 &&
		o->prefix_6 <= 128 && o->entries <= ENTRIES_MAX;
}

static uint64_t price_of(uint32_t rate)
{
	return rate > 0 ? SECOND / rate : 0;
}

int dns_rrl_create(
	struct dns_rrl **rrl, const struct dns_rrl_opts *opts, const struct dns_secret *secret)
{
	struct dns_rrl *r;
	size_t n = 1;

	if (!is_valid(opts))
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->opts = *opts;
	r->opts.window = opts->window > 0 ? opts->window : 15;
	r->opts.prefix_4 = opts->prefix_4 > 0 ? opts->prefix_4 : 24;
	r->opts.prefix_6 = opts->prefix_6 > 0 ? opts->prefix_6 : 56;
	r->secret = *secret;
	r->prices[DNS_RRL_ANSWER] = price_of(opts->rate);
	r->prices[DNS_RRL_NXDOMAIN] = price_of(opts->nxdomain_rate);
	r->prices[DNS_RRL_ERROR] = price_of(opts->error_rate);
	r->most = (1 + (uint64_t)r->opts.window) * SECOND;
	while (n * WAYS < (opts->entries > 0 ? opts->entries : 65536))
		n *= 2;
	r->mask = n - 1;
	r->sets = aligned_alloc(64, n * sizeof(struct set));
	if (!r->sets) {
		free(r);
		return -ENOMEM;
	}
	memset(r->sets, 0, n * sizeof(struct set));
	*rrl = r;
	return 0;
}

void dns_rrl_free(struct dns_rrl *r)
{
	if (r)
		free(r->sets);
	free(r);
}

static uint64_t hash_of(const struct dns_rrl *r, const struct haul_addr *client,
	enum dns_rrl_kind kind, uint64_t name)
{
	struct dns_sip sip = dns_sip_begin(&r->secret);
	struct haul_addr network = *client;

	dns_address_mask(&network, client->version == 4 ? r->opts.prefix_4 : r->opts.prefix_6);
	dns_sip_take(&sip, dns_load64(network.bytes), 1);
	dns_sip_take(&sip, dns_load64(network.bytes + 8), 1);
	dns_sip_take(&sip, kind == DNS_RRL_ANSWER ? name : 0, 1);
	dns_sip_take(&sip, kind | (uint64_t)client->version << 8, 1);
	return dns_sip_end(&sip, 3);
}

/* How long from now on an account is not full. A carrier's time may be older than that of the one
 * that paid last. */
static uint64_t lacks(const struct dns_rrl *r, uint64_t word, uint64_t now)
{
	uint64_t time = (word - now) & TIME_MASK;

	return time > r->most + AHEAD ? 0 : time; /* 0: it is past */
}

/* The account with the tag, or the one to replace, which is nearest to a full one. *word: what it
 * was when it was read. */
static struct hauli_u64_shared *find(
	const struct dns_rrl *r, struct set *set, uint64_t tag, uint64_t now, uint64_t *word)
{
	struct hauli_u64_shared *best = NULL;
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < WAYS; i++) {
		uint64_t w = hauli_u64_shared_get(&set->ways[i]), time;

		if (w >> TIME_BITS == tag) {
			*word = w;
			return &set->ways[i];
		}
		time = w == 0 ? 0 : lacks(r, w, now) + 1;
		if (time < least) {
			least = time;
			best = &set->ways[i];
			*word = w;
		}
	}
	return best;
}

/* Pays for an answer. Returns false if it is limited. */
static bool pay(
	const struct dns_rrl *r, struct set *set, uint64_t tag, uint64_t price, uint64_t now)
{
	for (;;) {
		uint64_t word, time;
		struct hauli_u64_shared *account = find(r, set, tag, now, &word);

		time = word >> TIME_BITS == tag ? lacks(r, word, now) : 0;
		/* A millisecond less does not matter. */
		if (time > r->most - SECOND / 1000)
			return false;
		time += price;
		if (time > r->most)
			time = r->most;
		if (hauli_u64_shared_swap(
			    account, word, tag << TIME_BITS | ((now + time) & TIME_MASK)))
			return time <= SECOND;
	}
}

enum dns_rrl_verdict dns_rrl_check(struct dns_rrl *r, const struct haul_addr *client,
	enum dns_rrl_kind kind, uint64_t name, uint64_t now)
{
	uint64_t hash;

	if (r->prices[kind] == 0)
		return DNS_RRL_SEND;
	hash = hash_of(r, client, kind, name);
	if (pay(r, &r->sets[hash & r->mask], hash >> TIME_BITS | 1, r->prices[kind], now / UNIT))
		return DNS_RRL_SEND;
	if (r->opts.slip == 0)
		return DNS_RRL_DROP;
	/* By chance, so that no carrier counts: a client cannot foresee the nanosecond. */
	return ((hash ^ now) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % r->opts.slip == 0
		? DNS_RRL_SLIP
		: DNS_RRL_DROP;
}
