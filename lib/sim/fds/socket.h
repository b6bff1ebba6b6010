/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated sockets, of Unix, and TCP and UDP on this host, which has all addresses. */
#ifndef HAULI_SIM_FDS_SOCKET_H
#define HAULI_SIM_FDS_SOCKET_H

#include <sys/socket.h>
#include <sys/un.h>

#include "sim/fds/table.h"

/* An address of either kind: IPv4 as IPv6 has it. All zero: none. */
struct hauli_sim_name {
	uint8_t ip[16];
	uint16_t port; /* in network order */
	uint16_t len; /* of path */
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
};

/* What was sent. */
struct hauli_sim_packet {
	struct hauli_sim_packet *next;
	struct hauli_sim_name from;
	size_t at, len;
	char bytes[];
};

enum hauli_sim_socket_state {
	HAULI_SIM_SOCKET_OPEN,
	HAULI_SIM_SOCKET_LISTENS,
	HAULI_SIM_SOCKET_CONNECTING,
	HAULI_SIM_SOCKET_CONNECTED,
	HAULI_SIM_SOCKET_OVER, /* a connection that was reset or refused */
};

struct hauli_sim_socket {
	struct hauli_sim_file file; /* first */
	int family, type, protocol;
	enum hauli_sim_socket_state state;
	bool is_told; /* connect() has returned 0, or need not */
	struct hauli_sim_name here, there;
	struct hauli_sim_socket *peer; /* of a connection that it has not closed */
	struct hauli_sim_packet *first, **end; /* received */
	size_t bytes, room;
	unsigned nb;
	bool shut_in, shut_out;
	int err; /* SO_ERROR */
	bool reuses_addr, reuses_port, only_v6;
	struct hauli_sim_socket *next_of_port; /* of those that are bound */
	bool is_bound;
	/* Of one that listens: those that it has not accepted, and those that have no room among
	 * these; of theirs: the next one. */
	struct hauli_sim_socket *pending, *waiting, *next, *listener;
	unsigned nb_pending, backlog;
};

static inline bool hauli_sim_socket_is_stream(const struct hauli_sim_socket *s)
{
	return s->type == SOCK_STREAM;
}

/* Of a kind that connections have. */
static inline bool hauli_sim_socket_connects(const struct hauli_sim_socket *s)
{
	return s->type != SOCK_DGRAM;
}

/* A socket without a number yet; NULL: no memory. */
struct hauli_sim_socket *hauli_sim_socket_new(int family, int type, int protocol, int flags);
/* The socket of a file; NULL: it is another one. */
struct hauli_sim_socket *hauli_sim_socket_of(struct hauli_sim_file *f);
void hauli_sim_socket_join(struct hauli_sim_socket *a, struct hauli_sim_socket *b);
/* The connection is over, by the other side. */
void hauli_sim_socket_reset(struct hauli_sim_socket *s, int err);

/* ports.c */
int hauli_sim_name_in(const struct hauli_sim_socket *s, const struct sockaddr *a, socklen_t len,
	struct hauli_sim_name *name);
void hauli_sim_name_out(const struct hauli_sim_socket *s, const struct hauli_sim_name *name,
	struct sockaddr *a, socklen_t *len);
bool hauli_sim_name_is_any(const struct hauli_sim_name *name);
bool hauli_sim_name_equals(const struct hauli_sim_name *a, const struct hauli_sim_name *b);
/* 0 or -errno. name: NULL: any that is free. */
int hauli_sim_bind(struct hauli_sim_socket *s, const struct hauli_sim_name *name);
void hauli_sim_unbind(struct hauli_sim_socket *s);
/* The one that listens at an address, or that receives datagrams there; or NULL. */
struct hauli_sim_socket *hauli_sim_find_bound(
	const struct hauli_sim_socket *from, const struct hauli_sim_name *to);

/* connections.c */
/* The address that connect() takes for 0.0.0.0 and ::, this host. */
void hauli_sim_name_of_host(struct hauli_sim_name *name);
int hauli_sim_listen(struct hauli_sim_socket *s, int backlog);
int hauli_sim_connect(struct hauli_sim_socket *s, const struct hauli_sim_name *to);
/* The first that is pending, which is the caller's; NULL: none. */
struct hauli_sim_socket *hauli_sim_accept(struct hauli_sim_socket *s);
/* It listens no more, or does not connect any more. */
void hauli_sim_leave(struct hauli_sim_socket *s);

/* transfer.c. flags: MSG_PEEK, MSG_TRUNC. -EAGAIN as others. */
struct hauli_sim_transfer {
	struct hauli_sim_bytes bytes;
	int flags; /* of recvmsg(2) */
	bool waits; /* with a socket that does */
	const struct hauli_sim_name *to;
	struct hauli_sim_name from;
	int told; /* flags of the result */
};
ssize_t hauli_sim_send(struct hauli_sim_socket *s, struct hauli_sim_transfer *t);
ssize_t hauli_sim_recv(struct hauli_sim_socket *s, struct hauli_sim_transfer *t);
void hauli_sim_drop_received(struct hauli_sim_socket *s);
uint32_t hauli_sim_socket_events(struct hauli_sim_file *f);

/* Of a thousand transfers of streams, those that do not do all they could. */
extern unsigned hauli_sim_fds_short;

#endif
