/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the sides of bench-wake. One thread sends a frame with the time in it, from the other
 * end of the wire; a receiver on another CPU computes the frame's age when its packet handling
 * begins, and answers with it. One frame is under way at a time, so that each finds the receiver
 * asleep.
 */
#ifndef PERF_WAKE_H
#define PERF_WAKE_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/harness.h"

#define WAKE_TYPE 0x88b5 /* an EtherType for local experiments */

enum wake_kind {
	WAKE_TAP,
	WAKE_AFPACKET,
	WAKE_AFXDP,
};

struct wake_frame {
	uint8_t destination[6], source[6];
	uint16_t type;
	uint64_t sent; /* ns; 0: the receiver must end */
	uint64_t age; /* ns, measured by the receiver: the answer */
	uint8_t padding[30];
} __attribute__((packed));

enum wake_what {
	WAKE_IGNORE,
	WAKE_ANSWER,
	WAKE_END,
};

/* A receiver's first step with a packet. */
static inline enum wake_what wake_take(void *data, size_t len)
{
	uint64_t now = perf_now();
	struct wake_frame *f = data;

	if (len < sizeof(*f) || f->type != htons(WAKE_TYPE))
		return WAKE_IGNORE;
	if (f->sent == 0)
		return WAKE_END;
	f->age = now - f->sent;
	return WAKE_ANSWER;
}

/* wake-ask.c: the asking thread, which is the harness's. */
struct wake_asker {
	const char *name; /* of the side that answers */
	int fd;
	uint64_t *ages; /* of all runs, for the tail */
	size_t nb_ages;
};

/* Sends and receives on that interface, from the second CPU. 0, or -errno with a line. */
int wake_asker_open(struct wake_asker *asker, const char *name, const char *iface);
void wake_asker_close(struct wake_asker *asker);

/* Asks n times, at random gaps, and returns n times the median age: a run's time. Updates the p99
 * of all runs so far. Ends the process if an answer does not come. */
uint64_t wake_ask(struct wake_asker *asker, uint64_t n);

/* Ends the receiver. */
void wake_ask_end(struct wake_asker *asker);

/* wake-loop.c: the peers without haul. Both run until the asker ends them. */
struct wake_dpdk {
	uint16_t port_id, queue_id;
	int fd; /* the descriptor to wait on */
	bool signals; /* the TAP PMD reads only after a signal to the polling thread */
};
void *wake_dpdk_loop(void *dpdk);
void *wake_socket_loop(void *fd); /* a TAP's descriptor or a packet socket, nonblocking */

/* A new TAP, up; or a packet socket that receives our frames on an interface. -errno on failure. */
int wake_tap_open(const char *iface);
int wake_socket_open(const char *iface);

/* wake-haul.c: on the bed's port and carrier. */
int wake_dpdk_find(struct wake_dpdk *dpdk, enum wake_kind kind); /* call before opening an asker */
uint64_t wake_by_haul(struct wake_asker *asker, uint64_t n);
uint64_t wake_by_dpdk(struct wake_asker *asker, struct wake_dpdk *dpdk, uint64_t n);

#endif
