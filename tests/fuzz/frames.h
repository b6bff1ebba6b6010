/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of IP, read and given right checksums, by code that shares nothing with haul's. */
#ifndef HAUL_FUZZ_FRAMES_H
#define HAUL_FUZZ_FRAMES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ETHER = 14 };

__attribute__((always_inline)) static inline unsigned get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static inline void put16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/* Of bytes that look_at() has seen to be there: a third of the time with the sanitizers' checks. */
__attribute__((no_sanitize("address", "undefined", "coverage"))) static inline uint32_t add_up(
	uint32_t sum, const uint8_t *at, size_t n)
{
	for (; n > 1; at += 2, n -= 2)
		sum += get16(at);
	return sum + (n ? (uint32_t)*at << 8 : 0);
}

static inline uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* A frame's headers, as the RFCs have them. */
struct view {
	bool ip6;
	uint8_t proto;
	const uint8_t *ip, *src, *dst, *upper;
	size_t header, length; /* of the IP header alone; behind all headers of IP */
};

static inline bool skip_extensions(struct view *v)
{
	while (v->proto == IPPROTO_HOPOPTS || v->proto == IPPROTO_DSTOPTS ||
		v->proto == IPPROTO_ROUTING) {
		size_t n = v->length < 2 ? 0 : (v->upper[1] + 1U) * 8;

		if (n == 0 || n > v->length)
			return false;
		v->proto = v->upper[0];
		v->upper += n;
		v->length -= n;
	}
	return true;
}

/* False: not IP, or not all there. */
static inline bool look_at(struct view *v, const uint8_t *frame, size_t n)
{
	size_t l3 = n > 16 && get16(frame + 12) == 0x8100 ? ETHER + 4 : ETHER, total;
	const uint8_t *ip = frame + l3;

	if (n < l3 + 20)
		return false;
	v->ip = ip;
	v->ip6 = get16(ip - 2) == 0x86dd;
	if (!v->ip6 && get16(ip - 2) != 0x0800)
		return false;
	v->header = v->ip6 ? 40 : (ip[0] & 15U) * 4;
	total = v->ip6 ? 40 + get16(ip + 4) : get16(ip + 2);
	if (ip[0] >> 4 != (v->ip6 ? 6 : 4) || v->header < 20 || total < v->header || n < l3 + total)
		return false;
	v->proto = ip[v->ip6 ? 6 : 9];
	v->src = ip + (v->ip6 ? 8 : 12);
	v->dst = ip + (v->ip6 ? 24 : 16);
	v->upper = ip + v->header;
	v->length = total - v->header;
	return !v->ip6 || skip_extensions(v);
}

static inline bool has_sum(const struct view *v)
{
	return v->proto == IPPROTO_UDP || v->proto == IPPROTO_ICMP || v->proto == IPPROTO_ICMPV6;
}

/* The sum of the upper protocol, pseudo header included; 0xffff: it is right. */
static inline uint16_t upper_sum(const struct view *v)
{
	uint32_t sum = 0;

	if (v->proto != IPPROTO_ICMP)
		sum = add_up(sum, v->src, v->ip6 ? 32 : 8) + v->proto + (uint32_t)v->length;
	return fold(add_up(sum, v->upper, v->length));
}

static inline void fix(uint8_t *frame, size_t n)
{
	struct view v;
	uint8_t *at;

	if (!look_at(&v, frame, n))
		return;
	if (!v.ip6) {
		at = frame + (v.ip - frame) + 10;
		put16(at, 0);
		put16(at, (uint16_t)~fold(add_up(0, v.ip, v.header)));
	}
	at = frame + (v.upper - frame) + (v.proto == IPPROTO_UDP ? 6 : 2);
	if (!has_sum(&v) || v.length < 8)
		return;
	if (v.proto == IPPROTO_UDP && get16(v.upper + 4) >= 8 && get16(v.upper + 4) < v.length)
		v.length = get16(v.upper + 4);
	put16(at, 0);
	put16(at, (uint16_t)~upper_sum(&v));
	if (v.proto == IPPROTO_UDP && get16(at) == 0)
		put16(at, 0xffff);
}

#endif
