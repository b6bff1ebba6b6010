/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latencies on a pair of interfaces by bare AF_PACKET sockets, as the peer of haul-fwd's generator:
 *
 *	packet-latency send FROM TO PACKETS PPS	sends and receives
 *	packet-latency listen ON PACKETS	receives what haul-fwd sends, by recvmsg()
 *	packet-latency ring ON PACKETS		the same by a ring that the kernel writes to, as
 *						DPDK's af_packet PMD does
 *	packet-latency stamps ON PACKETS	reads nothing before the end of its stdin: then the
 *						kernel's timestamps of what another program has
 *						received
 *
 * Prints the medians in ns of: sending to the kernel's timestamp at receipt (SO_TIMESTAMPNS), and
 * sending to receipt; 0 for what a mode has not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "../../apps/haul-fwd/stamp.h"

#define PAYLOAD 42 /* of UDP over IPv4 */
#define S UINT64_C(1000000000)
#define QUIET (3 * S) /* without packets: the rest is lost */
#define BUFFER (64 << 20) /* bytes: all packets of a run in mode stamps */

/* The ring of the PMD. */
#define FRAMES 512u
#define FRAME 2048u
#define BLOCK 4096u

static uint64_t *to_kernel, *to_user;
static unsigned n;
static uint64_t last; /* time of the last packet */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_on(const char *name)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	int on = 1, size = BUFFER;

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

/* kernel: its timestamp, or 0. */
static void note(const void *stamped, uint64_t kernel, uint64_t now)
{
	struct stamp stamp;

	if (!stamp_read(&stamp, stamped))
		return;
	to_kernel[n] = kernel ? stamp_age(&stamp, kernel) - stamp.late : 0;
	to_user[n] = stamp_age(&stamp, now) - stamp.late;
	n++;
	last = now;
}

static bool is_over(unsigned packets)
{
	return n == packets || (n > 0 && stamp_clock() - last > QUIET);
}

/* Receives a packet if there is one. False: there is none. */
static bool look(int fd, uint64_t offset)
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

	if (c && len >= PAYLOAD + STAMP_SIZE) {
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		note(frame + PAYLOAD, (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec + offset, now);
	}
	return len > 0;
}

static uint8_t *map_ring(int fd)
{
	const struct tpacket_req req = {.tp_block_size = BLOCK,
		.tp_block_nr = FRAMES * FRAME / BLOCK,
		.tp_frame_size = FRAME,
		.tp_frame_nr = FRAMES};
	int version = TPACKET_V2;
	void *ring;

	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) != 0 ||
		setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) != 0)
		die("PACKET_RX_RING");
	ring = mmap(NULL, FRAMES * FRAME, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	return ring;
}

static void listen_to_ring(int fd, unsigned packets)
{
	uint8_t *ring = map_ring(fd), frame[FRAME];

	puts("ready");
	fflush(stdout);
	for (unsigned i = 0; n < packets; i = (i + 1) % FRAMES) {
		struct tpacket2_hdr *head = (struct tpacket2_hdr *)(ring + i * FRAME);
		uint64_t now;

		while (!(__atomic_load_n(&head->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			if (is_over(packets))
				return;
		now = stamp_clock();
		memcpy(frame, (uint8_t *)head + head->tp_mac, head->tp_snaplen);
		if (head->tp_snaplen >= PAYLOAD + STAMP_SIZE)
			note(frame + PAYLOAD, 0, now);
		__atomic_store_n(&head->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	}
}

/* What has arrived before the end of stdin. */
static void read_stamps(int fd, uint64_t offset, unsigned packets)
{
	char byte;

	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	while (n < packets && look(fd, offset))
		;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values)
{
	qsort(values, n, sizeof(*values), by_value);
	return n > 0 ? values[n / 2] : 0;
}

/* from < 0: sends nothing. */
static void exchange(int from, int to, unsigned packets, uint64_t gap, uint64_t offset)
{
	uint8_t frame[60] = {0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x88, 0xb5};
	uint64_t at = stamp_clock() + gap;
	unsigned sent = 0;

	puts("ready");
	fflush(stdout);
	while (!is_over(packets)) {
		if (from >= 0 && sent < packets && stamp_clock() >= at) {
			const struct stamp stamp = {.intended = stamp_clock(), .sequence = sent++};

			stamp_write(frame + PAYLOAD, &stamp);
			if (send(from, frame, sizeof(frame), 0) < 0 && errno != ENOBUFS)
				die("send");
			at += gap;
		}
		look(to, offset);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[1] : "";
	bool sends = argc == 6 && strcmp(mode, "send") == 0;
	unsigned packets = argc > 3 ? (unsigned)atoi(argv[sends ? 4 : 3]) : 0;
	int to;

	if (packets == 0) {
		fprintf(stderr,
			"packet-latency send FROM TO PACKETS PPS | "
			"listen|ring|stamps ON PACKETS\n");
		return 2;
	}
	to_kernel = calloc(packets, sizeof(*to_kernel));
	to_user = calloc(packets, sizeof(*to_user));
	if (!to_kernel || !to_user)
		die("calloc");
	to = open_on(argv[sends ? 3 : 2]);
	if (sends)
		exchange(open_on(argv[2]), to, packets, S / (uint64_t)atoi(argv[5]),
			realtime_offset());
	else if (strcmp(mode, "ring") == 0)
		listen_to_ring(to, packets);
	else if (strcmp(mode, "stamps") == 0)
		read_stamps(to, realtime_offset(), packets);
	else
		exchange(-1, to, packets, 0, realtime_offset());
	printf("{\"to_kernel_p50_ns\": %lu, \"to_user_p50_ns\": %lu, \"count\": %u}\n",
		(unsigned long)median(to_kernel), (unsigned long)median(to_user), n);
	return 0;
}
