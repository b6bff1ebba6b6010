/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine for each connection, on a runtime of its own with one carrier that floats: carriers
 * with pollers have nothing to do with it. Each connection has one request, of one packet's size,
 * and then ends; a few at a time, the others wait to be accepted, for a bounded time, since each
 * request and each answer has a deadline.
 */
#include "telemetry/scrape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul/fd.h>
#include <haul/offload.h>
#include <haul/runtime.h>

#include <haul-app/listener.h>

#include "health/health.h"
#include "telemetry/metrics.h"

#define CONNECTIONS 8
#define REQUEST 4096 /* bytes of a request */
#define REQUEST_NS (2 * HAUL_S)
#define ANSWER_NS (5 * HAUL_S)
#define STOP_NS (8 * HAUL_S)

static struct {
	struct haul_runtime *rt; /* NULL: none */
	int fd;
	struct haul_sem places; /* for connections */
} s;

struct text {
	enum hauli_metrics_format format;
	char *text;
	size_t len;
	const char *why;
};

static void make_text(void *arg)
{
	struct text *t = arg;

	t->text = hauli_metrics_text(t->format, &t->len, &t->why);
}

static void send_all(int fd, const char *text, size_t len, uint64_t deadline)
{
	while (len > 0) {
		ssize_t n = haul_fd_send(fd, text, len, MSG_NOSIGNAL, deadline);

		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void answer(int fd, const char *status, const char *type, const char *text, size_t len)
{
	const uint64_t deadline = haul_in(ANSWER_NS);
	char head[256];
	int n = snprintf(head, sizeof(head),
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
		"%s\r\n",
		status, type, len, strncmp(status, "405", 3) == 0 ? "Allow: GET\r\n" : "");

	send_all(fd, head, (size_t)n, deadline);
	send_all(fd, text, len, deadline);
}

static void say_line(int fd, const char *status, const char *why)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s\n", why);

	answer(fd, status, "text/plain", line, (size_t)n);
}

/* Reads up to the empty line, into request, and ends it with a NUL. False: there is none. */
static bool read_request(int fd, char *request)
{
	const uint64_t deadline = haul_in(REQUEST_NS);
	size_t n = 0;

	while (n < REQUEST - 1) {
		ssize_t got = haul_fd_recv(fd, request + n, REQUEST - 1 - n, 0, deadline);

		if (got <= 0)
			return false;
		n += (size_t)got;
		request[n] = '\0';
		if (strstr(request, "\r\n\r\n"))
			return strlen(request) == n;
	}
	return false;
}

static void send_metrics(int fd, const char *request)
{
	struct text t = {.format = strstr(request, "application/openmetrics-text")
			? HAULI_METRICS_OPENMETRICS
			: HAULI_METRICS_PROMETHEUS};

	t.why = "no thread";
	if (haul_offload(make_text, &t, haul_in(ANSWER_NS)) != 0 || !t.text) {
		say_line(fd, "503 Service Unavailable", t.why);
		return;
	}
	answer(fd, "200 OK",
		t.format == HAULI_METRICS_OPENMETRICS
			? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			: "text/plain; version=0.0.4; charset=utf-8",
		t.text, t.len);
	free(t.text);
}

/* For balancers. */
static void send_health(int fd)
{
	enum hauli_health health = hauli_health_now();

	say_line(fd, health == HAULI_HEALTH_SERVING ? "200 OK" : "503 Service Unavailable",
		hauli_health_name(health));
}

/* What follows the path: a query, or the version. */
static bool is_path(const char *request, const char *path)
{
	size_t n = strlen(path);

	return strncmp(request, path, n) == 0 && (request[n] == ' ' || request[n] == '?');
}

static void *serve(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	char request[REQUEST];

	if (!read_request(fd, request))
		say_line(fd, "400 Bad Request", "not a request, or too long a one");
	else if (strncmp(request, "GET ", 4) != 0)
		say_line(fd, "405 Method Not Allowed", "GET only");
	else if (is_path(request + 4, "/metrics"))
		send_metrics(fd, request);
	else if (is_path(request + 4, "/health"))
		send_health(fd);
	else
		say_line(fd, "404 Not Found", "there are /metrics and /health");
	(void)shutdown(fd, SHUT_WR);
	haul_fd_close(fd);
	haul_sem_post(&s.places);
	return NULL;
}

static void *accept_all(void *arg)
{
	const struct haul_coro_opts opts = {.name = "scrape", .stack_size = 32 << 10};

	while (haul_sem_wait(&s.places, HAUL_FOREVER) == 0) {
		int fd = haul_fd_accept(
			s.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK, HAUL_FOREVER);

		if (fd >= 0 && haul_spawn(NULL, serve, (void *)(intptr_t)fd, &opts) == 0)
			continue;
		if (fd >= 0)
			haul_fd_close(fd);
		haul_sem_post(&s.places);
		if (fd == -ECANCELED || fd == -EBADF)
			break;
		/* No memory or descriptors: until there are some again. */
		if (fd != -ECONNABORTED && haul_sleep(10 * HAUL_MS) < 0)
			break;
	}
	return NULL;
}

/* Into *addr; returns its length, or 0. */
static socklen_t parse(const char *where, struct sockaddr_storage *addr)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)addr;
	const char *colon = strrchr(where, ':'), *port = colon ? colon + 1 : where;
	char host[INET6_ADDRSTRLEN + 2] = "127.0.0.1", *end;
	unsigned long n = strtoul(port, &end, 10);

	if (*port < '0' || *port > '9' || *end || n > UINT16_MAX ||
		(colon && (size_t)(colon - where) >= sizeof(host)))
		return 0;
	if (colon)
		snprintf(host, sizeof(host), "%.*s", (int)(colon - where), where);
	memset(addr, 0, sizeof(*addr));
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = '\0';
		*v6 = (struct sockaddr_in6){
			.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)n)};
		return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 ? sizeof(*v6) : 0;
	}
	*v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)n)};
	return inet_pton(AF_INET, host, &v4->sin_addr) == 1 ? sizeof(*v4) : 0;
}

static int listen_at(const char *where, const struct sockaddr_storage *addr, socklen_t len,
	char *errbuf, size_t errlen)
{
	int on = 1, err;

	s.fd = haul_app_listener_get("--metrics", where, errbuf, errlen);
	if (s.fd != -ENOENT)
		return RTE_MIN(s.fd, 0);

	s.fd = socket(addr->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s.fd < 0)
		return -errno;
	setsockopt(s.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s.fd, (const struct sockaddr *)addr, len) == 0 && listen(s.fd, 64) == 0) {
		haul_app_listener_offer("--metrics", where, s.fd);
		return 0;
	}
	err = -errno;
	snprintf(errbuf, errlen, "%s", strerror(-err));
	close(s.fd);
	return err;
}

/* One carrier that floats. */
static int start_runtime(char *errbuf, size_t errlen)
{
	const struct haul_plan_opts one = {.carriers = 1};
	struct haul_runtime_opts opts = {.spin_ns = 1, .watchdog_ns = HAUL_FOREVER};
	struct haul_plan *plan;
	int err = haul_plan_create(&plan, &one, errbuf, errlen);

	if (err < 0)
		return err;
	plan->places[0].cpu = plan->places[0].core = -1;
	opts.plan = plan;
	err = haul_start(&s.rt, &opts, errbuf, errlen);
	haul_plan_destroy(plan);
	return err;
}

int hauli_scrape_begin(const char *where, char *errbuf, size_t errlen)
{
	const struct haul_coro_opts opts = {.name = "scrapes"};
	struct sockaddr_storage addr;
	socklen_t len = parse(where, &addr);
	char line[512];
	int err;

	if (len == 0 && !haul_app_listener_is_systemd(where)) {
		snprintf(errbuf, errlen,
			"--metrics %s: give a port, or an address and a port, such as "
			"127.0.0.1:9100 or [::1]:9100, or systemd",
			where);
		return -EINVAL;
	}
	err = listen_at(where, &addr, len, line, sizeof(line));
	if (err < 0) {
		snprintf(errbuf, errlen, "--metrics %s: %s", where, line);
		return err;
	}
	haul_sem_init(&s.places, CONNECTIONS);
	err = start_runtime(errbuf, errlen);
	if (err == 0)
		err = haul_spawn_on(haul_carrier(s.rt, 0), NULL, accept_all, NULL, &opts);
	if (err == 0)
		return 0;
	if (s.rt)
		haul_stop(s.rt, STOP_NS);
	s.rt = NULL;
	close(s.fd);
	return err;
}

void hauli_scrape_end(void)
{
	if (!s.rt)
		return;
	if (haul_stop(s.rt, STOP_NS) != 0)
		return; /* its coroutines may still use the socket */
	close(s.fd);
	s.rt = NULL;
}
