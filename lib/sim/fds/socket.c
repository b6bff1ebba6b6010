/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fds/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "sim/fault.h"

#define ROOM (208 * 1024)

static ssize_t socket_read(struct hauli_sim_file *f, struct hauli_sim_bytes *to)
{
	struct hauli_sim_transfer t = {.bytes = *to};
	ssize_t n;

	if (to->left == 0)
		return 0;
	n = hauli_sim_recv((struct hauli_sim_socket *)f, &t);
	*to = t.bytes;
	return n;
}

static ssize_t socket_write(struct hauli_sim_file *f, struct hauli_sim_bytes *from)
{
	struct hauli_sim_transfer t = {.bytes = *from};
	ssize_t n = hauli_sim_send((struct hauli_sim_socket *)f, &t);

	*from = t.bytes;
	return n;
}

static int socket_readable(struct hauli_sim_file *f)
{
	const struct hauli_sim_socket *s = (const struct hauli_sim_socket *)f;
	size_t n = s->first ? s->first->len - s->first->at : 0;

	/* Of datagrams the first one only. */
	for (const struct hauli_sim_packet *p = s->first; p && s->type != SOCK_DGRAM; p = p->next)
		n += p == s->first ? 0 : p->len;
	return (int)n;
}

static void socket_release(struct hauli_sim_file *f)
{
	struct hauli_sim_socket *s = (struct hauli_sim_socket *)f, *peer = s->peer;
	bool had_unread = s->first;

	hauli_sim_unbind(s);
	hauli_sim_leave(s);
	if (peer) {
		peer->peer = NULL;
		if (!hauli_sim_socket_connects(s)) {
			peer->state = HAULI_SIM_SOCKET_OVER;
		} else if (s->family != AF_UNIX && had_unread) {
			hauli_sim_socket_reset(peer, ECONNRESET);
		} else {
			peer->err = had_unread ? ECONNRESET : peer->err;
			peer->shut_in = true;
			peer->shut_out |= s->family == AF_UNIX;
			hauli_sim_file_changed(&peer->file, UINT32_MAX);
		}
	}
	hauli_sim_drop_received(s);
	free(s);
}

/* A connection that a call finds broken is so for both sides. */
static int socket_fails(struct hauli_sim_file *f, bool is_write)
{
	struct hauli_sim_socket *s = (struct hauli_sim_socket *)f;
	int err;

	if (!hauli_sim_fails(is_write ? "send" : "recv", &err))
		return 0;
	if (err != ECONNRESET && err != EPIPE)
		return -err;
	if (s->state != HAULI_SIM_SOCKET_CONNECTED || !hauli_sim_socket_connects(s))
		return 0;
	if (s->peer)
		hauli_sim_socket_reset(s->peer, ECONNRESET);
	hauli_sim_socket_reset(s, 0);
	return -err;
}

static const struct hauli_sim_file_kind stream = {
	.read = socket_read,
	.write = socket_write,
	.events = hauli_sim_socket_events,
	.readable = socket_readable,
	.release = socket_release,
	.fails = socket_fails,
	.is_stream = true,
};
static const struct hauli_sim_file_kind packets = {
	.read = socket_read,
	.write = socket_write,
	.events = hauli_sim_socket_events,
	.readable = socket_readable,
	.release = socket_release,
	.fails = socket_fails,
};

struct hauli_sim_socket *hauli_sim_socket_of(struct hauli_sim_file *f)
{
	return f->kind == &stream || f->kind == &packets ? (struct hauli_sim_socket *)f : NULL;
}

struct hauli_sim_socket *hauli_sim_socket_new(int family, int type, int protocol, int flags)
{
	struct hauli_sim_socket *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	hauli_sim_file_init(
		&s->file, type == SOCK_STREAM ? &stream : &packets, O_RDWR | (flags & O_NONBLOCK));
	s->family = family;
	s->type = type;
	s->protocol = protocol;
	s->end = &s->first;
	s->room = ROOM;
	return s;
}

void hauli_sim_socket_join(struct hauli_sim_socket *a, struct hauli_sim_socket *b)
{
	a->peer = b;
	b->peer = a;
	a->state = b->state = HAULI_SIM_SOCKET_CONNECTED;
	b->is_told = true;
}

void hauli_sim_socket_reset(struct hauli_sim_socket *s, int err)
{
	if (s->peer)
		s->peer->peer = NULL;
	s->peer = NULL;
	s->err = err;
	s->shut_in = s->shut_out = true;
	s->state = s->family == AF_UNIX ? s->state : HAULI_SIM_SOCKET_OVER;
	hauli_sim_file_changed(&s->file, UINT32_MAX);
}
