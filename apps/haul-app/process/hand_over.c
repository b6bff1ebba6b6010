/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two programs, of which the newer has connected to the older:
 *
 *	older: the ports, with what they are taken by (SCM_RIGHTS); it goes on
 *	newer, once it could start its pollers: "ready"
 *	older, once its pollers have ended: "done", or its end
 *
 * Until "ready" either may end, and the older one goes on. Messages are those of a socket that
 * keeps their bounds.
 */
#include "process/hand_over.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <haul-dpdk/hand_over.h>

#include "process/say.h"

#define ANSWER_MS 10000
#define FDS_MAX 250 /* of a message: SCM_MAX_FD is 253 */
#define DRAIN_NS HAUL_S
#define SPEC_SIZE 512

#define MAGIC "haul-hand-over-1"

struct hello {
	char magic[24];
	char error[256]; /* in place of all below */
	uint32_t nb_ports;
	struct {
		char spec[SPEC_SIZE];
		struct haul_port_offer offer;
	} ports[HAUL_APP_PORTS_MAX];
};

static struct {
	int listens, peer; /* 0: not */
	pid_t pid; /* of the peer */
	struct hello *taken; /* NULL: nothing was taken over */
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

/* 0, or -errno: the path is too long. */
static int address(const char *path, const char *end, struct sockaddr_un *to)
{
	*to = (struct sockaddr_un){.sun_family = AF_UNIX};
	return snprintf(to->sun_path, sizeof(to->sun_path), "%s%s", path, end) <
			(int)sizeof(to->sun_path)
		? 0
		: -ENAMETOOLONG;
}

static int make_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Only this user and root may have the ports. */
static bool is_trusted(int fd, pid_t *pid)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return false;
	*pid = who.pid;
	return who.uid == 0 || who.uid == geteuid();
}

/* Descriptors of all ports, one after the other. */
union control {
	char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

static bool send_hello(int to, const struct hello *hello, const int *fds, unsigned nb_fds)
{
	struct iovec part = {.iov_base = (void *)hello, .iov_len = sizeof(*hello)};
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {0};
	struct cmsghdr *c;

	if (nb_fds > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nb_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(nb_fds * sizeof(int))};
		memcpy(CMSG_DATA(c), fds, nb_fds * sizeof(int));
	}
	return sendmsg(to, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(*hello);
}

/* Puts the descriptors where the ports have theirs. False: it is no such message. */
static bool receive_hello(int from, struct hello *hello)
{
	struct iovec part = {.iov_base = hello, .iov_len = sizeof(*hello)};
	union control control;
	struct msghdr msg = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *c;
	unsigned have = 0, used = 0;
	const int *fds = NULL;

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*hello) ||
		strcmp(hello->magic, MAGIC) != 0)
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS) {
		fds = (const int *)CMSG_DATA(c);
		have = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	}
	for (unsigned i = 0; i < hello->nb_ports && i < HAUL_APP_PORTS_MAX; i++) {
		struct haul_port_offer *o = &hello->ports[i].offer;

		if (o->nb_fds > HAUL_OFFER_FDS || used + o->nb_fds > have)
			return false;
		memcpy(o->fds, fds + used, o->nb_fds * sizeof(int));
		used += o->nb_fds;
	}
	return true;
}

/* The newer program. */

/* True once there is something to read, or the end. */
static bool wait_for_peer(void)
{
	struct pollfd p = {.fd = h.peer, .events = POLLIN};
	const uint64_t end = haul_in(ANSWER_MS * HAUL_MS);
	int n;

	/* A TAP's signals interrupt it. */
	do
		n = poll(&p, 1, ANSWER_MS);
	while (n < 0 && errno == EINTR && haul_now() < end);
	return n > 0;
}

static int check_ports(const struct hauli_app *a)
{
	char line[SPEC_SIZE + 64];

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
			SPEC_SIZE - 1, h.taken->ports[i].spec);
		return wrong(a, line);
	}
	return HAUL_APP_DONE;
}

int hauli_hand_over_check(const struct hauli_app *a)
{
	struct sockaddr_un to;

	if (!a->hand_over || (a->hand_over[0] == '/' && address(a->hand_over, ".new", &to) == 0))
		return HAUL_APP_DONE;
	return wrong(a, "give a path of up to 100 bytes that begins with /");
}

int hauli_hand_over_ask(struct hauli_app *a)
{
	struct sockaddr_un to;

	if (!a->hand_over)
		return HAUL_APP_DONE;
	(void)address(a->hand_over, "", &to);
	h.peer = make_socket();
	if (h.peer < 0 || connect(h.peer, (const struct sockaddr *)&to, sizeof(to)) < 0) {
		int err = errno;

		close_peer();
		return err == ENOENT || err == ECONNREFUSED ? HAUL_APP_DONE
							    : fail(a, strerror(err));
	}
	if (!is_trusted(h.peer, &h.pid))
		return fail(a, "another user listens there");
	h.taken = malloc(sizeof(*h.taken));
	if (!h.taken || !wait_for_peer() || !receive_hello(h.peer, h.taken))
		return fail(a, "who listens there does not answer as a program of this version");
	return check_ports(a);
}

const struct haul_port_offer *hauli_hand_over_offer(unsigned port)
{
	return h.taken ? &h.taken->ports[port].offer : NULL;
}

static int take_port(struct hauli_app *a, unsigned port)
{
	const struct haul_port_offer *o = &h.taken->ports[port].offer;
	char errbuf[512];
	int err = haul_port_take(a->ports[port], errbuf, sizeof(errbuf));

	for (unsigned i = 0; i < o->nb_fds; i++)
		close(o->fds[i]);
	return err ? hauli_app_fail(a, err, errbuf) : HAUL_APP_DONE;
}

int hauli_hand_over_take(struct hauli_app *a)
{
	int rc = HAUL_APP_DONE;
	char done;

	if (!h.peer)
		return HAUL_APP_DONE;
	/* An error, and the end of the file, say that the other one has ended. */
	if (send(h.peer, "r", 1, MSG_NOSIGNAL) == 1 && !wait_for_peer())
		return fail(a, "the other program does not stop");
	(void)recv(h.peer, &done, 1, 0);
	close_peer();
	for (unsigned i = 0; i < a->nb_ports && rc == HAUL_APP_DONE; i++)
		rc = take_port(a, i);
	if (rc == HAUL_APP_DONE)
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

/* Fills *hello and fds; a problem stands in it. Returns the number of descriptors. */
static unsigned offer_ports(const struct hauli_app *a, struct hello *hello, int fds[FDS_MAX])
{
	const char *problem = problem_of(a);
	unsigned n = 0;

	snprintf(hello->error, sizeof(hello->error), "%s", problem ? problem : "");
	for (; hello->nb_ports < a->nb_ports && !hello->error[0]; hello->nb_ports++) {
		unsigned i = hello->nb_ports;
		struct haul_port_offer *o = &hello->ports[i].offer;

		h.offered = true;
		snprintf(hello->ports[i].spec, SPEC_SIZE, "%s", haul_port_spec(a->ports[i]));
		if (haul_port_offer(a->ports[i], o, hello->error, sizeof(hello->error)) != 0)
			break;
		for (unsigned k = 0; k < o->nb_fds; k++, n++) {
			if (n < FDS_MAX)
				fds[n] = o->fds[k];
			else
				close(o->fds[k]);
		}
	}
	if (n > FDS_MAX)
		snprintf(hello->error, sizeof(hello->error), "too many queues");
	return RTE_MIN(n, (unsigned)FDS_MAX);
}

static void hear_peer(struct haul_app *app, int fd, void *arg)
{
	struct hauli_app *a = arg;
	char word;

	(void)haul_app_watch(app, fd, NULL, NULL);
	if (recv(fd, &word, 1, 0) == 1 && word == 'r') {
		h.begins = true;
		haul_app_end(app);
		return;
	}
	keep(a);
	close_peer();
}

static void offer(struct hauli_app *a)
{
	struct hello *hello = calloc(1, sizeof(*hello));
	int fds[FDS_MAX];
	unsigned n;
	bool sent;

	if (!hello)
		return;
	strcpy(hello->magic, MAGIC);
	n = offer_ports(a, hello, fds);
	sent = send_hello(h.peer, hello, fds, hello->error[0] ? 0 : n) && !hello->error[0];
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	free(hello);
	if (sent && haul_app_watch(&a->pub, h.peer, hear_peer, a) == 0)
		return;
	keep(a);
	close_peer();
}

/* One at a time: another that comes meanwhile is told so. */
static void accept_peer(struct haul_app *app, int fd, void *arg)
{
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (peer < 0)
		return;
	if (h.peer || !is_trusted(peer, &h.pid)) {
		close(peer);
		return;
	}
	h.peer = peer;
	offer(arg);
}

/* The name changes its owner at once: who comes meets the one or the other. */
int hauli_hand_over_listen(struct hauli_app *a)
{
	struct sockaddr_un at, at_last;
	mode_t mask;
	int err;

	if (!a->hand_over)
		return HAUL_APP_DONE;
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (!haul_port_can_hand_over(a->ports[i]))
			return wrong(a,
				"only ports of the kinds tap and afpacket can be "
				"handed over");
	(void)address(a->hand_over, ".new", &at);
	(void)address(a->hand_over, "", &at_last);
	(void)unlink(at.sun_path);
	h.listens = make_socket();
	mask = umask(0077);
	err = h.listens < 0 || bind(h.listens, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
			listen(h.listens, 4) < 0 || rename(at.sun_path, at_last.sun_path) < 0
		? errno
		: 0;
	umask(mask);
	if (err == 0)
		err = -haul_app_watch(&a->pub, h.listens, accept_peer, a);
	return err ? fail(a, strerror(err)) : HAUL_APP_DONE;
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
	(void)send(h.peer, "d", 1, MSG_NOSIGNAL);
	close_peer();
	haul_app_say(a->pub.program, "handed over to process %d", (int)h.pid);
}

void hauli_hand_over_end(struct hauli_app *a)
{
	if (h.listens && !h.begins)
		(void)unlink(a->hand_over);
	if (h.listens)
		close(h.listens);
	keep(a);
	close_peer();
	h.listens = 0;
	free(h.taken);
	h.taken = NULL;
}
