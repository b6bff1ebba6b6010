/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses, and who has them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "sim/fds/socket.h"
#include "sim/world.h"

#define BUCKETS 256
#define FIRST 32768 /* of the ports that are given out, as by the kernel */
#define NB 28232
#define TRIES 1000

static const uint8_t v4[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
static const uint8_t none[16];

/* Of Unix in the bucket of port 0. */
static struct hauli_sim_socket *bound[BUCKETS];

static bool is_v4(const struct hauli_sim_name *name)
{
	return memcmp(name->ip, v4, sizeof(v4)) == 0;
}

bool hauli_sim_name_is_any(const struct hauli_sim_name *name)
{
	return memcmp(name->ip, none, 16) == 0 ||
		(is_v4(name) && memcmp(name->ip + 12, none, 4) == 0);
}

bool hauli_sim_name_equals(const struct hauli_sim_name *a, const struct hauli_sim_name *b)
{
	return a->port == b->port && memcmp(a->ip, b->ip, 16) == 0 && a->len == b->len &&
		memcmp(a->path, b->path, a->len) == 0;
}

static int unix_name(const struct sockaddr *a, socklen_t len, struct hauli_sim_name *name)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)a;
	size_t room = len - offsetof(struct sockaddr_un, sun_path);

	if (a->sa_family != AF_UNIX || len > sizeof(*un))
		return -EINVAL;
	name->len = (uint16_t)(room && un->sun_path[0] ? strnlen(un->sun_path, room) : room);
	memcpy(name->path, un->sun_path, name->len);
	return 0;
}

int hauli_sim_name_in(const struct hauli_sim_socket *s, const struct sockaddr *a, socklen_t len,
	struct hauli_sim_name *name)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;

	memset(name, 0, sizeof(*name));
	if (!a)
		return -EFAULT;
	if (len < sizeof(a->sa_family))
		return -EINVAL;
	if (s->family == AF_UNIX)
		return unix_name(a, len, name);
	if (a->sa_family != s->family)
		return len < sizeof(*in) ? -EINVAL : -EAFNOSUPPORT;
	if (len < (s->family == AF_INET ? sizeof(*in) : sizeof(*in6)))
		return -EINVAL;
	if (s->family == AF_INET) {
		memcpy(name->ip, v4, sizeof(v4));
		memcpy(name->ip + 12, &in->sin_addr, 4);
		name->port = in->sin_port;
	} else {
		memcpy(name->ip, &in6->sin6_addr, 16);
		name->port = in6->sin6_port;
	}
	return 0;
}

static void copy_out(const void *from, size_t n, struct sockaddr *a, socklen_t *len)
{
	memcpy(a, from, n < *len ? n : *len);
	*len = (socklen_t)n;
}

void hauli_sim_name_out(const struct hauli_sim_socket *s, const struct hauli_sim_name *name,
	struct sockaddr *a, socklen_t *len)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = name->port};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = name->port};

	if (!a || !len)
		return;
	if (s->family == AF_UNIX) {
		bool is_path = name->len && name->path[0] && name->len < sizeof(un.sun_path);

		memcpy(un.sun_path, name->path, name->len);
		copy_out(&un, offsetof(struct sockaddr_un, sun_path) + name->len + is_path, a, len);
	} else if (s->family == AF_INET) {
		memcpy(&in.sin_addr, name->ip + 12, 4);
		copy_out(&in, sizeof(in), a, len);
	} else {
		memcpy(&in6.sin6_addr, name->ip, 16);
		copy_out(&in6, sizeof(in6), a, len);
	}
}

static struct hauli_sim_socket **bucket_of(const struct hauli_sim_name *name)
{
	return &bound[ntohs(name->port) % BUCKETS];
}

static bool are_one_kind(const struct hauli_sim_socket *a, const struct hauli_sim_socket *b)
{
	return (a->family == AF_UNIX) == (b->family == AF_UNIX) && a->type == b->type;
}

/* Whether a packet to one of the two could be the other's. */
static bool overlap(const struct hauli_sim_socket *a, const struct hauli_sim_socket *b,
	const struct hauli_sim_name *of_b)
{
	bool any_a = hauli_sim_name_is_any(&a->here), any_b = hauli_sim_name_is_any(of_b);

	if (a->family == AF_UNIX)
		return hauli_sim_name_equals(&a->here, of_b);
	if ((a->only_v6 && b->family == AF_INET) || (b->only_v6 && a->family == AF_INET))
		return false;
	if (a->family != b->family && !(any_a && any_b))
		return any_a ? a->family == AF_INET6 : any_b && b->family == AF_INET6;
	return any_a || any_b || memcmp(a->here.ip, of_b->ip, 16) == 0;
}

static bool is_free(const struct hauli_sim_socket *s, const struct hauli_sim_name *name)
{
	for (const struct hauli_sim_socket *o = *bucket_of(name); o; o = o->next_of_port) {
		if (!are_one_kind(o, s) || o->here.port != name->port || !overlap(o, s, name))
			continue;
		if (s->family != AF_UNIX && o->reuses_port && s->reuses_port)
			continue;
		if (s->family != AF_UNIX && o->reuses_addr && s->reuses_addr &&
			o->state != HAULI_SIM_SOCKET_LISTENS)
			continue;
		return false;
	}
	return true;
}

static int choose(struct hauli_sim_socket *s, struct hauli_sim_name *name)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t n = (uint32_t)(hauli_sim_random() % NB);

		if (s->family == AF_UNIX)
			name->len = (uint16_t)(1 +
				snprintf(name->path + 1, sizeof(name->path) - 1, "%05x", n));
		else
			name->port = htons((uint16_t)(FIRST + n));
		if (is_free(s, name))
			return 0;
	}
	return -EADDRINUSE;
}

int hauli_sim_bind(struct hauli_sim_socket *s, const struct hauli_sim_name *at)
{
	struct hauli_sim_name name = at ? *at : s->here;
	struct hauli_sim_socket **bucket;
	int err = 0;

	if (s->is_bound)
		return -EINVAL;
	if (s->family == AF_INET)
		memcpy(name.ip, v4, sizeof(v4));
	if (s->family == AF_UNIX ? name.len == 0 : name.port == 0)
		err = choose(s, &name);
	else if (!is_free(s, &name))
		err = -EADDRINUSE;
	if (err)
		return err;
	bucket = bucket_of(&name);
	s->here = name;
	s->is_bound = true;
	s->next_of_port = *bucket;
	*bucket = s;
	return 0;
}

void hauli_sim_unbind(struct hauli_sim_socket *s)
{
	struct hauli_sim_socket **at = bucket_of(&s->here);

	if (!s->is_bound)
		return;
	while (*at != s)
		at = &(*at)->next_of_port;
	*at = s->next_of_port;
	s->is_bound = false;
}

/* How well it fits; 0: not at all. */
static unsigned fits(const struct hauli_sim_socket *s, const struct hauli_sim_socket *from,
	const struct hauli_sim_name *to)
{
	bool is_any = hauli_sim_name_is_any(&s->here);

	if (!are_one_kind(s, from) || s->here.port != to->port)
		return 0;
	if (s->family == AF_UNIX)
		return hauli_sim_name_equals(&s->here, to);
	if (s->type == SOCK_STREAM && s->state != HAULI_SIM_SOCKET_LISTENS)
		return 0;
	if (is_any && (s->family == AF_INET ? !is_v4(to) : is_v4(to) && s->only_v6))
		return 0;
	if (!is_any && memcmp(s->here.ip, to->ip, 16) != 0)
		return 0;
	if (s->state == HAULI_SIM_SOCKET_CONNECTED) /* UDP: only from there */
		return s->there.port == from->here.port &&
				memcmp(s->there.ip, from->here.ip, 16) == 0
			? 4
			: 0;
	return is_any ? 1 : 2;
}

struct hauli_sim_socket *hauli_sim_find_bound(
	const struct hauli_sim_socket *from, const struct hauli_sim_name *to)
{
	struct hauli_sim_socket *best = NULL;
	unsigned most = 0, nb = 0;

	for (struct hauli_sim_socket *s = *bucket_of(to); s; s = s->next_of_port) {
		unsigned n = fits(s, from, to);

		if (n == 0 || n < most)
			continue;
		nb = n > most ? 1 : nb + 1; /* SO_REUSEPORT: any of them */
		if (nb == 1 || hauli_sim_random() % nb == 0)
			best = s;
		most = n;
	}
	return best;
}
