/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/hand_over_message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC "haul-hand-over-2"

union control {
	char bytes[CMSG_SPACE(HAULI_HELLO_FDS * sizeof(int))];
	struct cmsghdr align;
};

bool hauli_hello_send(int to, struct hauli_hello *hello, const int *fds, unsigned nb_fds)
{
	struct iovec part = {.iov_base = hello, .iov_len = sizeof(*hello)};
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {0};
	struct cmsghdr *c;

	snprintf(hello->magic, sizeof(hello->magic), "%s", MAGIC);
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

/* Those of the message, in its order; their number. */
static unsigned received(struct msghdr *msg, int fds[HAULI_HELLO_FDS])
{
	unsigned n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		unsigned more = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		more = RTE_MIN(more, HAULI_HELLO_FDS - n);
		memcpy(fds + n, CMSG_DATA(c), more * sizeof(int));
		n += more;
	}
	return n;
}

/* Nobody ends strings in a wrong message. */
static bool is_right(struct hauli_hello *hello)
{
	hello->magic[sizeof(hello->magic) - 1] = '\0';
	hello->error[sizeof(hello->error) - 1] = '\0';
	if (strcmp(hello->magic, MAGIC) != 0 || hello->nb_ports > HAUL_APP_PORTS_MAX ||
		hello->nb_listeners > HAULI_LISTENERS)
		return false;
	for (unsigned i = 0; i < hello->nb_ports; i++)
		hello->ports[i].spec[HAULI_HELLO_SPEC - 1] = '\0';
	for (unsigned i = 0; i < hello->nb_listeners; i++)
		hello->listeners[i][HAULI_LISTENER_TEXT - 1] = '\0';
	return true;
}

/* False: there are more, or fewer, than they should be. */
static bool distribute(struct hauli_hello *hello, const int *fds, unsigned n, int *listeners)
{
	unsigned used = 0;

	for (unsigned i = 0; i < hello->nb_ports; i++) {
		struct haul_port_offer *o = &hello->ports[i].offer;

		if (o->nb_fds > HAUL_OFFER_FDS || o->nb_fds > n - used)
			return false;
		memcpy(o->fds, fds + used, o->nb_fds * sizeof(int));
		used += o->nb_fds;
	}
	if (n - used != hello->nb_listeners)
		return false;
	memcpy(listeners, fds + used, hello->nb_listeners * sizeof(int));
	return true;
}

int hauli_hello_receive(int from, struct hauli_hello *hello, int fds[HAULI_LISTENERS])
{
	struct iovec part = {.iov_base = hello, .iov_len = sizeof(*hello)};
	union control control;
	struct msghdr msg = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t got = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	int all[HAULI_HELLO_FDS];
	unsigned n;

	n = got < 0 ? 0 : received(&msg, all);
	if (got == (ssize_t)sizeof(*hello) && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
		is_right(hello) && (hello->error[0] ? n == 0 : distribute(hello, all, n, fds)))
		return 0;
	for (unsigned i = 0; i < n; i++)
		close(all[i]);
	return got <= 0 ? -ECONNRESET : -EPROTO;
}
