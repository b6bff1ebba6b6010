/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A web server on kernel TCP, a coroutine for each connection: files, and a front for a backend. It
 * is an example of programs with sockets and no packets: there is no EAL, and no privilege.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <haul-app/listener.h>
#include <haul-app/options.h>
#include <haul-app/telemetry.h>
#include <haul/haul.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "listen.h"
#include "report.h"

enum { ACCEPT_EACH, ACCEPT_ONE };

#define TIME_MAX (UINT64_C(1000000000) * HAUL_S)

static const char *listen_text = "127.0.0.1:8080", *root_text, *backend_text, *metrics;
static uint64_t connections = 10000, stop_time = 5 * HAUL_S, duration, period;
static unsigned accept_mode, fds;
static bool json;
static struct http_server server = {.root = -1,
	.backend_path = "/",
	.idle_ns = 60 * HAUL_S,
	.head_ns = 10 * HAUL_S,
	.transfer_ns = 30 * HAUL_S,
	.backend_ns = 5 * HAUL_S};

static const struct haul_app_option options[] = {
	{"--listen", "ADDR:PORT", HAUL_APP_TEXT, &listen_text,
		.help = "IPv4 address and port; systemd[:NAME]: a socket that it passes"},
	{"--root", "DIR", HAUL_APP_TEXT, &root_text, .zero = "none",
		.help = "serve the files of this directory"},
	{"--backend", "ADDR:PORT", HAUL_APP_TEXT, &backend_text, .zero = "none",
		.help = "/ calls this server by HTTP, /parallel calls it\ntwice at the same time"},
	{"--accept", "each|one", HAUL_APP_CHOICE, &accept_mode,
		.help = "each carrier accepts connections (SO_REUSEPORT),\nor one does for all"},
	{"--wait", "best|io_uring|epoll", HAUL_APP_CHOICE, &fds,
		.help = "how carriers wait for sockets; best: io_uring\nwhere the kernel allows "
			"it"},
	{"--connections", "N", HAUL_APP_NUMBER, &connections, .min = 1, .max = 1000000,
		.help = "of all carriers; others wait to be accepted"},
	{"--idle", "TIME", HAUL_APP_TIME, &server.idle_ns, .min = 1,
		.help = "longest time between two requests"},
	{"--head", "TIME", HAUL_APP_TIME, &server.head_ns, .min = 1,
		.help = "longest time from the first byte of a request\nto the end of its head"},
	{"--transfer", "TIME", HAUL_APP_TIME, &server.transfer_ns, .min = 1,
		.help = "longest time for 64 KiB of content"},
	{"--backend-time", "TIME", HAUL_APP_TIME, &server.backend_ns, .min = 1,
		.help = "longest time for the backend's answer"},
	{"--stop-time", "TIME", HAUL_APP_TIME, &stop_time, .max = TIME_MAX, .zero = "none",
		.help = "longest time for requests that are under way when\nthe program is to end"},
	{"--duration", "TIME", HAUL_APP_TIME, &duration, .max = TIME_MAX,
		.zero = "until SIGINT, SIGTERM or SIGHUP",
		.help = "end after this time, such as 500ms"},
	{"--period", "TIME", HAUL_APP_TIME, &period, .max = TIME_MAX, .zero = "never",
		.help = "time between reports; 0: none but the last"},
	{"--metrics", "[ADDR:]PORT", HAUL_APP_TEXT, &metrics, .zero = "none",
		.help = "serve figures by HTTP, at /metrics, for Prometheus; to this machine\n"
			"only without an address"},
	{"--json", NULL, HAUL_APP_FLAG, &json,
		.help = "print one JSON object to stdout at the end, and other output to stderr"},
	{0},
};

static const struct haul_app_program program = {
	.name = "haul-http",
	.purpose = "Serves files, and calls a backend, by HTTP/1.1.",
	.examples = "  haul-http --root /usr/share/doc\n"
		    "  haul-http --listen 0.0.0.0:80 --backend 127.0.0.1:8081 --carriers 2",
	.options = {options},
	.places_carriers = true,
};

static bool parse_address(const char *text, struct sockaddr_in *addr)
{
	const char *colon = strrchr(text, ':');
	char ip[INET_ADDRSTRLEN];
	uint64_t port;

	if (!colon || (size_t)(colon - text) >= sizeof(ip))
		return false;
	memcpy(ip, text, (size_t)(colon - text));
	ip[colon - text] = '\0';
	if (!http_number((struct http_str){colon + 1, strlen(colon + 1)}, &port) ||
		port > UINT16_MAX)
		return false;
	*addr = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	return inet_pton(AF_INET, ip, &addr->sin_addr) == 1;
}

static int start_backend(struct haul_runtime *rt)
{
	struct sockaddr_in addr;

	if (!backend_text)
		return HAUL_APP_DONE;
	if (!parse_address(backend_text, &addr))
		return haul_app_wrong(&program,
			"--backend %s: give an IPv4 address and a port, such as 127.0.0.1:8081",
			backend_text);
	server.backend = http_backend_create(
		&addr, haul_carriers(rt), (unsigned)(connections / haul_carriers(rt)) + 1);
	return server.backend ? HAUL_APP_DONE : HAUL_APP_FAILED;
}

/* Closed output is haul_app_command()'s to tell. */
static bool is_output_lost(void)
{
	return ferror(stdout) != 0;
}

/* Until a signal has come: true; or the time is over, or nobody reads the reports. */
static bool wait_for_end(struct http_report *report, const sigset_t *set)
{
	const uint64_t end = duration ? report->began_ns + duration : HAUL_FOREVER;
	uint64_t next = period ? report->began_ns + period : HAUL_FOREVER, now;

	while ((now = haul_now()) < end && !is_output_lost()) {
		uint64_t until = next < end ? next : end, left = until > now ? until - now : 0;
		struct timespec most;

		if (left > 3600 * HAUL_S)
			left = 3600 * HAUL_S;
		most = (struct timespec){(time_t)(left / HAUL_S), (long)(left % HAUL_S)};
		if (sigtimedwait(set, NULL, &most) > 0)
			return true;
		if (haul_now() < next)
			continue;
		http_report_period(report, json ? stderr : stdout);
		next += period;
	}
	return false;
}

static void take_signal(int sig)
{
}

/* The second signal has its default action. */
static void unblock_signals(const sigset_t *set, bool had_first)
{
	const struct sigaction once = {.sa_handler = take_signal, .sa_flags = (int)SA_RESETHAND};

	for (int sig = 1; sig < NSIG && !had_first; sig++)
		if (sigismember(set, sig) == 1)
			sigaction(sig, &once, NULL);
	pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

/* With port 0, *addr gets the one that the kernel has chosen. */
static int start_listening(
	struct haul_runtime *rt, struct http_listeners **listeners, struct sockaddr_in *addr)
{
	struct http_listen_opts opts = {.addr = *addr,
		.each = accept_mode == ACCEPT_EACH,
		.connections = (uint32_t)connections};
	char line[512];
	int rc;

	if (haul_app_listener_is_systemd(listen_text)) {
		rc = haul_app_listener_get("--listen", listen_text, line, sizeof(line));
		if (rc < 0)
			return haul_app_wrong(&program, "--listen %s: %s", listen_text, line);
		opts.socket = rc;
	}
	rc = http_listen(listeners, rt, &server, &opts);

	if (rc < 0) {
		haul_app_say(&program, "--listen %s: %s", listen_text, strerror(-rc));
		return HAUL_APP_FAILED;
	}
	*addr = opts.addr;
	return HAUL_APP_DONE;
}

static void say_ready(const struct sockaddr_in *addr)
{
	char ip[INET_ADDRSTRLEN];

	if (addr->sin_family != AF_INET) { /* systemd's */
		haul_app_say(&program, "ready: IPv6, port %u", ntohs(addr->sin_port));
		return;
	}
	inet_ntop(AF_INET, &addr->sin_addr, ip, sizeof(ip));
	haul_app_say(&program, "ready: http://%s:%u/", ip, ntohs(addr->sin_port));
}

static void answer_telemetry(struct haul_app_json *answer, const char *params, void *arg)
{
	http_report_figures(arg, answer);
}

static int start_telemetry(struct haul_runtime *rt, struct http_report *report)
{
	char error[256];

	haul_app_telemetry("/http/figures", "Connections and requests. Takes no parameters",
		answer_telemetry, report);
	if (haul_app_telemetry_begin(&program, rt, error, sizeof(error)) < 0)
		haul_app_say(&program, "note: %s", error);
	if (!metrics || haul_app_metrics_begin(metrics, error, sizeof(error)) == 0)
		return HAUL_APP_DONE;
	haul_app_say(&program, "%s", error);
	return HAUL_APP_FAILED;
}

static int serve(struct haul_runtime *rt, struct sockaddr_in *addr, const sigset_t *set)
{
	struct http_listeners *listeners = NULL;
	struct http_report report = {.server = &server, .began_ns = haul_now()};
	bool had_signal = false;
	int rc = start_backend(rt);

	report.last_ns = report.began_ns;
	if (rc == HAUL_APP_DONE)
		rc = start_listening(rt, &listeners, addr);
	if (rc == HAUL_APP_DONE)
		rc = start_telemetry(rt, &report);
	if (rc == HAUL_APP_DONE) {
		say_ready(addr);
		had_signal = wait_for_end(&report, set);
	}
	unblock_signals(set, had_signal);
	http_listen_end(listeners, stop_time);
	haul_app_telemetry_end();
	if (haul_stop(rt, 5 * HAUL_S) != 0)
		return HAUL_APP_FAILED; /* with all that coroutines may still use */
	http_listen_free(listeners);
	if (server.backend)
		http_backend_destroy(server.backend);
	if (rc == HAUL_APP_DONE && json)
		http_report_json(&report, stdout);
	else if (rc == HAUL_APP_DONE)
		http_report_totals(&report, stdout);
	http_server_fini(&server);
	return rc;
}

static int start_runtime(struct haul_runtime **rt)
{
	struct haul_runtime_opts opts = {.fds = (enum haul_fds)fds};
	struct haul_plan *plan;
	char error[256];
	int rc = haul_app_plan(&program, &plan, NULL);

	if (rc != HAUL_APP_DONE)
		return rc;
	opts.plan = plan;
	rc = haul_start(rt, &opts, error, sizeof(error));
	haul_plan_destroy(plan);
	if (rc == 0)
		return HAUL_APP_DONE;
	haul_app_say(&program, "%s", error);
	return HAUL_APP_FAILED;
}

/* Threads that are created later inherit it. A SIGHUP that is ignored, by nohup, stays ignored. */
static void block_signals(sigset_t *set)
{
	struct sigaction hup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	haul_dump_on_signal(SIGUSR1);
}

static int run(void)
{
	struct sockaddr_in addr;
	struct haul_runtime *rt;
	sigset_t set;
	int rc;

	if (!haul_app_listener_is_systemd(listen_text) && !parse_address(listen_text, &addr))
		return haul_app_wrong(&program,
			"--listen %s: give an IPv4 address and a port, such as 127.0.0.1:8080, or "
			"systemd",
			listen_text);
	if (root_text && (server.root = open(root_text, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
		haul_app_say(&program, "--root %s: %s", root_text, strerror(errno));
		return HAUL_APP_FAILED;
	}
	block_signals(&set);
	rc = start_runtime(&rt);
	if (rc != HAUL_APP_DONE)
		return rc;
	if (http_server_init(&server, haul_carriers(rt)) < 0)
		abort();
	return serve(rt, &addr, &set);
}

int main(int argc, char **argv)
{
	return haul_app_command(&program, run, argc, argv);
}
