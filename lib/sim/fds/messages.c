/* SPDX-License-Identifier: BSD-3-Clause */
/* send(2), recv(2) and those like them. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "sim/fds/socket.h"
#include "sim/real.h"

static ssize_t try_send(struct hauli_sim_file *f, void *arg)
{
	return hauli_sim_send((struct hauli_sim_socket *)f, arg);
}

static ssize_t try_recv(struct hauli_sim_file *f, void *arg)
{
	return hauli_sim_recv((struct hauli_sim_socket *)f, arg);
}

/* What a sender without room waits for: its own file, or that of whom it sends to. */
static ssize_t send_once(struct hauli_sim_socket *s, struct hauli_sim_transfer *t, uint64_t until)
{
	struct hauli_sim_transfer again = *t;
	ssize_t n = hauli_sim_file_try(&s->file, HAULI_SIM_OUT, until, try_send, &again);

	t->bytes = again.bytes;
	return n;
}

static ssize_t send_all(struct hauli_sim_socket *s, struct hauli_sim_transfer *t, int flags)
{
	uint64_t until = hauli_sim_file_until(&s->file, HAULI_SIM_OUT, !(flags & MSG_DONTWAIT));
	bool is_stream = hauli_sim_socket_is_stream(s);
	ssize_t n, sum = 0;
	struct hauli_sim_watch hold;

	hauli_sim_hold(&hold, &s->file);
	do {
		n = send_once(s, t, until);
		sum += n > 0 ? n : 0;
	} while (n > 0 && is_stream && until && t->bytes.left);
	hauli_sim_let_go(&hold);
	if (n == -EPIPE && sum == 0 && is_stream && !(flags & MSG_NOSIGNAL))
		(void)raise(SIGPIPE);
	return sum ? sum : n;
}

static ssize_t recv_all(struct hauli_sim_socket *s, struct hauli_sim_transfer *t)
{
	uint64_t until = hauli_sim_file_until(&s->file, HAULI_SIM_IN, !(t->flags & MSG_DONTWAIT));
	bool goes_on = hauli_sim_socket_is_stream(s) && until && t->flags & MSG_WAITALL &&
		!(t->flags & MSG_PEEK);
	ssize_t n, sum = 0;
	struct hauli_sim_watch hold;

	hauli_sim_hold(&hold, &s->file);
	do {
		n = hauli_sim_file_try(&s->file, HAULI_SIM_IN, until, try_recv, t);
		sum += n > 0 ? n : 0;
	} while (n > 0 && goes_on && t->bytes.left);
	/* The kernel has looked for more, and found the error, which it tells nobody. */
	if (sum && t->bytes.left && s->family == AF_UNIX && hauli_sim_socket_is_stream(s) &&
		t->flags & MSG_WAITALL)
		s->err = 0;
	hauli_sim_let_go(&hold);
	return sum ? sum : n;
}

static ssize_t send_msg(struct hauli_sim_socket *s, const struct msghdr *msg, int flags)
{
	struct hauli_sim_transfer t = {0};
	struct hauli_sim_name to;
	int err;

	if (msg->msg_iovlen > IOV_MAX)
		return -EMSGSIZE;
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	err = s->file.kind->fails(&s->file, true);
	if (err)
		return err;
	if (msg->msg_control && msg->msg_controllen)
		return -EINVAL; /* nothing of it is simulated */
	t.bytes = hauli_sim_bytes(msg->msg_iov, msg->msg_iovlen);
	if (msg->msg_name && msg->msg_namelen && hauli_sim_socket_is_stream(s) &&
		s->family == AF_UNIX)
		return s->state == HAULI_SIM_SOCKET_CONNECTED ? -EISCONN : -EOPNOTSUPP;
	if (msg->msg_name && msg->msg_namelen && !hauli_sim_socket_connects(s)) {
		err = hauli_sim_name_in(s, msg->msg_name, msg->msg_namelen, &to);
		if (err)
			return err;
		hauli_sim_name_of_host(&to);
		t.to = &to;
	}
	return send_all(s, &t, flags);
}

static ssize_t recv_msg(struct hauli_sim_socket *s, struct msghdr *msg, int flags)
{
	struct hauli_sim_transfer t = {.flags = flags};
	ssize_t n;
	int err;

	if (msg->msg_iovlen > IOV_MAX)
		return -EMSGSIZE;
	if (flags & MSG_OOB)
		return -EINVAL;
	err = s->file.kind->fails(&s->file, false);
	if (err)
		return err;
	t.bytes = hauli_sim_bytes(msg->msg_iov, msg->msg_iovlen);
	n = recv_all(s, &t);
	if (n < 0)
		return n;
	msg->msg_flags = t.told;
	msg->msg_controllen = 0;
	if (!msg->msg_name)
		return n;
	if (hauli_sim_socket_connects(s) || (s->family == AF_UNIX && !t.from.len))
		msg->msg_namelen = 0;
	else
		hauli_sim_name_out(s, &t.from, msg->msg_name, &msg->msg_namelen);
	return n;
}

/* The socket of a call on a number; NULL: not simulated, or *err. */
static struct hauli_sim_socket *enter(int fd, int *err)
{
	struct hauli_sim_file *f = hauli_sim_fds_enter(NULL, fd, NULL);
	struct hauli_sim_socket *s = f ? hauli_sim_socket_of(f) : NULL;

	*err = f && !s ? -ENOTSOCK : 0;
	return s;
}

HAULI_SIM_REPLACED ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	int err;
	struct hauli_sim_socket *s = enter(fd, &err);

	if (!s && !err)
		return HAULI_SIM_REAL(sendmsg)(fd, msg, flags);
	return hauli_sim_fds_result(err ? err : send_msg(s, msg, flags));
}

HAULI_SIM_REPLACED ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	int err;
	struct hauli_sim_socket *s = enter(fd, &err);

	if (!s && !err)
		return HAULI_SIM_REAL(recvmsg)(fd, msg, flags);
	return hauli_sim_fds_result(err ? err : recv_msg(s, msg, flags));
}

HAULI_SIM_REPLACED ssize_t sendto(
	int fd, const void *buf, size_t n, int flags, const struct sockaddr *a, socklen_t len)
{
	struct iovec iov = {(void *)buf, n};
	struct msghdr msg = {
		.msg_name = (void *)a, .msg_namelen = len, .msg_iov = &iov, .msg_iovlen = 1};
	int err;
	struct hauli_sim_socket *s = enter(fd, &err);

	if (!s && !err)
		return HAULI_SIM_REAL(sendto)(fd, buf, n, flags, a, len);
	return hauli_sim_fds_result(err ? err : send_msg(s, &msg, flags));
}

HAULI_SIM_REPLACED ssize_t recvfrom(int fd, void *restrict buf, size_t n, int flags,
	struct sockaddr *restrict a, socklen_t *restrict len)
{
	struct iovec iov = {buf, n};
	struct msghdr msg = {.msg_name = a,
		.msg_namelen = a && len ? *len : 0,
		.msg_iov = &iov,
		.msg_iovlen = 1};
	ssize_t done;
	int err;
	struct hauli_sim_socket *s = enter(fd, &err);

	if (!s && !err)
		return HAULI_SIM_REAL(recvfrom)(fd, buf, n, flags, a, len);
	done = err ? err : recv_msg(s, &msg, flags);
	if (done >= 0 && a && len)
		*len = msg.msg_namelen;
	return hauli_sim_fds_result(done);
}

HAULI_SIM_REPLACED ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	return sendto(fd, buf, n, flags, NULL, 0);
}

HAULI_SIM_REPLACED ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	return recvfrom(fd, buf, n, flags, NULL, NULL);
}

HAULI_SIM_REPLACED int sendmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags)
{
	unsigned done = 0;

	if (!hauli_sim_fds_file(fd))
		return HAULI_SIM_REAL(sendmmsg)(fd, msgs, n, flags);
	while (done < n) {
		ssize_t len = sendmsg(fd, &msgs[done].msg_hdr, flags);

		if (len < 0)
			break;
		msgs[done++].msg_len = (unsigned)len;
	}
	return done || n == 0 ? (int)done : -1;
}

HAULI_SIM_REPLACED int recvmmsg(
	int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *t)
{
	unsigned done = 0;

	if (!hauli_sim_fds_file(fd))
		return HAULI_SIM_REAL(recvmmsg)(fd, msgs, n, flags, t);
	while (done < n) {
		ssize_t len = recvmsg(fd, &msgs[done].msg_hdr, flags & ~MSG_WAITFORONE);

		if (len < 0)
			break;
		msgs[done++].msg_len = (unsigned)len;
		flags |= flags & MSG_WAITFORONE ? MSG_DONTWAIT : 0;
	}
	return done || n == 0 ? (int)done : -1;
}

/* What compilers call with _FORTIFY_SOURCE. */
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(
	int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *a, socklen_t *len);

HAULI_SIM_REPLACED ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags)
{
	return recv(fd, buf, n, flags);
}

HAULI_SIM_REPLACED ssize_t __recvfrom_chk(
	int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *a, socklen_t *len)
{
	return recvfrom(fd, buf, n, flags, a, len);
}
