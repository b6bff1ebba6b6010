/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections begin. */
#include <errno.h>
#include <string.h>

#include "sim/fds/socket.h"

#define LOOPBACK 1

void hauli_sim_name_of_host(struct hauli_sim_name *name)
{
	if (!hauli_sim_name_is_any(name))
		return;
	if (name->ip[10])
		name->ip[12] = 127;
	name->ip[15] = LOOPBACK;
}

int hauli_sim_listen(struct hauli_sim_socket *s, int backlog)
{
	int err = 0;

	if (!hauli_sim_socket_connects(s))
		return -EOPNOTSUPP;
	if (s->state != HAULI_SIM_SOCKET_OPEN && s->state != HAULI_SIM_SOCKET_LISTENS)
		return -EINVAL;
	if (!s->is_bound)
		err = s->family == AF_UNIX ? -EINVAL : hauli_sim_bind(s, NULL);
	if (err)
		return err;
	s->state = HAULI_SIM_SOCKET_LISTENS;
	s->backlog = backlog < 0 || backlog > SOMAXCONN ? SOMAXCONN : (unsigned)backlog;
	return 0;
}

static void enqueue(struct hauli_sim_socket **at, struct hauli_sim_socket *s)
{
	while (*at)
		at = &(*at)->next;
	s->next = NULL;
	*at = s;
}

/* s is connected to one that the listener accepts later. 0 or -errno. */
static int establish(struct hauli_sim_socket *s, struct hauli_sim_socket *listener)
{
	struct hauli_sim_socket *other =
		hauli_sim_socket_new(listener->family, s->type, s->protocol, 0);

	if (!other)
		return -ENOMEM;
	other->here = s->family == AF_UNIX ? listener->here : s->there;
	other->there = s->here;
	other->room = listener->room;
	other->file.refs = 1; /* the queue's */
	other->file.host = listener->file.host;
	hauli_sim_socket_join(s, other);
	enqueue(&listener->pending, other);
	listener->nb_pending++;
	hauli_sim_file_changed(&listener->file, HAULI_SIM_IN);
	hauli_sim_file_changed(&s->file, HAULI_SIM_OUT);
	return 0;
}

static int connect_stream(struct hauli_sim_socket *s, struct hauli_sim_socket *listener)
{
	if (!listener || listener->state != HAULI_SIM_SOCKET_LISTENS)
		return -ECONNREFUSED;
	if (listener->nb_pending <= listener->backlog)
		return establish(s, listener);
	if (s->family == AF_UNIX)
		return -EAGAIN;
	s->state = HAULI_SIM_SOCKET_CONNECTING;
	s->listener = listener;
	enqueue(&listener->waiting, s);
	return -EINPROGRESS;
}

int hauli_sim_connect(struct hauli_sim_socket *s, const struct hauli_sim_name *name)
{
	struct hauli_sim_name to = *name;
	struct hauli_sim_socket *peer;
	int err = 0;

	if (s->family != AF_UNIX) {
		hauli_sim_name_of_host(&to);
		if (hauli_sim_name_is_any(&s->here))
			memcpy(s->here.ip, to.ip, 16);
		if (!s->is_bound)
			err = hauli_sim_bind(s, NULL);
	}
	if (err)
		return err;
	peer = hauli_sim_find_bound(s, &to);
	s->there = to;
	if (hauli_sim_socket_connects(s))
		return connect_stream(s, peer);
	if (s->family == AF_UNIX && !peer)
		return -ECONNREFUSED;
	s->state = HAULI_SIM_SOCKET_CONNECTED;
	return 0;
}

static void take_out(struct hauli_sim_socket **at, struct hauli_sim_socket *s)
{
	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
}

struct hauli_sim_socket *hauli_sim_accept(struct hauli_sim_socket *s)
{
	struct hauli_sim_socket *first = s->pending, *next = s->waiting;

	if (!first)
		return NULL;
	s->pending = first->next;
	s->nb_pending--;
	if (next) {
		s->waiting = next->next;
		next->listener = NULL;
		if (establish(next, s) != 0)
			hauli_sim_socket_reset(next, ECONNREFUSED);
	}
	/* Connects of Unix wait for room. */
	hauli_sim_file_changed(&s->file, HAULI_SIM_OUT);
	return first;
}

void hauli_sim_leave(struct hauli_sim_socket *s)
{
	struct hauli_sim_socket *other;

	if (s->listener)
		take_out(&s->listener->waiting, s);
	s->listener = NULL;
	while ((other = s->pending)) {
		s->pending = other->next;
		hauli_sim_socket_reset(other->peer ? other->peer : other, ECONNRESET);
		hauli_sim_file_put(&other->file);
	}
	s->nb_pending = 0;
	while ((other = s->waiting)) {
		s->waiting = other->next;
		other->listener = NULL;
		hauli_sim_socket_reset(other, ECONNREFUSED);
	}
	if (s->state == HAULI_SIM_SOCKET_LISTENS)
		s->state = HAULI_SIM_SOCKET_OPEN;
}
