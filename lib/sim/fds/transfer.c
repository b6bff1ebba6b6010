/* SPDX-License-Identifier: BSD-3-Clause */
/* What sockets send and receive: at once, into the receiver's queue. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fds/socket.h"
#include "sim/world.h"

#define PACKET_MOST 65507 /* of UDP */
#define PACKET_COST 768 /* of the kernel's own for each that waits */
#define UNIX_DATAGRAMS 10 /* net.unix.max_dgram_qlen */
#define WRBAND 0x200u

unsigned hauli_sim_fds_short = 125;

static bool is_short(size_t n)
{
	return n > 1 && hauli_sim_fds_short && hauli_sim_random() % 1000 < hauli_sim_fds_short;
}

static size_t less_than(size_t n)
{
	return 1 + hauli_sim_random() % (n - 1);
}

static bool is_inet_stream(const struct hauli_sim_socket *s)
{
	return s->family != AF_UNIX && hauli_sim_socket_is_stream(s);
}

static ssize_t error_of(struct hauli_sim_socket *s)
{
	int err = s->err;

	s->err = 0;
	return -err;
}

/* Adds a packet. False: no memory, so it is lost, or the call fails. */
static bool put(struct hauli_sim_socket *to, const struct hauli_sim_name *from,
	struct hauli_sim_bytes *bytes, size_t n)
{
	struct hauli_sim_packet *p = malloc(sizeof(*p) + n);

	if (!p)
		return false;
	p->next = NULL;
	p->from = *from;
	p->at = 0;
	p->len = n;
	hauli_sim_bytes_move(bytes, p->bytes, NULL, n);
	*to->end = p;
	to->end = &p->next;
	to->bytes += hauli_sim_socket_is_stream(to) ? n : n + PACKET_COST;
	to->nb++;
	hauli_sim_file_changed(&to->file, HAULI_SIM_IN);
	return true;
}

static void drop_first(struct hauli_sim_socket *s)
{
	struct hauli_sim_packet *p = s->first;

	s->first = p->next;
	if (!p->next)
		s->end = &s->first;
	s->nb--;
	s->bytes -= hauli_sim_socket_is_stream(s) ? 0 : p->len + PACKET_COST;
	free(p);
}

void hauli_sim_drop_received(struct hauli_sim_socket *s)
{
	while (s->first)
		drop_first(s);
	s->bytes = 0;
}

/* A sender to s may have room again. */
static void has_room(struct hauli_sim_socket *s)
{
	if (s->peer)
		hauli_sim_file_changed(&s->peer->file, HAULI_SIM_OUT);
	if (s->type == SOCK_DGRAM && s->family == AF_UNIX)
		hauli_sim_file_changed(&s->file, HAULI_SIM_OUT); /* senders wait for it */
}

/* Streams. */

static ssize_t no_stream(struct hauli_sim_socket *s)
{
	if (s->family == AF_UNIX)
		return s->state == HAULI_SIM_SOCKET_CONNECTED ? -EPIPE : -ENOTCONN;
	if (s->state == HAULI_SIM_SOCKET_CONNECTING)
		return -EAGAIN;
	return s->err ? error_of(s) : -EPIPE;
}

/* The peer of a TCP connection has closed it, and says so to whoever sends to it. */
static ssize_t send_to_nobody(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	size_t n = t->bytes.left;

	hauli_sim_bytes_move(&t->bytes, NULL, NULL, n);
	hauli_sim_socket_reset(s, EPIPE);
	return (ssize_t)n;
}

static ssize_t send_stream(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	struct hauli_sim_socket *peer = s->peer;
	size_t n = t->bytes.left, room;

	if (s->state != HAULI_SIM_SOCKET_CONNECTED || s->shut_out)
		return no_stream(s);
	if (s->err && s->family != AF_UNIX)
		return error_of(s);
	if (!peer && s->family != AF_UNIX)
		return send_to_nobody(s, t);
	if (!peer || (peer->shut_in && s->family == AF_UNIX))
		return -EPIPE;
	if (n == 0)
		return 0;
	room = peer->bytes < peer->room ? peer->room - peer->bytes : 0;
	n = n < room ? n : room;
	if (n == 0)
		return -EAGAIN;
	if (is_inet_stream(s) && is_short(n)) {
		n = less_than(n);
		hauli_sim_file_changed(&s->file, HAULI_SIM_OUT); /* at once there is room again */
	}
	if (peer->shut_in) { /* nobody reads it */
		hauli_sim_bytes_move(&t->bytes, NULL, NULL, n);
		return (ssize_t)n;
	}
	return put(peer, &s->here, &t->bytes, n) ? (ssize_t)n : -ENOBUFS;
}

static void copy(struct hauli_sim_transfer *t, const char *from, size_t n)
{
	hauli_sim_bytes_move(&t->bytes, NULL, t->flags & MSG_TRUNC ? NULL : from, n);
}

static ssize_t take_stream(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	size_t most = t->bytes.left, done = 0;
	bool peeks = t->flags & MSG_PEEK, is_cut;

	most = most < s->bytes ? most : s->bytes;
	is_cut = is_inet_stream(s) && is_short(most);
	if (is_cut)
		most = less_than(most);
	for (struct hauli_sim_packet *p = s->first, *next; p && done < most; p = next) {
		size_t n = p->len - p->at < most - done ? p->len - p->at : most - done;

		next = p->next;
		copy(t, p->bytes + p->at, n);
		done += n;
		if (peeks)
			continue;
		p->at += n;
		s->bytes -= n;
		if (p->at == p->len)
			drop_first(s);
	}
	if (is_cut)
		hauli_sim_file_changed(&s->file, HAULI_SIM_IN); /* the rest comes */
	if (!peeks && done)
		has_room(s);
	return (ssize_t)done;
}

static ssize_t recv_stream(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	bool is_inet = s->family != AF_UNIX;

	if (s->state == HAULI_SIM_SOCKET_LISTENS)
		return is_inet ? -ENOTCONN : -EINVAL;
	if (s->state == HAULI_SIM_SOCKET_OPEN && !(is_inet && s->shut_in))
		return is_inet ? -ENOTCONN : -EINVAL;
	if (s->bytes)
		return take_stream(s, t);
	if (s->err)
		return error_of(s);
	if (s->shut_in)
		return 0;
	return -EAGAIN;
}

/* Datagrams and packets of connections. */

/* Whom a packet goes to, or NULL and *err. */
static struct hauli_sim_socket *receiver(
	struct hauli_sim_socket *s, const struct hauli_sim_transfer *t, ssize_t *err)
{
	const struct hauli_sim_name *to = t->to;

	*err = 0;
	if (s->type == SOCK_SEQPACKET || (!to && s->peer)) {
		*err = s->state != HAULI_SIM_SOCKET_CONNECTED ? -ENOTCONN : -EPIPE;
		return s->peer;
	}
	if (!to && s->state == HAULI_SIM_SOCKET_OVER) {
		s->state = HAULI_SIM_SOCKET_OPEN;
		hauli_sim_drop_received(s); /* as the kernel does */
		*err = -ECONNREFUSED;
		return NULL;
	}
	if (!to && s->state != HAULI_SIM_SOCKET_CONNECTED) {
		*err = s->family == AF_UNIX ? -ENOTCONN : -EDESTADDRREQ;
		return NULL;
	}
	if (!to)
		to = &s->there;
	if (s->family == AF_UNIX)
		*err = -ECONNREFUSED;
	return hauli_sim_find_bound(s, to);
}

static ssize_t send_packet(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	bool is_inet = s->family != AF_UNIX;
	size_t n = t->bytes.left;
	struct hauli_sim_name from;
	struct hauli_sim_socket *to;
	ssize_t err;

	if (n > (is_inet ? PACKET_MOST : s->room - 32))
		return -EMSGSIZE;
	if (s->err)
		return error_of(s);
	if (s->shut_out)
		return -EPIPE;
	if (is_inet && !s->is_bound && (err = hauli_sim_bind(s, NULL)) != 0)
		return err;
	to = receiver(s, t, &err);
	if (!to && (err || !is_inet))
		return err;
	if (!to) {
		if (s->state == HAULI_SIM_SOCKET_CONNECTED)
			s->err = ECONNREFUSED; /* which the next call finds */
		return (ssize_t)n;
	}
	if (to->shut_in && !is_inet)
		return -EPIPE;
	if (to->bytes + n > to->room ||
		(!is_inet && s->type == SOCK_DGRAM && to->nb > UNIX_DATAGRAMS))
		return is_inet ? (ssize_t)n : -EAGAIN;
	from = s->here;
	if (is_inet && hauli_sim_name_is_any(&from))
		memcpy(from.ip, t->to ? t->to->ip : s->there.ip, sizeof(from.ip));
	return put(to, &from, &t->bytes, n) || is_inet ? (ssize_t)n : -ENOBUFS;
}

static ssize_t recv_packet(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	struct hauli_sim_packet *p = s->first;
	size_t n;

	if (s->type == SOCK_SEQPACKET && s->state != HAULI_SIM_SOCKET_CONNECTED)
		return -ENOTCONN;
	if (s->err)
		return error_of(s);
	if (!p)
		return s->shut_in && (s->family != AF_UNIX || s->type == SOCK_SEQPACKET) ? 0
											 : -EAGAIN;
	n = p->len < t->bytes.left ? p->len : t->bytes.left;
	t->told |= n < p->len ? MSG_TRUNC : 0;
	hauli_sim_bytes_move(&t->bytes, NULL, p->bytes, n);
	t->from = p->from;
	n = t->flags & MSG_TRUNC ? p->len : n;
	if (!(t->flags & MSG_PEEK)) {
		drop_first(s);
		has_room(s);
	}
	return (ssize_t)n;
}

ssize_t hauli_sim_send(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	return hauli_sim_socket_is_stream(s) ? send_stream(s, t) : send_packet(s, t);
}

ssize_t hauli_sim_recv(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	return hauli_sim_socket_is_stream(s) ? recv_stream(s, t) : recv_packet(s, t);
}

static bool is_writable(const struct hauli_sim_socket *s)
{
	const struct hauli_sim_socket *peer = s->peer;

	if (!peer)
		return true;
	if (s->type == SOCK_DGRAM && peer->nb > UNIX_DATAGRAMS)
		return false;
	return s->family == AF_UNIX ? 4 * peer->bytes <= peer->room
				    : 3 * peer->bytes <= 2 * peer->room;
}

static uint32_t tcp_events(const struct hauli_sim_socket *s)
{
	bool is_over = s->state == HAULI_SIM_SOCKET_OPEN || s->state == HAULI_SIM_SOCKET_OVER;
	uint32_t events = s->err ? HAULI_SIM_ERR : 0;

	if (s->state == HAULI_SIM_SOCKET_LISTENS)
		return s->pending ? HAULI_SIM_IN : 0;
	if (is_over || (s->shut_in && s->shut_out))
		events |= HAULI_SIM_HUP;
	if (s->shut_in)
		events |= HAULI_SIM_IN | HAULI_SIM_RDHUP;
	if (s->state == HAULI_SIM_SOCKET_CONNECTING)
		return events;
	return events | (s->bytes ? HAULI_SIM_IN : 0) |
		(s->shut_out || is_writable(s) ? HAULI_SIM_OUT : 0);
}

uint32_t hauli_sim_socket_events(struct hauli_sim_file *f)
{
	const struct hauli_sim_socket *s = (const struct hauli_sim_socket *)f;
	uint32_t events = s->err ? HAULI_SIM_ERR : 0;

	if (is_inet_stream(s))
		return tcp_events(s);
	if (s->shut_in && s->shut_out)
		events |= HAULI_SIM_HUP;
	if (s->shut_in)
		events |= HAULI_SIM_IN | HAULI_SIM_RDHUP;
	if (s->first || s->pending)
		events |= HAULI_SIM_IN;
	if (hauli_sim_socket_connects(s) && s->state == HAULI_SIM_SOCKET_OPEN)
		events |= HAULI_SIM_HUP;
	return events | (is_writable(s) ? HAULI_SIM_OUT | WRBAND : 0);
}
