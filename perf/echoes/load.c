/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load of perf/echo: each connection sends 64 bytes, and again when they have come back. Prints
 * what a window of time has seen, as a line of JSON, with the CPU time that the server used in it.
 * usage: echo-load PORT PID CONNECTIONS SECONDS
 */
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include "echo.h"

#define REQUEST 64
#define EVENTS 512
#define AT_ONCE 256 /* connections that begin at a time */

struct connection {
	int fd;
	unsigned got; /* of the reply */
	uint64_t asked; /* ns */
};

/* Latencies, in steps of 1/32. */
#define STEPS 32
static uint64_t latencies[64 * STEPS], requests;

static struct connection *connections;
static unsigned n;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) < 0)
		echo_die("clock_gettime");
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static unsigned step_of(uint64_t ns)
{
	unsigned log2 = 63 - (unsigned)__builtin_clzll(ns | STEPS);

	return (log2 - 4) * STEPS + (unsigned)(ns >> (log2 - 5)) - STEPS;
}

static uint64_t ns_of(unsigned step)
{
	unsigned log2 = step / STEPS + 4;

	return ((uint64_t)(step % STEPS + STEPS) << 1 | 1) << (log2 - 5) >> 1;
}

static double percentile_us(double share)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < sizeof(latencies) / sizeof(latencies[0]); i++) {
		seen += latencies[i];
		if (seen > 0 && (double)seen >= share * (double)requests)
			return (double)ns_of(i) / 1e3;
	}
	return 0;
}

static void ask(struct connection *c)
{
	static const char request[REQUEST];

	c->got = 0;
	c->asked = clock_ns(CLOCK_MONOTONIC);
	if (send(c->fd, request, sizeof(request), 0) != sizeof(request))
		echo_die("send");
}

/* True: the reply is complete. */
static int read_reply(struct connection *c)
{
	char reply[REQUEST];
	ssize_t got = recv(c->fd, reply, REQUEST - c->got, 0);

	if (got <= 0)
		echo_die("recv");
	c->got += (unsigned)got;
	return c->got == REQUEST;
}

/* Once each has had a reply, the server has accepted them. */
static void connect_some(const struct sockaddr_in *to, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		struct connection *c = &connections[i];

		c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)to, sizeof(*to)) < 0)
			echo_die("connect");
		echo_no_delay(c->fd);
		ask(c);
	}
	for (unsigned i = first; i < end; i++)
		while (!read_reply(&connections[i]))
			;
}

static void run_until(int set, uint64_t end)
{
	static struct epoll_event events[EVENTS];

	for (uint64_t now = 0; now < end;) {
		int nb = epoll_wait(set, events, EVENTS, 100);

		for (int i = 0; i < nb; i++) {
			struct connection *c = events[i].data.ptr;

			if (!read_reply(c))
				continue;
			now = clock_ns(CLOCK_MONOTONIC);
			latencies[step_of(now - c->asked)]++;
			requests++;
			ask(c);
		}
		if (nb <= 0)
			now = clock_ns(CLOCK_MONOTONIC);
	}
}

static void begin(int set)
{
	for (unsigned i = 0; i < n; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &connections[i]};

		if (epoll_ctl(set, EPOLL_CTL_ADD, connections[i].fd, &ev) < 0)
			echo_die("epoll_ctl");
		ask(&connections[i]);
	}
}

static void measure(int set, pid_t server, uint64_t ns)
{
	uint64_t start, cpu;
	clockid_t clock;

	errno = clock_getcpuclockid(server, &clock);
	if (errno)
		echo_die("clock_getcpuclockid");
	run_until(set, clock_ns(CLOCK_MONOTONIC) + ns / 4);
	memset(latencies, 0, sizeof(latencies));
	requests = 0;
	start = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(clock);
	run_until(set, start + ns);
	printf("{\"requests\": %llu, \"seconds\": %.6f, \"cpu_s\": %.6f, \"p50_us\": %.1f, "
	       "\"p99_us\": %.1f}\n",
		(unsigned long long)requests, (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9,
		(double)(clock_ns(clock) - cpu) / 1e9, percentile_us(0.5), percentile_us(0.99));
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	int set = epoll_create1(EPOLL_CLOEXEC);

	if (argc != 5) {
		fprintf(stderr, "usage: echo-load PORT PID CONNECTIONS SECONDS\n");
		return 1;
	}
	echo_raise_limit();
	n = (unsigned)strtoul(argv[3], NULL, 10);
	connections = calloc(n, sizeof(connections[0]));
	if (set < 0 || !connections)
		echo_die("memory");
	to.sin_port = htons((uint16_t)atoi(argv[1]));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (unsigned i = 0; i < n; i += AT_ONCE)
		connect_some(&to, i, i + AT_ONCE < n ? i + AT_ONCE : n);
	begin(set);
	measure(set, (pid_t)atoi(argv[2]), (uint64_t)(atof(argv[4]) * 1e9));
	return 0;
}
