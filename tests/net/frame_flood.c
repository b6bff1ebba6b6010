/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends a frame over and over out of an interface, with other bytes at random each time: what a
 * forger of packets does.
 *
 * Usage: frame_flood INTERFACE RATE SECONDS HEX [AT:LENGTH]...
 * RATE: frames a second; 0: as many as can be sent. AT: bytes from the beginning of the frame; they
 * become letters with AT:LENGTH:a. The checksum of an IPv4 header is set. Prints how many
 * frames it has sent, and in how many seconds. HAUL_SEED: of the random bytes.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"

enum { BATCH = 32, FRAME = 1514, FIELDS = 16, IP = 14 };

struct field {
	unsigned at, length;
	bool letters;
};

static struct field fields[FIELDS];
static unsigned nb_fields;
static uint8_t frames[BATCH][FRAME];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_interface(const char *name)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(name)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1, size = 4 << 20;

	if (fd < 0 || to.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		fail(name);
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return fd;
}

static size_t parse_frame(uint8_t *frame, const char *hex)
{
	size_t n = 0;
	unsigned byte;

	for (; n < FRAME && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		frame[n++] = (uint8_t)byte;
	return n;
}

static void set_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	ip[10] = ip[11] = 0;
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void change(uint8_t *frame, struct hauli_random *random)
{
	for (unsigned i = 0; i < nb_fields; i++)
		for (unsigned k = 0; k < fields[i].length; k++)
			frame[fields[i].at + k] = fields[i].letters
				? (uint8_t)('a' + hauli_random_below(random, 26))
				: (uint8_t)hauli_random_below(random, 256);
	if (frame[12] == 8 && frame[13] == 0)
		set_checksum(frame + IP);
}

int main(int argc, char **argv)
{
	struct mmsghdr msgs[BATCH];
	struct iovec pieces[BATCH];
	struct hauli_random random;
	double rate, seconds, began;
	uint64_t sent = 0;
	size_t n;
	int fd;

	if (argc < 5 || argc - 5 > FIELDS)
		return 2;
	hauli_random_init(
		&random, getenv("HAUL_SEED") ? strtoull(getenv("HAUL_SEED"), NULL, 0) : 1);
	fd = open_interface(argv[1]);
	rate = atof(argv[2]);
	seconds = atof(argv[3]);
	n = parse_frame(frames[0], argv[4]);
	for (int i = 5; i < argc; i++) {
		struct field *f = &fields[nb_fields++];

		if (sscanf(argv[i], "%u:%u", &f->at, &f->length) != 2 || f->at + f->length > n)
			return 2;
		f->letters = strstr(argv[i], ":a") != NULL;
	}
	memset(msgs, 0, sizeof(msgs));
	for (unsigned i = 0; i < BATCH; i++) {
		memcpy(frames[i], frames[0], n);
		pieces[i] = (struct iovec){frames[i], n};
		msgs[i].msg_hdr.msg_iov = &pieces[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	began = now();
	while (now() - began < seconds) {
		int done;

		if (rate > 0 && (double)sent > rate * (now() - began)) {
			usleep(100); /* until more are due */
			continue;
		}
		for (unsigned i = 0; i < BATCH; i++)
			change(frames[i], &random);
		done = sendmmsg(fd, msgs, BATCH, 0);
		sent += done > 0 ? (uint64_t)done : 0;
	}
	printf("%ju %.3f\n", (uintmax_t)sent, now() - began);
	return 0;
}
