/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A steady load for an echo service over UDP, and what has become of it: each datagram has a number
 * in its flow; one that comes after a later one has been overtaken.
 *
 *	steady ADDRESS PORT FLOWS PACKETS_PER_SECOND SECONDS
 *
 * prints: {"sent": N, "lost": N, "reordered": N, "twice": N, "longest_gap_ms": N}
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conc/word.h"

#define MS 1000000ull
#define LAST_NS (2000 * MS) /* for the last answers */
#define BUFFER (64 << 20)

struct flow {
	int fd;
	uint32_t sent, received, expected;
	uint8_t *seen; /* by number */
};

static struct flow *flows;
static unsigned nb_flows;
static uint64_t reordered, twice, gap, last_at;
static struct hauli_u32_published all_sent;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void take(struct flow *f, uint32_t number)
{
	if (f->seen[number]) {
		twice++;
		return;
	}
	f->seen[number] = 1;
	f->received++;
	if (number < f->expected)
		reordered++;
	else
		f->expected = number + 1;
}

static void drain(struct flow *f)
{
	uint32_t number;

	while (recv(f->fd, &number, sizeof(number), MSG_DONTWAIT) == sizeof(number)) {
		uint64_t at = now();

		if (last_at && at - last_at > gap)
			gap = at - last_at;
		last_at = at;
		if (number < f->sent)
			take(f, number);
	}
}

static void *receive(void *arg)
{
	struct epoll_event events[64];
	int epoll = epoll_create1(0);
	uint64_t end = 0;

	for (unsigned i = 0; i < nb_flows; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};

		epoll_ctl(epoll, EPOLL_CTL_ADD, flows[i].fd, &e);
	}
	while (!end || now() < end) {
		int n = epoll_wait(epoll, events, 64, 10);

		for (int i = 0; i < n; i++)
			drain(&flows[events[i].data.u32]);
		if (!end && hauli_u32_published_get(&all_sent))
			end = now() + LAST_NS;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	uint64_t rate, began, total, sent = 0, received = 0;
	pthread_t thread;
	int buffer = BUFFER;

	if (argc != 6 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((uint16_t)atoi(argv[2]));
	nb_flows = (unsigned)atoi(argv[3]);
	rate = strtoull(argv[4], NULL, 10);
	total = rate * strtoull(argv[5], NULL, 10);
	flows = calloc(nb_flows, sizeof(flows[0]));
	for (unsigned i = 0; i < nb_flows; i++) {
		struct flow *f = &flows[i];

		f->fd = socket(AF_INET, SOCK_DGRAM, 0);
		f->seen = calloc(total / nb_flows + 1, 1);
		if (setsockopt(f->fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) < 0 ||
			connect(f->fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
			return 1;
	}
	pthread_create(&thread, NULL, receive, NULL);
	began = now();
	/* What is due; after a pause of this thread no more than that of 2 ms. */
	for (uint64_t due = 0; sent < total;) {
		uint64_t is_due = (now() - began) * rate / (1000 * MS);

		due = is_due - due > rate / 500 ? due + rate / 500 : is_due;
		for (; sent < due && sent < total; sent++) {
			struct flow *f = &flows[sent % nb_flows];
			uint32_t number = f->sent++;

			while (send(f->fd, &number, sizeof(number), 0) < 0 && errno == ENOBUFS)
				usleep(100); /* until there is room */
		}
		usleep(500); /* the pace */
	}
	hauli_u32_published_set(&all_sent, 1);
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < nb_flows; i++)
		received += flows[i].received;
	printf("{\"sent\": %lu, \"lost\": %lu, \"reordered\": %lu, \"twice\": %lu, "
	       "\"seconds\": %.1f, \"longest_gap_ms\": %.1f}\n",
		(unsigned long)sent, (unsigned long)(sent - received), (unsigned long)reordered,
		(unsigned long)twice, (double)(now() - began - LAST_NS) / 1e9, (double)gap / 1e6);
	return 0;
}
