/* SPDX-License-Identifier: BSD-3-Clause */
/* A host on two ports of a test, and the frames of its neighbours. */
#ifndef HAUL_TESTS_HOST_BED_H
#define HAUL_TESTS_HOST_BED_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <haul-dpdk/host.h>
#include <haul-dpdk/test.h>
#include <haul/build.h>
#include <haul/haul.h>

#define CARRIERS 3u

extern struct haul_test *bed;
extern struct haul_host *bed_host;
extern struct haul_reassembly *bed_fragments; /* NULL: the handler takes no fragments */
extern char line[256];
extern const char *wrong; /* what the body of a test found */
extern const uint8_t peer_mac[6], other_mac[6];

/* In the body of a test: check's macros cannot jump out of a coroutine. */
#define FAIL_UNLESS(condition)                                                          \
	do {                                                                            \
		if (!(condition)) {                                                     \
			if (!wrong)                                                     \
				wrong = #condition;                                     \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition); \
			return;                                                         \
		}                                                                       \
	} while (0)

/* Odd tests have a burst handler. */
void start(const struct haul_host_opts *opts, int number);
/* Runs the body of a test, and ends it. */
void run(void (*body)(void *), void *arg);
/* Starts the host with 10.0.0.1/24 and fd00::1/64 on port 0, 10.1.0.1/24 on port 1, and waits until
 * they have been announced. */
bool begin(void);

bool pass(uint64_t ns); /* lets virtual time pass */
struct haul_addr addr(const char *text);
bool is(const struct haul_addr *a, const char *text);
void own_mac(unsigned port, uint8_t mac[6]);

/* What a neighbour sends: an answer to the host (ARP, or an advertisement), an echo request (mac:
 * NULL: the host's), a question, an announcement. */
bool feed_answer(unsigned port, const char *from, const uint8_t mac[6], const char *to);
bool feed_echo(unsigned port, const char *to, const uint8_t *mac, uint16_t vlan);
bool feed_question(unsigned port, const char *from, const uint8_t mac[6], const char *about);
bool feed_announcement(unsigned port, const char *of, const uint8_t mac[6]);

/* True if the frame that was fed just now is the only one that the handler has got since the last
 * call, and was not answered. */
bool is_left(bool fed, unsigned port);

/* What the host has sent. */
struct said {
	enum haul_proto proto;
	uint8_t type; /* of ICMP; the ARP operation */
	uint64_t at;
	uint8_t to[6]; /* Ethernet */
	struct haul_addr src, target;
};

/* Takes the next frame of a port; false: there is none until then. */
bool next(unsigned port, struct said *s, uint64_t deadline);
bool is_to_all(const struct said *s);
bool is_question(const struct said *s, const char *about); /* of the host about an address */

struct haul_host_stats stats(unsigned port);
enum haul_neighbour_state state(unsigned port, const char *of);

/* A coroutine that looks up a neighbour. */
struct lookup {
	const char *of;
	unsigned port;
	uint64_t deadline;
	uint8_t mac[6];
	int err;
	uint64_t ended;
	struct haul_coro *co;
};

bool begin_lookup(struct lookup *l, unsigned carrier);

#endif
