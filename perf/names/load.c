/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries over UDP for perf/dns: dns-load ADDRESS SECONDS OUTSTANDING RATE NAMES. RATE 0: so many
 * queries are always under way; else so many a second, at their times, whatever comes back. Asks
 * for all names once before it measures, so that they are in the server's cache. Prints a line of
 * JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <haul/hist.h>

enum { IDS = 65536, QUERY_MAX = 64, REPLY_MAX = 2048, BATCH = 64 };

#define S UINT64_C(1000000000)
#define LOST_AFTER (S / 2)

static struct {
	int fd;
	unsigned outstanding, rate, names;
	uint64_t sent_at[IDS]; /* by id; 0: none is under way */
	unsigned under_way;
	uint16_t id;
	unsigned name;
	uint64_t sent, answered, failed, lost;
	struct haul_hist latency; /* ns */
} load;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "dns-load: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* nNUMBER.bench A */
static size_t make_query(uint8_t *to, uint16_t id, unsigned name)
{
	static const uint8_t rest[] = {5, 'b', 'e', 'n', 'c', 'h', 0, 0, 1, 0, 1};
	const uint8_t header[12] = {(uint8_t)(id >> 8), (uint8_t)id, 1, 0, 0, 1};
	int n;

	memcpy(to, header, sizeof(header));
	n = sprintf((char *)to + 13, "n%u", name);
	to[12] = (uint8_t)n;
	memcpy(to + 13 + n, rest, sizeof(rest));
	return 13 + (size_t)n + sizeof(rest);
}

/* Sends up to n. at: when they are due. */
static void send_some(unsigned n, uint64_t at)
{
	static uint8_t queries[BATCH][QUERY_MAX];
	struct iovec parts[BATCH];
	struct mmsghdr msgs[BATCH];
	int done;

	n = n < BATCH ? n : BATCH;
	memset(msgs, 0, n * sizeof(msgs[0]));
	for (unsigned i = 0; i < n; i++) {
		uint16_t id = (uint16_t)(load.id + i);

		parts[i].iov_base = queries[i];
		parts[i].iov_len = make_query(queries[i], id, (load.name + i) % load.names);
		msgs[i].msg_hdr.msg_iov = &parts[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
		load.lost += load.sent_at[id] != 0;
		load.under_way -= load.sent_at[id] != 0;
		load.sent_at[id] = at;
	}
	done = sendmmsg(load.fd, msgs, n, 0);
	if (done < 0)
		done = 0; /* a full queue: it is tried again */
	for (unsigned i = (unsigned)done; i < n; i++)
		load.sent_at[(uint16_t)(load.id + i)] = 0;
	load.id = (uint16_t)(load.id + done);
	load.name = (load.name + (unsigned)done) % load.names;
	load.under_way += (unsigned)done;
	load.sent += (unsigned)done;
}

static void receive_some(void)
{
	static uint8_t replies[BATCH][REPLY_MAX];
	struct iovec parts[BATCH];
	struct mmsghdr msgs[BATCH];
	uint64_t t;
	int n;

	memset(msgs, 0, sizeof(msgs));
	for (int i = 0; i < BATCH; i++) {
		parts[i] = (struct iovec){replies[i], REPLY_MAX};
		msgs[i].msg_hdr.msg_iov = &parts[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(load.fd, msgs, BATCH, MSG_DONTWAIT, NULL);
	t = now();
	for (int i = 0; i < n; i++) {
		const uint8_t *r = replies[i];
		unsigned id = (unsigned)r[0] << 8 | r[1];

		if (msgs[i].msg_len < 12 || !load.sent_at[id])
			continue;
		haul_hist_add(&load.latency, t - load.sent_at[id], 1);
		load.sent_at[id] = 0;
		load.under_way--;
		load.answered++;
		load.failed += (r[3] & 15) != 0 || r[7] == 0; /* no answer */
	}
}

/* Queries for which nothing comes any more. */
static void give_up(uint64_t t)
{
	for (unsigned id = 0; id < IDS; id++) {
		if (load.sent_at[id] && t - load.sent_at[id] > LOST_AFTER) {
			load.sent_at[id] = 0;
			load.under_way--;
			load.lost++;
		}
	}
}

static void wait_a_little(uint64_t until)
{
	struct pollfd p = {.fd = load.fd, .events = POLLIN};
	uint64_t t = now();
	struct timespec left = {0, until > t ? (long)(until - t) : 0};

	ppoll(&p, 1, &left, NULL);
}

/* Runs until the time, or, with outstanding queries, until so many are answered. */
static void run(uint64_t end, uint64_t answers)
{
	uint64_t began = now(), looked = began, t;
	uint64_t before = load.sent;

	for (t = began; t < end && load.answered < answers; t = now()) {
		if (load.rate == 0) {
			if (load.under_way < load.outstanding)
				send_some(load.outstanding - load.under_way, t);
			wait_a_little(t + S / 1000);
		} else {
			uint64_t due = began + (load.sent - before) * S / load.rate;

			if (due <= t)
				send_some(1, due);
			else
				wait_a_little(due < t + S / 1000 ? due : t + S / 1000);
		}
		receive_some();
		if (t - looked > S / 10) {
			give_up(t);
			looked = t;
		}
	}
}

static void warm_up(void)
{
	unsigned rate = load.rate;

	load.rate = 0;
	run(now() + 10 * S, load.names + load.outstanding);
	load.rate = rate;

	while (load.under_way > 0) {
		wait_a_little(now() + S / 100);
		receive_some();
		give_up(now());
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(53)};
	double seconds;
	uint64_t began, t;
	unsigned outstanding;

	if (argc != 6 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
		fputs("usage: dns-load ADDRESS SECONDS OUTSTANDING RATE NAMES\n", stderr);
		return 2;
	}
	seconds = atof(argv[2]);
	load.outstanding = outstanding = (unsigned)atoi(argv[3]);
	load.rate = (unsigned)atoi(argv[4]);
	load.names = (unsigned)atoi(argv[5]);
	load.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (load.fd < 0 || connect(load.fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die(argv[1]);
	warm_up();
	load.outstanding = outstanding;
	load.sent = load.answered = load.failed = load.lost = 0;
	memset(&load.latency, 0, sizeof(load.latency));
	puts("warm");
	fflush(stdout);
	getchar(); /* the caller has read the server's clocks */
	began = now();
	run(began + (uint64_t)(seconds * (double)S), UINT64_MAX);
	t = now();
	printf("{\"seconds\": %.3f, \"answered\": %lu, \"failed\": %lu, \"lost\": %lu, "
	       "\"p50_us\": %.1f, \"p99_us\": %.1f}\n",
		(double)(t - began) / (double)S, load.answered, load.failed, load.lost,
		(double)haul_hist_quantile(&load.latency, 0.5) / 1000,
		(double)haul_hist_quantile(&load.latency, 0.99) / 1000);
	return 0;
}
