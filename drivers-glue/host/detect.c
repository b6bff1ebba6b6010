/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/detect.h"

#include <sys/random.h>

#include "base/assert.h"
#include "host/announce.h"

/* RFC 5227, 1.1; RFC 4862, 5.1 and 5.4.2. */
#define FIRST_MOST HAUL_S
#define PROBES4 3
#define PROBES6 1
#define PAUSE_LEAST HAUL_S
#define PAUSE_MOST (2 * HAUL_S)
#define ANSWERS_UNTIL (2 * HAUL_S)

static uint64_t random_below(uint64_t most)
{
	uint64_t r = 0;

	if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return most; /* no harm: others wait a random time */
	return r % (most + 1);
}

static struct hauli_own *find(struct haul_host *host, unsigned port, struct hauli_ip ip)
{
	for (unsigned i = 0; i < host->nb_owns; i++)
		if (host->owns[i].port == port && hauli_ip_equal(host->owns[i].ip, ip))
			return &host->owns[i];
	return NULL;
}

void hauli_detect_count(struct haul_host *host)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < host->nb_owns; i++)
		n += host->owns[i].is_tentative;
	hauli_u32_published_set(&host->tentative, n);
}

void hauli_detect_begin(struct haul_host *host, struct hauli_own *own)
{
	struct hauli_announcement *a = hauli_host_announce(host, own, host->opts.announcements);

	own->is_duplicate = false;
	own->is_tentative = host->opts.detect_duplicates && a;
	if (own->is_tentative) {
		a->checks = true;
		a->probes = hauli_ip_is_4(own->ip) ? PROBES4 : PROBES6;
		a->at += random_below(FIRST_MOST);
	}
	hauli_detect_count(host);
}

bool hauli_detect_probes(struct haul_host *host, struct hauli_announcement *a, uint64_t now)
{
	struct hauli_own *own = find(host, a->port, a->ip);

	if (!own || !own->is_tentative) {
		a->left = 0;
		return false;
	}
	if (a->probes == 0) {
		own->is_tentative = false;
		hauli_detect_count(host);
		a->checks = false;
		return false;
	}
	if (--a->probes > 0)
		a->at = now + PAUSE_LEAST + random_below(PAUSE_MOST - PAUSE_LEAST);
	else
		a->at = now + (hauli_ip_is_4(a->ip) ? ANSWERS_UNTIL : host->opts.retrans_ns);
	return true;
}

bool hauli_detect_claims(struct haul_host *host, unsigned port, struct hauli_ip ip)
{
	struct hauli_own *own;
	bool is_ours;

	if (hauli_likely(hauli_u32_published_get(&host->tentative) == 0))
		return false;
	pthread_mutex_lock(&host->lock);
	own = find(host, port, ip);
	is_ours = own && own->is_tentative;
	if (is_ours) {
		own->is_tentative = false;
		own->is_duplicate = true;
		hauli_detect_count(host);
	}
	pthread_mutex_unlock(&host->lock);
	if (is_ours)
		hauli_u64_shared_add(&host->ports[port].duplicates, 1);
	return is_ours;
}

enum haul_address_state haul_host_address_state(
	struct haul_host *host, unsigned port, const struct haul_addr *address)
{
	enum haul_address_state state = HAUL_ADDRESS_NONE;
	const struct hauli_own *own;

	HAUL_MISUSE_IF(!host || !address, "NULL is given; give a host and an address");
	pthread_mutex_lock(&host->lock);
	own = find(host, port, hauli_ip_of_addr(address));
	if (own)
		state = own->is_tentative   ? HAUL_ADDRESS_TENTATIVE
			: own->is_duplicate ? HAUL_ADDRESS_DUPLICATE
					    : HAUL_ADDRESS_VALID;
	pthread_mutex_unlock(&host->lock);
	return state;
}
