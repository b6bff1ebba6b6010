/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket of programs without EAL: the protocol of DPDK's telemetry, by one thread for all
 * clients. A client sends a packet with a command and gets one with the answer. A client that does
 * not read has one answer waiting for it, and its next commands are not read until it has taken
 * that. When there are too many clients, the one that has been silent for longest makes room, if it
 * has been silent for long.
 */
#include <haul-app/telemetry.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <haul/version.h>

#include "process/readers.h"
#include "telemetry/command.h"
#include "telemetry/path.h"
#include "telemetry/scrape.h"
#include "telemetry/tree.h"

#define CLIENTS 16
#define SILENT_NS (5 * HAUL_S)
#define COMMAND 1024 /* bytes, as DPDK reads them */
#define STACK (512 * 1024)

struct client {
	int fd; /* -1: none */
	uint64_t asked; /* when it sent its last command, or connected */
	char *answer; /* not sent yet, or NULL */
	size_t n;
};

/* The thread's own while it runs. */
static struct {
	int fd, ends; /* the socket that listens; an eventfd */
	struct sockaddr_un addr;
	pthread_t thread;
	struct client clients[CLIENTS];
} s;

static void drop(struct client *c)
{
	close(c->fd);
	free(c->answer);
	*c = (struct client){.fd = -1};
}

static void send_answer(struct client *c)
{
	ssize_t n = send(c->fd, c->answer, c->n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		drop(c);
		return;
	}
	free(c->answer);
	c->answer = NULL;
}

/* Takes over the tree. */
static void answer_by(struct client *c, json_t *tree)
{
	c->answer = json_dumps(tree, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(tree);
	if (!c->answer)
		abort();
	c->n = strlen(c->answer);
	send_answer(c);
}

static json_t *about_us(const char *name)
{
	json_t *tree = json_object();

	json_object_set_new(tree, "version", json_sprintf("%s, haul %s", name, haul_version()));
	json_object_set_new(tree, "pid", json_integer(getpid()));
	json_object_set_new(tree, "max_output_len", json_integer(HAULI_TELEMETRY_ANSWER));
	return tree;
}

static const struct haul_app_program *program; /* constant while the thread runs */

static json_t *all_commands(void)
{
	json_t *list = json_array();
	const char *name;

	json_array_append_new(list, json_string("/"));
	for (unsigned i = 0; (name = hauli_telemetry_name(i)) != NULL; i++)
		json_array_append_new(list, json_string(name));
	json_array_append_new(list, json_string("/help"));
	json_array_append_new(list, json_string("/info"));
	return list;
}

static json_t *help(const char *name)
{
	const char *text = hauli_telemetry_help(name);

	return text ? json_pack("{s:s}", name, text) : NULL;
}

static json_t *values_of(const char *name, const char *params)
{
	if (strcmp(name, "/") == 0)
		return all_commands();
	if (strcmp(name, "/info") == 0)
		return about_us(program->name);
	if (strcmp(name, "/help") == 0)
		return help(params);
	return hauli_telemetry_answer(name, params);
}

/* Keys are UTF-8: a command that is not has no name in the answer. */
static void answer_command(struct client *c, char *text)
{
	char *comma = strchr(text, ',');
	json_t *tree = json_object(), *values;

	if (comma)
		*comma = '\0';
	text[strnlen(text, 55)] = '\0';
	values = values_of(text, comma ? comma + 1 : "");
	if (json_object_set_new(tree, text, values ? values : json_null()) != 0)
		json_object_set_new(tree, "none", json_null());
	answer_by(c, tree);
}

static void read_command(struct client *c)
{
	char text[COMMAND];
	ssize_t n = recv(c->fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	text[n] = '\0';
	c->asked = haul_now();
	answer_command(c, text);
}

/* Where a new client gets its place; NULL: there is none. */
static struct client *place(void)
{
	struct client *oldest = &s.clients[0];

	for (struct client *c = s.clients; c < &s.clients[CLIENTS]; c++) {
		if (c->fd < 0)
			return c;
		if (c->asked < oldest->asked)
			oldest = c;
	}
	if (haul_now() - oldest->asked < SILENT_NS)
		return NULL;
	drop(oldest);
	return oldest;
}

static void accept_one(void)
{
	int fd = accept4(s.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c = fd >= 0 ? place() : NULL;

	if (!c) {
		if (fd >= 0)
			close(fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			usleep(10000); /* until there are descriptors again */
		return;
	}
	*c = (struct client){.fd = fd, .asked = haul_now()};
	answer_by(c, about_us(program->name));
}

/* On the thread's stack: which of these are ready. */
static void serve(const struct pollfd *fds)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &s.clients[i];

		if (c->fd < 0 || fds[i].fd != c->fd || !fds[i].revents)
			continue;
		if (c->answer)
			send_answer(c);
		else
			read_command(c);
	}
}

static void *serve_all(void *arg)
{
	struct pollfd fds[CLIENTS + 2];

	pthread_setname_np(pthread_self(), "telemetry");
	for (;;) {
		for (unsigned i = 0; i < CLIENTS; i++)
			fds[i] = (struct pollfd){
				s.clients[i].fd, s.clients[i].answer ? POLLOUT : POLLIN, 0};
		fds[CLIENTS] = (struct pollfd){s.fd, POLLIN, 0};
		fds[CLIENTS + 1] = (struct pollfd){s.ends, POLLIN, 0};
		if (poll(fds, CLIENTS + 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[CLIENTS + 1].revents)
			break;
		serve(fds);
		if (fds[CLIENTS].revents)
			accept_one();
	}
	return NULL;
}

static int start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&s.thread, &attr, serve_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

static int listen_there(char *errbuf, size_t errlen)
{
	int err =
		hauli_telemetry_path_make(s.addr.sun_path, sizeof(s.addr.sun_path), errbuf, errlen);

	if (err < 0)
		return err;
	s.addr.sun_family = AF_UNIX;
	s.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	s.ends = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	unlink(s.addr.sun_path); /* of a program that had this number before */
	if (s.fd < 0 || s.ends < 0 ||
		bind(s.fd, (const struct sockaddr *)&s.addr, sizeof(s.addr)) < 0 ||
		listen(s.fd, CLIENTS) < 0)
		return -errno;
	return start_thread();
}

static void close_all(void)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (s.clients[i].fd >= 0)
			drop(&s.clients[i]);
	if (s.fd >= 0)
		close(s.fd);
	if (s.ends >= 0)
		close(s.ends);
	if (s.addr.sun_path[0])
		hauli_telemetry_path_remove(s.addr.sun_path);
	s.addr.sun_path[0] = '\0';
}

int haul_app_telemetry_begin(const struct haul_app_program *for_program, struct haul_runtime *rt,
	char *errbuf, size_t errlen)
{
	int err;

	for (unsigned i = 0; i < CLIENTS; i++)
		s.clients[i] = (struct client){.fd = -1};
	s.fd = s.ends = -1;
	program = for_program;
	errbuf[0] = '\0';
	hauli_telemetry_set_runtime(program, rt);
	hauli_readers_admit();
	err = listen_there(errbuf, errlen);
	if (err == 0)
		return 0;
	if (!errbuf[0])
		snprintf(errbuf, errlen, "no telemetry: %s: %s", s.addr.sun_path, strerror(-err));
	close_all();
	return err;
}

int haul_app_metrics_begin(const char *where, char *errbuf, size_t errlen)
{
	return hauli_scrape_begin(where, errbuf, errlen);
}

void haul_app_telemetry_end(void)
{
	const uint64_t one = 1;

	hauli_readers_bar();
	hauli_scrape_end();
	if (s.addr.sun_path[0]) {
		if (write(s.ends, &one, sizeof(one)) != sizeof(one))
			abort();
		pthread_join(s.thread, NULL);
		close_all();
	}
	hauli_telemetry_set_runtime(program, NULL);
}
