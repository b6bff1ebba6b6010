/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two programs, of which the newer has connected to the older:
 *
 *	older: the ports, with what they are taken by (SCM_RIGHTS); it goes on
 *	newer, once it could start its pollers: "r", ready
 *	older, once its pollers have ended: "d", done, or its end; or a line, why not
 *
 * Until "r" either may end, and the older one goes on. Messages are those of a socket that keeps
 * their bounds.
 */
#include "process/hand_over.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "process/hand_over_message.h"
#include "process/hand_over_path.h"
#include "process/say.h"
#include "process/signals.h"
#include "process/unit.h"

#define ANSWER_NS (10 * HAUL_S)
#define STOP_NS (30 * HAUL_S) /* for the other one's last packets */
#define AGAIN_NS (10 * HAUL_MS)
#define DRAIN_NS HAUL_S
#define LINE 640

static struct {
	int listens, peer; /* 0: not */
	pid_t pid; /* of the peer */
	struct hauli_hello *taken; /* NULL: nothing was taken over */
	bool offered; /* ports, to the peer */
	bool begins;
} h;

static int wrong(const struct hauli_app *a, const char *problem)
{
	return haul_app_wrong(a->pub.program, "--hand-over %s: %s", a->hand_over, problem);
}

static int fail(const struct hauli_app *a, const char *problem)
{
	haul_app_say(a->pub.program, "--hand-over %s: %s", a->hand_over, problem);
	return HAUL_APP_FAILED;
}

static void close_peer(void)
{
	if (h.peer)
		close(h.peer);
	h.peer = 0;
}

/* The newer program. */

/* True once there is something to read, or the end. A TAP's signals interrupt it. */
static bool wait_for_peer(uint64_t ns, bool until_signal)
{
	struct pollfd p[] = {
		{.fd = h.peer, .events = POLLIN}, {.fd = hauli_app_signals_fd(), .events = POLLIN}};
	const uint64_t end = haul_in(ns);
	uint64_t now;
	int n = 0;

	while (n <= 0 && (now = haul_now()) < end)
		n = poll(p, until_signal ? 2 : 1, (int)((end - now) / HAUL_MS) + 1);
	return n > 0 && p[0].revents != 0;
}

static int check_ports(const struct hauli_app *a)
{
	char line[HAULI_HELLO_SPEC + 64];

	if (h.taken->error[0])
		return fail(a, h.taken->error);
	if (h.taken->nb_ports != a->specs.n) {
		snprintf(line, sizeof(line), "process %d has %u ports; give the same ones",
			(int)h.pid, h.taken->nb_ports);
		return wrong(a, line);
	}
	for (unsigned i = 0; i < a->specs.n; i++) {
		if (strcmp(h.taken->ports[i].spec, a->specs.items[i]) == 0)
			continue;
		snprintf(line, sizeof(line), "its port %u is %.*s; give the same one", i,
			HAULI_HELLO_SPEC - 1, h.taken->ports[i].spec);
		return wrong(a, line);
	}
	return HAUL_APP_DONE;
}

int hauli_hand_over_check(const struct hauli_app *a)
{
	if (!a->hand_over || hauli_path_is_right(a->hand_over))
		return HAUL_APP_DONE;
	return wrong(a, "give a path of up to 100 bytes that begins with /");
}

static int lock(const struct hauli_app *a)
{
	char line[64];
	int err = hauli_path_lock(a->hand_over, &h.pid);

	if (err == -EBUSY) {
		snprintf(line, sizeof(line), "process %d starts with it just now", (int)h.pid);
		return fail(a, line);
	}
	return err ? fail(a, strerror(-err)) : HAUL_APP_DONE;
}

/* What the socket at the path says: 0, -ENOENT (nobody is there), -ECONNRESET (it ends), or another
 * -errno. */
static int ask(const struct hauli_app *a, int fds[HAULI_LISTENERS])
{
	int fd = hauli_path_connect(a->hand_over);

	if (fd < 0)
		return fd;
	h.peer = fd;
	if (!hauli_path_is_trusted(fd, &h.pid))
		return -EPERM;
	if (!wait_for_peer(ANSWER_NS, true))
		return hauli_app_signals_came() ? -EINTR : -ETIMEDOUT;
	return hauli_hello_receive(fd, h.taken, fds);
}

static int fail_ask(const struct hauli_app *a, int err)
{
	char line[128];

	switch (err) {
	case -EPERM:
		return fail(a, "another user listens there");
	case -ENOTSOCK:
		return wrong(a, "there is a file, which is no socket");
	case -EPROTOTYPE:
	case -EPROTO:
		return fail(a, "who listens there does not answer as a program of this version");
	case -EINTR:
		return fail(a, "a signal has come before the answer");
	case -EAGAIN:
		return fail(a, "who listens there does not accept connections");
	case -ETIMEDOUT:
	case -ECONNRESET:
		snprintf(line, sizeof(line), "process %d, which listens there, does not answer",
			(int)h.pid);
		return fail(a, line);
	default:
		return fail(a, strerror(-err));
	}
}

int hauli_hand_over_ask(struct hauli_app *a)
{
	const struct timespec again = {.tv_nsec = AGAIN_NS};
	const uint64_t end = haul_in(ANSWER_NS);
	int fds[HAULI_LISTENERS], err, rc;

	if (!a->hand_over)
		return HAUL_APP_DONE;
	rc = lock(a);
	if (rc != HAUL_APP_DONE)
		return rc;
	h.taken = malloc(sizeof(*h.taken));
	if (!h.taken)
		return fail(a, strerror(ENOMEM));
	hauli_app_signals_phase(HAULI_APP_PHASE_STARTS, "asking at ", a->hand_over);
	/* The old program may end before it answers; then nobody listens soon. */
	while ((err = ask(a, fds)) == -ECONNRESET && haul_now() < end) {
		close_peer();
		nanosleep(&again, NULL);
	}
	if (err == 0) {
		hauli_listeners_taken(
			h.taken->listeners, fds, h.taken->error[0] ? 0 : h.taken->nb_listeners);
		return check_ports(a);
	}
	free(h.taken);
	h.taken = NULL;
	close_peer();
	return err == -ENOENT ? HAUL_APP_DONE : fail_ask(a, err);
}

const struct haul_port_offer *hauli_hand_over_offer(unsigned port)
{
	return h.taken ? &h.taken->ports[port].offer : NULL;
}

static void close_offer(struct haul_port_offer *o)
{
	while (o->nb_fds > 0)
		close(o->fds[--o->nb_fds]);
}

static int take_port(struct hauli_app *a, unsigned port)
{
	char errbuf[512];
	int err = haul_port_take(a->ports[port], errbuf, sizeof(errbuf));

	close_offer(&h.taken->ports[port].offer);
	return err ? hauli_app_fail(a, err, errbuf) : HAUL_APP_DONE;
}

/* An error, and the end of the file, say that the other one has ended. */
static int wait_until_done(struct hauli_app *a)
{
	char line[LINE];
	ssize_t n;

	if (send(h.peer, "r", 1, MSG_NOSIGNAL) == 1 && !wait_for_peer(STOP_NS, false))
		return fail(a, "the other program does not stop");
	/* If the old program ends with our word unread, an error comes before its line. */
	do
		n = recv(h.peer, line, sizeof(line) - 1, MSG_DONTWAIT);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n <= 1)
		return HAUL_APP_DONE;
	line[n] = '\0';
	return fail(a, line);
}

int hauli_hand_over_take(struct hauli_app *a)
{
	int rc;

	if (!h.peer)
		return HAUL_APP_DONE;
	rc = wait_until_done(a);
	close_peer();
	for (unsigned i = 0; i < a->nb_ports && rc == HAUL_APP_DONE; i++)
		rc = take_port(a, i);
	if (rc != HAUL_APP_DONE)
		return rc;
	hauli_unit_take_watchdog(h.taken->watchdog_ns);
	haul_app_say(a->pub.program, "taken over from process %d", (int)h.pid);
	return rc;
}

/* The older one. */

/* What cannot be handed over now. */
static const char *problem_of(const struct hauli_app *a)
{
	if (a->paused)
		return "its pollers do not run";
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (!haul_io_is_attached(a->pub.io, i))
			return "one of its ports is detached";
	return NULL;
}

static void keep(const struct hauli_app *a)
{
	for (unsigned i = 0; h.offered && i < a->nb_ports; i++)
		haul_port_keep(a->ports[i]);
	h.offered = false;
}

/* Fills *hello and fds; a problem stands in it. Returns the number of descriptors, of which the
 * first ones, in *own, are copies. */
static unsigned offer_ports(const struct hauli_app *a, struct hauli_hello *hello,
	int fds[HAULI_HELLO_FDS], unsigned *own)
{
	const char *problem = problem_of(a);
	int listeners[HAULI_LISTENERS];
	unsigned n = 0;

	snprintf(hello->error, sizeof(hello->error), "%s", problem ? problem : "");
	hello->watchdog_ns = hauli_unit_watchdog();
	hello->nb_listeners = hauli_listeners_offered(hello->listeners, listeners);
	for (; hello->nb_ports < a->nb_ports && !hello->error[0]; hello->nb_ports++) {
		unsigned i = hello->nb_ports;
		struct haul_port_offer *o = &hello->ports[i].offer;

		h.offered = true;
		snprintf(hello->ports[i].spec, HAULI_HELLO_SPEC, "%s", haul_port_spec(a->ports[i]));
		if (haul_port_make_offer(a->ports[i], o, hello->error, sizeof(hello->error)) != 0)
			break;
		for (unsigned k = 0; k < o->nb_fds; k++) {
			if (n < HAULI_HELLO_FDS - HAULI_LISTENERS) {
				fds[n++] = o->fds[k];
				continue;
			}
			close(o->fds[k]);
			snprintf(hello->error, sizeof(hello->error), "too many queues");
		}
	}
	*own = n;
	memcpy(fds + n, listeners, hello->nb_listeners * sizeof(int));
	return n + hello->nb_listeners;
}

/* The end of the offer, with a line for the peer. */
static void withdraw(const struct hauli_app *a, const char *why)
{
	(void)haul_app_watch(&hauli_app_state.pub, h.peer, NULL, NULL);
	(void)send(h.peer, why, strlen(why), MSG_NOSIGNAL);
	keep(a);
	close_peer();
}

void hauli_hand_over_withdraw(const struct hauli_app *a, const char *why)
{
	if (h.peer && h.offered && !h.begins)
		withdraw(a, why);
}

/* A new program that was killed, or does not wait any more, does not take the ports. */
static bool has_left(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) != 0;
}

static void hear_peer(struct haul_app *app, int fd, void *arg)
{
	struct hauli_app *a = arg;
	const char *problem;
	char word[2];

	if (recv(fd, word, sizeof(word), 0) != 1 || word[0] != 'r' || has_left(fd)) {
		withdraw(a, "the other program has not said that it is ready");
		return;
	}
	problem = problem_of(a);
	if (problem) {
		withdraw(a, problem);
		return;
	}
	(void)haul_app_watch(app, fd, NULL, NULL);
	h.begins = true;
	hauli_unit_hands_over(h.pid);
	haul_app_end(app);
}

static void offer(struct hauli_app *a)
{
	struct hauli_hello *hello = calloc(1, sizeof(*hello));
	int fds[HAULI_HELLO_FDS];
	unsigned n, own = 0;
	bool sent;

	if (!hello) {
		close_peer();
		return;
	}
	n = offer_ports(a, hello, fds, &own);
	sent = hauli_hello_send(h.peer, hello, fds, hello->error[0] ? 0 : n) && !hello->error[0];
	while (own > 0)
		close(fds[--own]);
	free(hello);
	if (sent && haul_app_watch(&a->pub, h.peer, hear_peer, a) == 0)
		return;
	keep(a);
	close_peer();
}

static void refuse(int peer)
{
	struct hauli_hello *hello = calloc(1, sizeof(*hello));

	if (!hello)
		return;
	snprintf(hello->error, sizeof(hello->error), "process %d takes over just now", (int)h.pid);
	(void)hauli_hello_send(peer, hello, NULL, 0);
	free(hello);
}

static void accept_peer(struct haul_app *app, int fd, void *arg)
{
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	pid_t pid;

	if (peer < 0)
		return;
	if (h.peer || !hauli_path_is_trusted(peer, &pid)) {
		if (h.peer)
			refuse(peer);
		close(peer);
		return;
	}
	h.peer = peer;
	h.pid = pid;
	offer(arg);
}

int hauli_hand_over_listen(struct hauli_app *a)
{
	int fd, err;

	if (!a->hand_over)
		return HAUL_APP_DONE;
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (!haul_port_can_hand_over(a->ports[i]))
			return wrong(a,
				"only ports of the kinds tap and afpacket can be "
				"handed over");
	fd = hauli_path_listen(a->hand_over);
	if (fd < 0)
		return fail_ask(a, fd);
	h.listens = fd;
	hauli_path_unlock(a->hand_over);
	err = haul_app_watch(&a->pub, h.listens, accept_peer, a);
	return err ? fail(a, strerror(-err)) : HAUL_APP_DONE;
}

bool hauli_hand_over_begins(void)
{
	return h.begins;
}

void hauli_hand_over_leave(struct hauli_app *a)
{
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (haul_port_hand_over(a->ports[i], DRAIN_NS) != 0)
			haul_app_say(a->pub.program,
				"port '%s': received packets are lost, as carriers are busy",
				haul_port_spec(a->ports[i]));
}

void hauli_hand_over_done(struct hauli_app *a)
{
	/* Else the end of the process tells. */
	if (a->stop_err != -ETIMEDOUT)
		(void)send(h.peer, "d", 1, MSG_NOSIGNAL);
	haul_app_say(a->pub.program, "handed over to process %d", (int)h.pid);
}

/* This one ends before the peer is ready, which takes the ports then. */
static void leave_to_peer(const struct hauli_app *a)
{
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (haul_io_is_attached(a->pub.io, i))
			(void)haul_port_hand_over(a->ports[i], 0);
	h.offered = false;
}

void hauli_hand_over_end(struct hauli_app *a)
{
	if (h.listens)
		hauli_path_leave(a->hand_over, h.listens, h.begins);
	h.listens = 0;
	if (a->hand_over)
		hauli_path_unlock(a->hand_over);
	if (h.peer && h.offered && !h.begins && !has_left(h.peer))
		leave_to_peer(a);
	keep(a);
	/* Else pollers may run until the end of the process, which closes it. */
	if (a->stop_err != -ETIMEDOUT)
		close_peer();
	hauli_listeners_end();
	for (unsigned i = 0; h.taken && !h.taken->error[0] && i < h.taken->nb_ports; i++)
		close_offer(&h.taken->ports[i].offer);
	free(h.taken);
	h.taken = NULL;
}
