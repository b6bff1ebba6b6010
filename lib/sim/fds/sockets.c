/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on sockets of families that are simulated. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/fds/socket.h"
#include "sim/real.h"

#define FLAGS (SOCK_CLOEXEC | SOCK_NONBLOCK)

_Static_assert(SOCK_CLOEXEC == O_CLOEXEC && SOCK_NONBLOCK == O_NONBLOCK, "they are the kernel's");

static bool is_simulated(int family)
{
	return family == AF_UNIX || family == AF_INET || family == AF_INET6;
}

static int check(int family, int type, int protocol)
{
	if (type & ~(FLAGS | 0xf))
		return -EINVAL;
	type &= 0xf;
	if (family == AF_UNIX)
		return protocol && protocol != AF_UNIX ? -EPROTONOSUPPORT
			: type == SOCK_STREAM || type == SOCK_DGRAM || type == SOCK_SEQPACKET
			? 0
			: -ESOCKTNOSUPPORT;
	if (type == SOCK_STREAM)
		return protocol && protocol != IPPROTO_TCP ? -EPROTONOSUPPORT : 0;
	if (type == SOCK_DGRAM)
		return protocol && protocol != IPPROTO_UDP ? -EPROTONOSUPPORT : 0;
	return -ESOCKTNOSUPPORT;
}

static int open_one(int family, int type, int protocol)
{
	struct hauli_sim_socket *s;
	int err = check(family, type, protocol);

	if (err)
		return err;
	s = hauli_sim_socket_new(family, type & 0xf, protocol, type);
	return s ? hauli_sim_fds_add(&s->file, type) : -ENOMEM;
}

HAULI_SIM_REPLACED int socket(int family, int type, int protocol)
{
	int err;

	if (!is_simulated(family) || !hauli_sim_fds_enter_new("socket", &err))
		return HAULI_SIM_REAL(socket)(family, type, protocol);
	return (int)hauli_sim_fds_result(err ? -err : open_one(family, type, protocol));
}

static int open_pair(int family, int type, int protocol, int fds[2])
{
	struct hauli_sim_socket *a, *b;
	int err = check(family, type, protocol);

	if (err)
		return err;
	if (family != AF_UNIX)
		return -EOPNOTSUPP;
	a = hauli_sim_socket_new(family, type & 0xf, protocol, type);
	b = hauli_sim_socket_new(family, type & 0xf, protocol, type);
	if (!a || !b) {
		free(a);
		free(b);
		return -ENOMEM;
	}
	hauli_sim_socket_join(a, b);
	return hauli_sim_fds_add_pair(&a->file, &b->file, type, fds);
}

HAULI_SIM_REPLACED int socketpair(int family, int type, int protocol, int fds[2])
{
	int err;

	if (!is_simulated(family) || !hauli_sim_fds_enter_new("socketpair", &err))
		return HAULI_SIM_REAL(socketpair)(family, type, protocol, fds);
	return (int)hauli_sim_fds_result(err ? -err : open_pair(family, type, protocol, fds));
}

/* A call on a socket begins. NULL: it is not simulated; *err: what it returns at once. */
static struct hauli_sim_socket *enter(const char *call, int fd, int *err)
{
	struct hauli_sim_file *f = hauli_sim_fds_enter(call, fd, err);
	struct hauli_sim_socket *s = f ? hauli_sim_socket_of(f) : NULL;

	*err = *err ? -*err : f && !s ? -ENOTSOCK : 0;
	return s;
}

/* As the last statement of a call: of libc's if there is no simulated socket. */
#define OR_REAL(s, err, real)                             \
	do {                                              \
		if (err)                                  \
			return hauli_sim_fds_result(err); \
		if (!(s))                                 \
			return real;                      \
	} while (0)

HAULI_SIM_REPLACED int bind(int fd, const struct sockaddr *a, socklen_t len)
{
	struct hauli_sim_name name;
	int err;
	struct hauli_sim_socket *s = enter("bind", fd, &err);

	OR_REAL(s, err, HAULI_SIM_REAL(bind)(fd, a, len));
	err = hauli_sim_name_in(s, a, len, &name);
	return (int)hauli_sim_fds_result(err ? err : hauli_sim_bind(s, &name));
}

HAULI_SIM_REPLACED int listen(int fd, int backlog)
{
	int err;
	struct hauli_sim_socket *s = enter("listen", fd, &err);

	OR_REAL(s, err, HAULI_SIM_REAL(listen)(fd, backlog));
	return (int)hauli_sim_fds_result(hauli_sim_listen(s, backlog));
}

static ssize_t try_accept(struct hauli_sim_file *f, void *arg)
{
	struct hauli_sim_socket *s = (struct hauli_sim_socket *)f, **accepted = arg;

	if (s->state != HAULI_SIM_SOCKET_LISTENS)
		return -EINVAL;
	*accepted = hauli_sim_accept(s);
	return *accepted ? 0 : -EAGAIN;
}

static int accept_one(struct hauli_sim_socket *s, struct sockaddr *a, socklen_t *len, int flags)
{
	struct hauli_sim_socket *got;
	int err, fd;

	if (flags & ~FLAGS)
		return -EINVAL;
	if (!hauli_sim_socket_connects(s))
		return -EOPNOTSUPP;
	err = (int)hauli_sim_file_try(&s->file, HAULI_SIM_IN,
		hauli_sim_file_until(&s->file, HAULI_SIM_IN, true), try_accept, &got);
	if (err)
		return err;
	got->file.flags = O_RDWR | (flags & O_NONBLOCK);
	hauli_sim_name_out(got, &got->there, a, len);
	fd = hauli_sim_fds_add(&got->file, flags);
	hauli_sim_file_put(&got->file);
	return fd;
}

HAULI_SIM_REPLACED int accept4(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
	int err;
	struct hauli_sim_socket *s = enter("accept4", fd, &err);

	OR_REAL(s, err, HAULI_SIM_REAL(accept4)(fd, a, len, flags));
	return (int)hauli_sim_fds_result(accept_one(s, a, len, flags));
}

HAULI_SIM_REPLACED int accept(int fd, struct sockaddr *a, socklen_t *len)
{
	return accept4(fd, a, len, 0);
}

/* A second connect() asks how the first one went. */
static int connect_again(struct hauli_sim_socket *s)
{
	int err = s->err;

	if (s->state == HAULI_SIM_SOCKET_CONNECTING)
		return -EALREADY;
	if (s->state == HAULI_SIM_SOCKET_CONNECTED && s->is_told)
		return -EISCONN;
	s->is_told = true;
	s->err = 0;
	if (s->state == HAULI_SIM_SOCKET_CONNECTED)
		return 0;
	s->state = HAULI_SIM_SOCKET_OPEN;
	s->shut_in = s->shut_out = s->is_told = false;
	return err ? -err : -ECONNABORTED;
}

static ssize_t try_connected(struct hauli_sim_file *f, void *arg)
{
	struct hauli_sim_socket *s = (struct hauli_sim_socket *)f;

	return s->state == HAULI_SIM_SOCKET_CONNECTING ? -EAGAIN : connect_again(s);
}

struct to {
	struct hauli_sim_socket *s;
	const struct hauli_sim_name *name;
};

static ssize_t try_connect(struct hauli_sim_file *listener, void *arg)
{
	struct to *to = arg;

	return hauli_sim_connect(to->s, to->name);
}

/* Of Unix, or of datagrams: it waits while the listener's queue is full. */
static int connect_unix(struct hauli_sim_socket *s, const struct hauli_sim_name *name)
{
	struct hauli_sim_socket *listener = hauli_sim_find_bound(s, name);
	struct to to = {s, name};
	struct hauli_sim_watch hold;

	int err;

	if (!listener)
		return hauli_sim_connect(s, name);
	hauli_sim_hold(&hold, &s->file);
	err = (int)hauli_sim_file_try(&listener->file, HAULI_SIM_OUT,
		hauli_sim_file_until(&s->file, HAULI_SIM_OUT, true), try_connect, &to);
	hauli_sim_let_go(&hold);
	return err;
}

/* The kernel connects while the call is under way, and returns before. */
static int connect_tcp(struct hauli_sim_socket *s, const struct hauli_sim_name *to)
{
	int err = hauli_sim_connect(s, to);

	if (err == -ECONNREFUSED)
		hauli_sim_socket_reset(s, ECONNREFUSED);
	else if (err && err != -EINPROGRESS)
		return err;
	if (s->file.flags & O_NONBLOCK)
		return -EINPROGRESS;
	err = (int)hauli_sim_file_try(&s->file, HAULI_SIM_OUT,
		hauli_sim_file_until(&s->file, HAULI_SIM_OUT, true), try_connected, NULL);
	return err == -EAGAIN ? -EINPROGRESS : err;
}

static int connect_to(struct hauli_sim_socket *s, const struct sockaddr *a, socklen_t len)
{
	struct hauli_sim_name to;
	int err;

	if (a && a->sa_family == AF_UNSPEC && s->type == SOCK_DGRAM) {
		s->state = HAULI_SIM_SOCKET_OPEN;
		return 0;
	}
	err = hauli_sim_name_in(s, a, len, &to);
	if (err)
		return err;
	if (s->state == HAULI_SIM_SOCKET_LISTENS)
		return s->family == AF_UNIX ? -EINVAL : -EISCONN;
	if (hauli_sim_socket_connects(s) && s->state != HAULI_SIM_SOCKET_OPEN)
		return connect_again(s);
	if (s->family != AF_UNIX && hauli_sim_socket_connects(s))
		return connect_tcp(s, &to);
	err = connect_unix(s, &to);
	s->is_told = true;
	return err;
}

HAULI_SIM_REPLACED int connect(int fd, const struct sockaddr *a, socklen_t len)
{
	int err;
	struct hauli_sim_socket *s = enter("connect", fd, &err);

	OR_REAL(s, err, HAULI_SIM_REAL(connect)(fd, a, len));
	return (int)hauli_sim_fds_result(connect_to(s, a, len));
}

static int shut(struct hauli_sim_socket *s, int how)
{
	bool in = how != SHUT_WR, out = how != SHUT_RD;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (s->family != AF_UNIX && s->state == HAULI_SIM_SOCKET_LISTENS && in) {
		hauli_sim_leave(s);
		hauli_sim_file_changed(&s->file, UINT32_MAX);
		return 0;
	}
	if (s->family != AF_UNIX && s->state != HAULI_SIM_SOCKET_CONNECTED &&
		s->state != HAULI_SIM_SOCKET_CONNECTING)
		return -ENOTCONN;
	s->shut_in |= in;
	s->shut_out |= out;
	hauli_sim_file_changed(&s->file, UINT32_MAX);
	if (!s->peer || !hauli_sim_socket_connects(s))
		return 0;
	s->peer->shut_in |= out;
	s->peer->shut_out |= in && s->family == AF_UNIX;
	hauli_sim_file_changed(&s->peer->file, UINT32_MAX);
	return 0;
}

HAULI_SIM_REPLACED int shutdown(int fd, int how)
{
	int err;
	struct hauli_sim_socket *s = enter("shutdown", fd, &err);

	OR_REAL(s, err, HAULI_SIM_REAL(shutdown)(fd, how));
	return (int)hauli_sim_fds_result(shut(s, how));
}

HAULI_SIM_REPLACED int getsockname(int fd, struct sockaddr *a, socklen_t *len)
{
	int err;
	struct hauli_sim_socket *s = enter("getsockname", fd, &err);

	OR_REAL(s, err, HAULI_SIM_REAL(getsockname)(fd, a, len));
	hauli_sim_name_out(s, &s->here, a, len);
	return 0;
}

HAULI_SIM_REPLACED int getpeername(int fd, struct sockaddr *a, socklen_t *len)
{
	int err;
	struct hauli_sim_socket *s = enter("getpeername", fd, &err);

	OR_REAL(s, err, HAULI_SIM_REAL(getpeername)(fd, a, len));
	if (s->state != HAULI_SIM_SOCKET_CONNECTED)
		return (int)hauli_sim_fds_result(-ENOTCONN);
	hauli_sim_name_out(s, &s->there, a, len);
	return 0;
}
