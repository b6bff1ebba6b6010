/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/steer.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include <rte_byteorder.h>

#include "net/flow.h"

/* The 32 bits of the key from this bit on. */
static uint32_t window(const uint8_t *key, unsigned bit)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < 5; i++)
		bits = bits << 8 | key[bit / 8 + i];
	return (uint32_t)(bits >> (8 - bit % 8));
}

int hauli_steer_set_key(struct hauli_steer *steer, const uint8_t *key)
{
	steer->adds = malloc(HAULI_STEER_BYTES * sizeof(*steer->adds));
	if (!steer->adds)
		return -ENOMEM;
	for (unsigned at = 0; at < HAULI_STEER_BYTES; at++) {
		for (unsigned byte = 0; byte < 256; byte++) {
			uint32_t sum = 0;

			for (unsigned bit = 0; bit < 8; bit++)
				if (byte & 0x80 >> bit)
					sum ^= window(key, 8 * at + bit);
			steer->adds[at][byte] = sum;
		}
	}
	return 0;
}

/* What n bytes add that begin at this place of what RSS hashes. */
static uint32_t add(const struct hauli_steer *steer, unsigned at, const void *bytes, unsigned n)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum ^= steer->adds[at + i][((const uint8_t *)bytes)[i]];
	return sum;
}

uint32_t hauli_steer_rss(const struct hauli_steer *steer, const struct hauli_flow_key *key)
{
	unsigned n = hauli_flow_is_ip6(key) ? 16 : 4;
	uint16_t ports[2] = {rte_cpu_to_be_16(hauli_flow_remote_port(key)),
		rte_cpu_to_be_16(hauli_flow_local_port(key))};

	return add(steer, 0, hauli_flow_remote(key), n) ^ add(steer, n, hauli_flow_local(key), n) ^
		add(steer, 2 * n, ports, sizeof(ports));
}

static unsigned queue_of(const struct hauli_steer *steer, const struct hauli_flow_key *key)
{
	if (steer->nb_queues == 1)
		return 0;
	/* Of ICMP it hashes the addresses at most, which leaves nothing to choose. */
	if (!steer->reta || !steer->rss[hauli_flow_is_ip6(key)] ||
		hauli_flow_protocol(key) != IPPROTO_UDP)
		return HAULI_STEER_UNKNOWN;
	return steer->reta[hauli_steer_rss(steer, key) & steer->reta_mask];
}

unsigned hauli_steer_carrier(const struct hauli_steer *steer, const struct hauli_flow_key *key)
{
	unsigned q = queue_of(steer, key);
	const struct hauli_steer_queue *queue;
	uint32_t flow;

	if (q >= steer->nb_queues)
		return HAULI_STEER_UNKNOWN;
	queue = &steer->queues[q];
	if (queue->ways == 1)
		return queue->carriers[0];
	flow = hauli_net_flow(hauli_flow_is_ip6(key), hauli_flow_protocol(key),
		hauli_flow_local(key), hauli_flow_local_port(key), hauli_flow_remote(key),
		hauli_flow_remote_port(key));
	return queue->carriers[(uint64_t)flow * queue->ways >> 32];
}

void hauli_steer_fini(struct hauli_steer *steer)
{
	for (unsigned q = 0; steer->queues && q < steer->nb_queues; q++)
		free(steer->queues[q].carriers);
	free(steer->queues);
	free(steer->reta);
	free(steer->adds);
	*steer = (struct hauli_steer){0};
}
