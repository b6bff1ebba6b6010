/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame is looked at when it is sent on a link, so the first link on which two have the wrong
 * order begins at the node whose program has changed it. What links themselves do to a frame they
 * tell: it is known by its flow and number from then on, since a program that passes it on makes
 * another frame of it.
 */
#include "simnet/order.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-sim/sim.h>

#include "sim/world.h"

#define TYPE_AT 12 /* of Ethernet */
#define TYPE_IP4 0x0800
#define TYPE_IP6 0x86dd
#define TYPE_VLAN 0x8100
#define TYPE_QINQ 0x88a8
#define PROTO_UDP 17
#define UDP_HEADER 8

struct entry {
	uint64_t flow, of; /* of: a link, or the number of a frame */
	uint64_t number, at; /* the last one on the link */
	bool is_used;
};

/* Open addressing, never more than half full. */
struct table {
	struct entry *entries;
	size_t size, used;
};

static bool (*number_of)(const uint8_t *data, uint32_t len, struct haul_sim_number *number);
static struct table last, spared;

static struct entry *place_of(const struct table *t, uint64_t flow, uint64_t of)
{
	uint64_t hash = (flow * UINT64_C(0x9e3779b97f4a7c15) ^ of) * UINT64_C(0xbf58476d1ce4e5b9);
	size_t i = (size_t)(hash >> 32) & (t->size - 1);

	while (t->entries[i].is_used && (t->entries[i].flow != flow || t->entries[i].of != of))
		i = (i + 1) & (t->size - 1);
	return &t->entries[i];
}

static bool has(const struct table *t, uint64_t flow, uint64_t of)
{
	return t->size > 0 && place_of(t, flow, of)->is_used;
}

static void grow(struct table *t)
{
	struct table old = *t;

	t->size = old.size ? 2 * old.size : 64;
	t->entries = hauli_sim_needed(calloc(t->size, sizeof(t->entries[0])));
	for (size_t i = 0; i < old.size; i++)
		if (old.entries[i].is_used)
			*place_of(t, old.entries[i].flow, old.entries[i].of) = old.entries[i];
	free(old.entries);
}

/* A new one has is_used false. */
static struct entry *get(struct table *t, uint64_t flow, uint64_t of)
{
	struct entry *e;

	if (2 * (t->used + 1) > t->size)
		grow(t);
	e = place_of(t, flow, of);
	if (!e->is_used) {
		e->flow = flow;
		e->of = of;
		t->used++;
	}
	return e;
}

/* UDP, not in fragments. */
struct datagram {
	unsigned version;
	const uint8_t *src, *dst; /* addresses */
	const uint8_t *ports, *payload;
	uint32_t len; /* of payload */
};

static unsigned get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static bool parse_ip4(struct datagram *d, const uint8_t *ip, uint32_t len)
{
	uint32_t header;

	if (len < 20 || ip[0] >> 4 != 4 || ip[9] != PROTO_UDP || get16(ip + 6) & 0x3fff)
		return false;
	header = 4u * (ip[0] & 15);
	if (header < 20 || len < header + UDP_HEADER)
		return false;
	*d = (struct datagram){4, ip + 12, ip + 16, ip + header, ip + header + UDP_HEADER,
		len - header - UDP_HEADER};
	return true;
}

static bool parse_ip6(struct datagram *d, const uint8_t *ip, uint32_t len)
{
	if (len < 40 + UDP_HEADER || ip[0] >> 4 != 6 || ip[6] != PROTO_UDP)
		return false;
	*d = (struct datagram){
		6, ip + 8, ip + 24, ip + 40, ip + 40 + UDP_HEADER, len - 40 - UDP_HEADER};
	return true;
}

static bool parse(struct datagram *d, const uint8_t *data, uint32_t len)
{
	uint32_t at = TYPE_AT;

	while (len >= at + 6 && (get16(data + at) == TYPE_VLAN || get16(data + at) == TYPE_QINQ))
		at += 4;
	if (len < at + 2)
		return false;
	if (get16(data + at) == TYPE_IP4)
		return parse_ip4(d, data + at + 2, len - at - 2);
	return get16(data + at) == TYPE_IP6 && parse_ip6(d, data + at + 2, len - at - 2);
}

static uint64_t hash(uint64_t sum, const uint8_t *bytes, size_t n)
{
	while (n-- > 0)
		sum = (sum ^ *bytes++) * UINT64_C(1099511628211); /* FNV-1a */
	return sum;
}

static bool number_of_datagram(const uint8_t *data, uint32_t len, struct haul_sim_number *number)
{
	struct datagram d;

	if (!parse(&d, data, len) || d.len < 8)
		return false;
	/* Both addresses, which are adjacent, and both ports. */
	number->flow = hash(
		hash(UINT64_C(14695981039346656037), d.src, d.version == 4 ? 8 : 32), d.ports, 4);
	number->number = 0;
	for (unsigned i = 0; i < 8; i++)
		number->number = number->number << 8 | d.payload[i];
	return true;
}

void haul_sim_in_order(
	bool (*fn)(const uint8_t *data, uint32_t len, struct haul_sim_number *number))
{
	number_of = fn ? fn : number_of_datagram;
}

void hauli_order_spare(const struct hauli_frame *frame)
{
	struct haul_sim_number n;

	if (number_of && number_of(frame->data, frame->len, &n))
		get(&spared, n.flow, n.number)->is_used = true;
}

static void describe(char *text, size_t len, const struct hauli_frame *frame, uint64_t flow)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	struct datagram d;

	if (!parse(&d, frame->data, frame->len)) {
		snprintf(text, len, "flow %" PRIu64, flow);
		return;
	}
	inet_ntop(d.version == 4 ? AF_INET : AF_INET6, d.src, src, sizeof(src));
	inet_ntop(d.version == 4 ? AF_INET : AF_INET6, d.dst, dst, sizeof(dst));
	snprintf(text, len, "%s port %u to %s port %u", src, get16(d.ports), dst,
		get16(d.ports + 2));
}

void hauli_order_look(const struct hauli_simlink *link, const struct hauli_frame *frame)
{
	struct haul_sim_number n;
	struct entry *before;
	uint64_t now = hauli_sim_passed();
	char flow[160];

	if (!number_of || !number_of(frame->data, frame->len, &n) || has(&spared, n.flow, n.number))
		return;
	before = get(&last, n.flow, (uintptr_t)link);
	if (before->is_used && n.number < before->number) {
		describe(flow, sizeof(flow), frame, n.flow);
		haul_sim_fail("link %s > %s: %s: number %" PRIu64 ", at %" PRIu64 ".%09" PRIu64
			      " s, is behind number %" PRIu64 ", at %" PRIu64 ".%09" PRIu64 " s",
			link->from->name, link->to->name, flow, n.number, now / HAUL_S,
			now % HAUL_S, before->number, before->at / HAUL_S, before->at % HAUL_S);
	}
	before->number = n.number;
	before->at = now;
	before->is_used = true;
}
