/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/local_port.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/assert.h"

/* Of n carriers each is right with probability 1 / n: of 4 n ports, all are wrong with probability
 * 1 / e^4, two in a hundred. */
#define DRAWS_PER_CARRIER 4

static uint32_t next(struct hauli_secret *s)
{
	if (s->left == 0) {
		/* Never interrupted, as it is no more than 256 bytes. */
		HAUL_BUG_ON(getrandom(s->numbers, sizeof(s->numbers), 0) !=
			(ssize_t)sizeof(s->numbers));
		s->left = sizeof(s->numbers) / sizeof(s->numbers[0]);
	}
	return s->numbers[--s->left];
}

uint32_t hauli_secret_below(struct hauli_secret *s, uint32_t n)
{
	uint64_t product = (uint64_t)next(s) * n;

	/* Lemire, "Fast random integer generation in an interval", 2019: the first 2^32 % n values
	 * of the low half would make some results likelier. */
	if ((uint32_t)product < n)
		while ((uint32_t)product < -n % n)
			product = (uint64_t)next(s) * n;
	return (uint32_t)(product >> 32);
}

/* The ports of a carrier: first, first + n, ..., count of them. */
static uint32_t first_of(const struct hauli_local_ports *from)
{
	uint32_t n = from->nb_carriers;

	return HAULI_LOCAL_PORT_MIN + (from->carrier + n - HAULI_LOCAL_PORT_MIN % n) % n;
}

static void set_port(struct hauli_flow_key *key, uint32_t port)
{
	key->w[0] = (key->w[0] & ~(UINT64_C(0xffff) << 48)) | (uint64_t)port << 48;
}

static bool is_free(const struct hauli_local_ports *from, struct hauli_flow_key *key, uint32_t port)
{
	if (hauli_port_set_has(from->reserved, (uint16_t)port))
		return false;
	set_port(key, port);
	return !hauli_flow_table_find(from->table, key);
}

/* The first free one from the i-th on; 0: there is none. */
static uint32_t any_free(const struct hauli_local_ports *from, struct hauli_flow_key *key,
	uint32_t first, uint32_t count, uint32_t i)
{
	for (uint32_t k = 0; k < count; k++) {
		uint32_t port = first + (i + k) % count * from->nb_carriers;

		if (is_free(from, key, port))
			return port;
	}
	return 0;
}

int hauli_local_port_choose(const struct hauli_local_ports *from, const struct hauli_steer *steer,
	struct hauli_flow_key *key)
{
	uint32_t first = first_of(from), chosen = 0;
	uint32_t count = (HAULI_LOCAL_PORT_MAX - first) / from->nb_carriers + 1;

	for (unsigned i = 0; i < DRAWS_PER_CARRIER * from->nb_carriers; i++) {
		uint32_t port = first + hauli_secret_below(from->secret, count) * from->nb_carriers;
		unsigned to;

		if (!is_free(from, key, port))
			continue;
		chosen = port;
		to = steer ? hauli_steer_carrier(steer, key) : HAULI_STEER_UNKNOWN;
		if (to == from->carrier || to == HAULI_STEER_UNKNOWN)
			break;
	}
	if (chosen == 0)
		chosen = any_free(from, key, first, count, hauli_secret_below(from->secret, count));
	set_port(key, chosen);
	return chosen ? 0 : -EADDRINUSE;
}
