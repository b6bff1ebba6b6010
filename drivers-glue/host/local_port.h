/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The local ports of flows. Carrier c of n has the ports p with p % n == c, so a packet's port says
 * whose flow it may be of, without a table that carriers share. Which of them a flow gets nobody
 * else can guess (RFC 6056): that is half of what protects a question over UDP from forged answers.
 */
#ifndef HAULI_HOST_LOCAL_PORT_H
#define HAULI_HOST_LOCAL_PORT_H

#include "conc/word.h"
#include "host/steer.h"
#include "host/table.h"

/* The first one: those below are of well-known services. */
#define HAULI_LOCAL_PORT_MIN 1024u
#define HAULI_LOCAL_PORT_MAX 65535u

/* Numbers that nobody can guess. Of one carrier. All zero: ready for use. */
struct hauli_secret {
	unsigned left;
	uint32_t numbers[64];
};

/* 0 to n - 1, each as likely; n > 0. */
uint32_t hauli_secret_below(struct hauli_secret *s, uint32_t n);

/* A set of ports, read by all carriers. */
struct hauli_port_set {
	struct hauli_u8_shared bits[(HAULI_LOCAL_PORT_MAX + 1) / 8];
};

static inline bool hauli_port_set_has(const struct hauli_port_set *set, uint16_t port)
{
	return hauli_u8_shared_get(&set->bits[port / 8]) >> port % 8 & 1;
}

static inline void hauli_port_set_add(struct hauli_port_set *set, uint16_t port)
{
	hauli_u8_shared_set_bits(&set->bits[port / 8], (uint8_t)(1 << port % 8));
}

static inline void hauli_port_set_remove(struct hauli_port_set *set, uint16_t port)
{
	hauli_u8_shared_clear_bits(&set->bits[port / 8], (uint8_t)(1 << port % 8));
}

/* What a carrier chooses from. */
struct hauli_local_ports {
	const struct hauli_flow_table *table; /* of its flows */
	const struct hauli_port_set *reserved; /* not for flows */
	struct hauli_secret *secret;
	unsigned carrier, nb_carriers;
};

/*
 * Chooses the local port of *key, which has all but that: one whose replies come to the carrier, as
 * far as steer knows that (NULL: nothing), among a few drawn at random. Returns 0; -EADDRINUSE: the
 * carrier has flows to that remote end with all of its ports.
 */
int hauli_local_port_choose(const struct hauli_local_ports *from, const struct hauli_steer *steer,
	struct hauli_flow_key *key);

#endif
