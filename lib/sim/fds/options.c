/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of sockets: few have an effect; the others are accepted. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <haul/base.h>

#include "sim/fds/socket.h"
#include "sim/real.h"

#define ROOM_LEAST 2304u
#define ROOM_MOST (8u << 20)

static uint64_t ns_of(const void *value, socklen_t len)
{
	struct timeval t;

	if (len < sizeof(t))
		return 0;
	memcpy(&t, value, sizeof(t));
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_usec * HAUL_US;
}

static void set_room(struct hauli_sim_socket *s, int n)
{
	unsigned room = n < 0 ? ROOM_MOST : 2 * (unsigned)n;

	s->room = room < ROOM_LEAST ? ROOM_LEAST : room > ROOM_MOST ? ROOM_MOST : room;
}

static int set_of_socket(struct hauli_sim_socket *s, int name, const void *value, socklen_t len)
{
	int n;

	if (name == SO_RCVTIMEO || name == SO_SNDTIMEO) {
		*(name == SO_RCVTIMEO ? &s->file.in_ns : &s->file.out_ns) = ns_of(value, len);
		return 0;
	}
	if (len < sizeof(n))
		return name == SO_BINDTODEVICE ? 0 : -EINVAL;
	memcpy(&n, value, sizeof(n));
	switch (name) {
	case SO_REUSEADDR:
		s->reuses_addr = n;
		break;
	case SO_REUSEPORT:
		s->reuses_port = n;
		break;
	case SO_RCVBUF:
		set_room(s, n);
		break;
	case SO_TYPE:
	case SO_ERROR:
	case SO_DOMAIN:
	case SO_PROTOCOL:
	case SO_ACCEPTCONN:
		return -ENOPROTOOPT;
	default:
		break;
	}
	return 0;
}

HAULI_SIM_REPLACED int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("setsockopt", fd, &err);
	struct hauli_sim_socket *s = f ? hauli_sim_socket_of(f) : NULL;

	if (!f)
		return HAULI_SIM_REAL(setsockopt)(fd, level, name, value, len);
	if (err || !s)
		return (int)hauli_sim_fds_result(err ? -err : -ENOTSOCK);
	if (level == SOL_SOCKET)
		return (int)hauli_sim_fds_result(set_of_socket(s, name, value, len));
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && len >= sizeof(int))
		s->only_v6 = *(const int *)value;
	return 0;
}

static int get_of_socket(struct hauli_sim_socket *s, int name)
{
	int err = s->err;

	switch (name) {
	case SO_TYPE:
		return s->type;
	case SO_DOMAIN:
		return s->family;
	case SO_PROTOCOL:
		return s->protocol               ? s->protocol
			: s->family == AF_UNIX   ? 0
			: s->type == SOCK_STREAM ? IPPROTO_TCP
						 : IPPROTO_UDP;
	case SO_ERROR:
		s->err = 0;
		return err;
	case SO_ACCEPTCONN:
		return s->state == HAULI_SIM_SOCKET_LISTENS;
	case SO_RCVBUF:
	case SO_SNDBUF:
		return (int)s->room;
	case SO_REUSEADDR:
		return s->reuses_addr;
	case SO_REUSEPORT:
		return s->reuses_port;
	default:
		return 0;
	}
}

HAULI_SIM_REPLACED int getsockopt(
	int fd, int level, int name, void *restrict value, socklen_t *restrict len)
{
	int err, n = 0;
	struct hauli_sim_file *f = hauli_sim_fds_enter("getsockopt", fd, &err);
	struct hauli_sim_socket *s = f ? hauli_sim_socket_of(f) : NULL;
	struct timeval t;
	uint64_t ns;

	if (!f)
		return HAULI_SIM_REAL(getsockopt)(fd, level, name, value, len);
	if (err || !s)
		return (int)hauli_sim_fds_result(err ? -err : -ENOTSOCK);
	if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
		ns = name == SO_RCVTIMEO ? f->in_ns : f->out_ns;
		t = (struct timeval){.tv_sec = (time_t)(ns / HAUL_S),
			.tv_usec = (suseconds_t)(ns % HAUL_S / HAUL_US)};
		*len = *len < sizeof(t) ? *len : sizeof(t);
		memcpy(value, &t, *len);
		return 0;
	}
	if (level == SOL_SOCKET)
		n = get_of_socket(s, name);
	else if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
		n = s->only_v6;
	*len = *len < sizeof(n) ? *len : sizeof(n);
	memcpy(value, &n, *len);
	return 0;
}
