/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latencies on a pair of interfaces by bare AF_PACKET sockets, as the peer of haul-fwd's generator:
 *
 *	packet-latency send FROM TO PACKETS PPS		sends and receives
 *	packet-latency listen ON PACKETS		receives what haul-fwd sends
 *
 * Prints the medians in ns of: sending to the kernel's timestamp at receipt (SO_TIMESTAMPNS), and
 * sending to receipt.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "../../apps/haul-fwd/stamp.h"

#define PAYLOAD 42 /* of UDP over IPv4 */
#define S UINT64_C(1000000000)

static uint64_t *to_kernel, *to_user;
static unsigned n;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_on(const char *name)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	int on = 1, size = 8 << 20;

	at.sll_ifindex = (int)if_nametoindex(name);
	if (fd < 0 || at.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		die(name);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) != 0)
		die("SO_TIMESTAMPNS");
	return fd;
}

/* What is to be added to CLOCK_REALTIME for CLOCK_MONOTONIC: the closest of several readings. */
static uint64_t realtime_offset(void)
{
	uint64_t best = UINT64_MAX, offset = 0;

	for (int i = 0; i < 100; i++) {
		struct timespec t;
		uint64_t before = stamp_clock(), after;

		clock_gettime(CLOCK_REALTIME, &t);
		after = stamp_clock();
		if (after - before < best) {
			best = after - before;
			offset = before + best / 2 - ((uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec);
		}
	}
	return offset;
}

static void note(const struct stamp *stamp, uint64_t kernel, uint64_t now)
{
	uint64_t late = stamp->late;

	to_kernel[n] = stamp_age(stamp, kernel) - late;
	to_user[n] = stamp_age(stamp, now) - late;
	n++;
}

/* Receives a packet if there is one. */
static void look(int fd, uint64_t offset)
{
	uint8_t frame[2048];
	char control[64];
	struct iovec iov = {frame, sizeof(frame)};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	ssize_t len = recvmsg(fd, &m, MSG_DONTWAIT);
	uint64_t now = stamp_clock();
	struct cmsghdr *c = len > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	struct timespec t;
	struct stamp stamp;

	if (!c || len < PAYLOAD + STAMP_SIZE || !stamp_read(&stamp, frame + PAYLOAD))
		return;
	memcpy(&t, CMSG_DATA(c), sizeof(t));
	note(&stamp, (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec + offset, now);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

int main(int argc, char **argv)
{
	bool sends = argc == 6 && strcmp(argv[1], "send") == 0;
	unsigned packets = argc > 3 ? (unsigned)atoi(argv[sends ? 4 : 3]) : 0;
	uint64_t gap = sends ? S / (uint64_t)atoi(argv[5]) : 0;
	uint8_t frame[60] = {0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x88, 0xb5};
	uint64_t offset, at;
	int to, from = -1;
	unsigned sent = 0;

	if (packets == 0) {
		fprintf(stderr, "packet-latency send FROM TO PACKETS PPS | listen ON PACKETS\n");
		return 2;
	}
	to_kernel = calloc(packets, sizeof(*to_kernel));
	to_user = calloc(packets, sizeof(*to_user));
	to = open_on(argv[sends ? 3 : 2]);
	if (sends)
		from = open_on(argv[2]);
	if (!to_kernel || !to_user)
		die("calloc");
	puts("ready");
	fflush(stdout);
	offset = realtime_offset();
	at = stamp_clock() + gap;
	while (n < packets) {
		if (sends && sent < packets && stamp_clock() >= at) {
			const struct stamp stamp = {.intended = stamp_clock(), .sequence = sent++};

			stamp_write(frame + PAYLOAD, &stamp);
			if (send(from, frame, sizeof(frame), 0) < 0 && errno != ENOBUFS)
				die("send");
			at += gap;
		}
		look(to, offset);
	}
	printf("{\"to_kernel_p50_ns\": %lu, \"to_user_p50_ns\": %lu, \"count\": %u}\n",
		(unsigned long)median(to_kernel), (unsigned long)median(to_user), n);
	return 0;
}
