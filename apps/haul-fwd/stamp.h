/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stamp that each frame of the generator carries at the beginning of its UDP or TCP payload: 18
 * bytes, so that the shortest Ethernet frame holds it. Times are those of CLOCK_MONOTONIC, so any
 * process of the same machine can compare them with its own.
 *
 *	0	magic			16 bits, as all big-endian
 *	2	flow			16 bits
 *	4	sequence in the flow	32 bits
 *	8	intended send time	40 bits, ns; the higher bits follow from the time of receipt
 *	13	run			8 bits: tells generators apart
 *	14	actual send time	32 bits, ns since the intended one; at most 4.29 s
 */
#ifndef FWD_STAMP_H
#define FWD_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <rte_byteorder.h>

#define STAMP_SIZE 18
#define STAMP_MAGIC UINT64_C(0x68f5)

struct stamp {
	uint64_t intended; /* ns; stamp_read(): the lower 40 bits */
	uint64_t late; /* ns from the intended to the actual send time */
	uint32_t sequence;
	uint16_t flow;
	uint8_t run;
};

static inline uint64_t stamp_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t); /* no system call: the TSC, as the kernel keeps it */
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The bytes of a stamp behind the sequence number: the same for all packets of a burst. */
struct stamp_tail {
	uint64_t times;
	uint16_t late;
	uint64_t sum; /* of the 16-bit words, modulo 65,535 */
};

static inline struct stamp_tail stamp_tail(const struct stamp *s)
{
	uint32_t late = s->late < UINT32_MAX ? (uint32_t)s->late : UINT32_MAX;
	uint64_t b = rte_cpu_to_be_64(s->intended << 24 | (uint64_t)s->run << 16 | late >> 16);
	uint16_t c = rte_cpu_to_be_16((uint16_t)late);

	return (struct stamp_tail){b, c, (b & UINT32_MAX) + (b >> 32) + c};
}

/* Writes a stamp, and returns the sum of its 16-bit words, for a checksum (RFC 1071). */
static inline uint64_t stamp_write_with(
	void *to, uint16_t flow, uint32_t sequence, const struct stamp_tail *tail)
{
	uint64_t a = rte_cpu_to_be_64(STAMP_MAGIC << 48 | (uint64_t)flow << 32 | sequence);

	memcpy(to, &a, 8);
	memcpy((char *)to + 8, &tail->times, 8);
	memcpy((char *)to + 16, &tail->late, 2);
	return (a & UINT32_MAX) + (a >> 32) + tail->sum;
}

static inline uint64_t stamp_write(void *to, const struct stamp *s)
{
	struct stamp_tail tail = stamp_tail(s);

	return stamp_write_with(to, s->flow, s->sequence, &tail);
}

static inline bool stamp_read(struct stamp *s, const void *from)
{
	uint64_t a, b;
	uint16_t c;

	memcpy(&a, from, 8);
	memcpy(&b, (const char *)from + 8, 8);
	memcpy(&c, (const char *)from + 16, 2);
	a = rte_be_to_cpu_64(a);
	b = rte_be_to_cpu_64(b);
	s->flow = (uint16_t)(a >> 32);
	s->sequence = (uint32_t)a;
	s->intended = b >> 24;
	s->run = (uint8_t)(b >> 16);
	s->late = (b & UINT16_MAX) << 16 | rte_be_to_cpu_16(c);
	return a >> 48 == STAMP_MAGIC;
}

/* Time from the intended send time to now: 0 to 2^39 ns (9 minutes). A time before it, by which the
 * clocks of CPUs may differ, counts as 0. */
static inline uint64_t stamp_age(const struct stamp *s, uint64_t now)
{
	uint64_t age = (now - s->intended) & ((UINT64_C(1) << 40) - 1);

	return age < UINT64_C(1) << 39 ? age : 0;
}

#endif
