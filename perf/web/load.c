/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests at their times: an open loop. Request i is due in the i-th interval of 1/rate, at a
 * random moment, and belongs to connection i mod n, which sends one after the other. A latency
 * counts from the moment at which the request was due, which a slow server cannot delay: what waits
 * for its connection is late, too (as wrk2 does it). Without a rate each connection sends the next
 * request at once: the maximum of a closed loop, whose latencies say little.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <haul/hist.h>

#include "../../apps/haul-http/body.h"
#include "usage.h"

#define NS 1000000000

enum { BUFFER = 8192, EVENTS = 256, PIDS_MAX = 16 };

struct conn {
	int fd;
	bool busy, in_body;
	/* The request that is sent, or the next, is turn * connections + the connection's index. */
	uint64_t turn;
	uint64_t due_ns; /* of the request that is sent */
	size_t n;
	struct http_head head;
	struct http_body body;
	char buf[BUFFER];
};

static struct {
	struct sockaddr_in addr;
	const char *path;
	unsigned connections, nb_pids;
	int pids[PIDS_MAX];
	double rate; /* a second; 0: closed loop */
	uint64_t warmup_ns, length_ns, seed;
	bool spins;
} opts = {
	.path = "/", .connections = 100, .warmup_ns = NS, .length_ns = 5 * (uint64_t)NS, .seed = 1};

static struct conn *conns;
static int epoll;
static char request[1024];
static int request_length;
static uint64_t begin_ns, next; /* the next request of all that is not due yet */
static struct {
	uint64_t sent, done, wrong, broken, bytes;
	struct haul_hist latency,
		late; /* late: from due to sent, of those whose connection was free */
} result;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "http-load: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A hash of the number, from splitmix64. */
static double random_share(uint64_t i)
{
	uint64_t x = (i + opts.seed) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static uint64_t due_ns(uint64_t i)
{
	return begin_ns + (uint64_t)(((double)i + random_share(i)) / opts.rate * NS);
}

static bool is_measured(uint64_t due)
{
	return due >= begin_ns + opts.warmup_ns;
}

static void open_conn(struct conn *c)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&opts.addr, sizeof(opts.addr)) != 0)
		fail("connect");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e) != 0)
		fail("epoll_ctl");
	c->busy = c->in_body = false;
	c->n = 0;
}

static void reopen(struct conn *c)
{
	close(c->fd);
	open_conn(c);
}

static void send_request(struct conn *c, uint64_t due)
{
	c->busy = true;
	c->due_ns = due;
	c->n = 0;
	http_response_init(&c->head, HTTP_GET, NULL);
	result.sent += is_measured(due);
	/* If the server has closed the connection, the next read sees it. */
	if (send(c->fd, request, (size_t)request_length, MSG_NOSIGNAL) != request_length &&
		errno != EPIPE && errno != ECONNRESET)
		fail("send");
}

static uint64_t index_of(const struct conn *c)
{
	return c->turn * opts.connections + (uint64_t)(c - conns);
}

/* After a response: what was due meanwhile is sent at once. */
static void go_on(struct conn *c, uint64_t now)
{
	c->busy = false;
	c->turn++;
	if (now >= begin_ns + opts.warmup_ns + opts.length_ns)
		return;
	if (opts.rate == 0)
		send_request(c, now);
	else if (index_of(c) < next)
		send_request(c, due_ns(index_of(c)));
}

static void end_response(struct conn *c, bool ok)
{
	uint64_t now = now_ns();
	bool closes = !ok || !c->head.keep_alive;

	if (is_measured(c->due_ns)) {
		result.done += ok;
		result.broken += !ok;
		result.wrong += ok && c->head.status != 200;
		if (ok)
			haul_hist_add(&result.latency, now - c->due_ns, 1);
	}
	if (closes)
		reopen(c);
	go_on(c, now);
}

/* Returns 1 at the end of the response, 0 if more must come, or an error. */
static int take(struct conn *c)
{
	struct http_str content;
	size_t at = 0;
	int rc;

	if (!c->in_body) {
		rc = http_head_parse(&c->head, c->buf, c->n);
		if (rc == 0 && c->n == BUFFER)
			return -1;
		if (rc <= 0)
			return rc;
		at = (size_t)rc;
		c->in_body = true;
		if (http_body_init(&c->body, &c->head, UINT64_MAX) < 0)
			return -1;
	}
	while (at < c->n && !c->body.is_done) {
		ssize_t taken = http_body_take(&c->body, c->buf + at, c->n - at, &content);

		if (taken < 0)
			return -1;
		at += (size_t)taken;
	}
	c->n = 0;
	if (!c->body.is_done)
		return 0;
	c->in_body = false;
	return 1;
}

static void receive(struct conn *c)
{
	ssize_t n = recv(c->fd, c->buf + c->n, BUFFER - c->n, MSG_DONTWAIT);
	int rc;

	if (n < 0 && errno == EAGAIN)
		return;
	if (!c->busy) { /* closed between two requests, or something that nobody asked for */
		reopen(c);
		return;
	}
	if (n <= 0) {
		end_response(c, c->in_body && http_body_close(&c->body) == 0);
		return;
	}
	result.bytes += is_measured(c->due_ns) ? (uint64_t)n : 0;
	c->n += (size_t)n;
	rc = take(c);
	if (rc != 0)
		end_response(c, rc > 0);
}

/* Sends what is due. Returns how long nothing will be. */
static uint64_t send_due(uint64_t now)
{
	for (;; next++) {
		struct conn *c = &conns[next % opts.connections];
		uint64_t due = due_ns(next);

		if (due > now)
			return due - now;
		if (c->busy || index_of(c) != next)
			continue;
		if (is_measured(due))
			haul_hist_add(&result.late, now - due, 1);
		send_request(c, due);
	}
}

static void wait_for(uint64_t ns)
{
	struct epoll_event events[EVENTS];
	struct timespec t = {(time_t)(ns / NS), (long)(ns % NS)};
	int n;

	if (opts.spins)
		t = (struct timespec){0};
	n = epoll_pwait2(epoll, events, EVENTS, &t, NULL);
	for (int i = 0; i < n; i++)
		receive(events[i].data.ptr);
}

/* Requests without a response yet. */
static unsigned nb_busy(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < opts.connections; i++)
		n += conns[i].busy;
	return n;
}

static struct usage usage_now(void)
{
	struct usage u = {0};

	for (unsigned i = 0; i < opts.nb_pids; i++)
		if (usage_add(&u, opts.pids[i]) != 0)
			fprintf(stderr, "http-load: no process %d\n", opts.pids[i]);
	return u;
}

/* Returns what the processes have used while requests were measured. */
static struct usage run(void)
{
	struct usage before = {0}, after;
	bool measures = false;
	uint64_t now, end, patience = 2 * (uint64_t)NS;

	begin_ns = now_ns();
	end = begin_ns + opts.warmup_ns + opts.length_ns;
	for (unsigned i = 0; opts.rate == 0 && i < opts.connections; i++)
		send_request(&conns[i], begin_ns);
	while ((now = now_ns()) < end) {
		uint64_t ns = opts.rate > 0 ? send_due(now) : NS / 100;

		if (!measures && is_measured(now)) {
			measures = true;
			before = usage_now();
		}
		wait_for(ns < end - now ? ns : end - now);
	}
	after = usage_now();
	while (nb_busy() > 0 && now_ns() < end + patience)
		wait_for(NS / 100);
	result.broken += nb_busy();
	return (struct usage){after.cpu_ns - before.cpu_ns, after.switches - before.switches};
}

static void print_quantiles(const char *name, const struct haul_hist *h)
{
	printf("\"%s\": {\"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, \"max\": "
	       "%.1f}",
		name, haul_hist_quantile(h, 0.5) / 1e3, haul_hist_quantile(h, 0.9) / 1e3,
		haul_hist_quantile(h, 0.99) / 1e3, haul_hist_quantile(h, 0.999) / 1e3,
		haul_hist_max(h) / 1e3);
}

static void report(const struct usage *u)
{
	double seconds = (double)opts.length_ns / NS, done = result.done ? (double)result.done : 1;

	/* Requests that were due and not sent: their connections were busy until the end. */
	printf("{\"connections\": %u, \"rate\": %.1f, \"seconds\": %.1f, \"due\": %.0f, \"sent\": "
	       "%" PRIu64 ", \"done\": %" PRIu64 ", \"per_second\": %.1f, \"not_200\": %" PRIu64
	       ", \"broken\": %" PRIu64 ", \"bytes\": %" PRIu64 ",\n ",
		opts.connections, opts.rate, seconds, opts.rate * seconds, result.sent, result.done,
		(double)result.done / seconds, result.wrong, result.broken, result.bytes);
	print_quantiles("latency_us", &result.latency);
	printf(",\n ");
	print_quantiles("late_us", &result.late);
	if (opts.nb_pids > 0)
		printf(",\n \"cpu_us_per_request\": %.2f, \"switches_per_request\": %.3f",
			(double)u->cpu_ns / 1e3 / done, (double)u->switches / done);
	printf("}\n");
}

static void usage_text(void)
{
	fputs("usage: http-load [OPTIONS] ADDRESS:PORT[/PATH]\n"
	      "Sends GET at a rate, and prints latencies from the times at which requests were "
	      "due.\n"
	      "  -c N   connections (100)\n"
	      "  -r N   requests a second, of all connections; 0: as many as there can be (0)\n"
	      "  -t S   seconds (5)\n"
	      "  -w S   seconds before these, which are not measured (1)\n"
	      "  -p PID process whose CPU time and context switches are counted; may be repeated\n"
	      "  -s N   seed of the times (1)\n"
	      "  -S     spin instead of sleeping until a request is due\n",
		stderr);
	exit(2);
}

static void parse_target(char *target)
{
	char *slash = strchr(target, '/'), *colon;

	if (slash)
		opts.path = strdup(slash);
	if (slash)
		*slash = '\0';
	colon = strrchr(target, ':');
	if (!colon)
		usage_text();
	*colon = '\0';
	opts.addr = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1))};
	if (inet_pton(AF_INET, target, &opts.addr.sin_addr) != 1)
		usage_text();
	request_length = snprintf(request, sizeof(request),
		"GET %s HTTP/1.1\r\nHost: %s:%s\r\n\r\n", opts.path, target, colon + 1);
}

static void parse_options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "c:r:t:w:p:s:S")) != -1) {
		if (o == 'c')
			opts.connections = (unsigned)atoi(optarg);
		else if (o == 'r')
			opts.rate = atof(optarg);
		else if (o == 't')
			opts.length_ns = (uint64_t)(atof(optarg) * NS);
		else if (o == 'w')
			opts.warmup_ns = (uint64_t)(atof(optarg) * NS);
		else if (o == 'p' && opts.nb_pids < PIDS_MAX)
			opts.pids[opts.nb_pids++] = atoi(optarg);
		else if (o == 's')
			opts.seed = strtoull(optarg, NULL, 10);
		else if (o == 'S')
			opts.spins = true;
		else
			usage_text();
	}
	if (optind + 1 != argc || opts.connections == 0)
		usage_text();
	parse_target(argv[optind]);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	struct usage u;

	parse_options(argc, argv);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	prctl(PR_SET_TIMERSLACK, 1);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	conns = calloc(opts.connections, sizeof(*conns));
	if (epoll < 0 || !conns)
		fail("start");
	for (unsigned i = 0; i < opts.connections; i++)
		open_conn(&conns[i]);
	u = run();
	report(&u);
	return result.broken || result.wrong ? 1 : 0;
}
