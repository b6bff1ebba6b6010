/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/routes.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY (64u << 10) /* bytes: the kernel's dumps come in parts of 32 KiB at most */

typedef int found_fn(const struct hauli_kernel_route *route, void *arg);

/* Reads one message of a dump. 1: it is none of those that are wanted. */
typedef int read_fn(const struct nlmsghdr *m, int index, struct hauli_kernel_route *route);

static uint8_t version_of(unsigned family)
{
	return family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0;
}

static void copy(uint8_t to[16], const struct rtattr *a)
{
	size_t len = RTA_PAYLOAD(a);

	memcpy(to, RTA_DATA(a), len < 16 ? len : 16);
}

static uint32_t number(const struct rtattr *a)
{
	uint32_t n = 0;

	if (RTA_PAYLOAD(a) >= sizeof(n))
		memcpy(&n, RTA_DATA(a), sizeof(n));
	return n;
}

static int read_address(const struct nlmsghdr *m, int index, struct hauli_kernel_route *route)
{
	const struct ifaddrmsg *head = NLMSG_DATA(m);
	const struct rtattr *a = IFA_RTA(head);
	int left = (int)IFA_PAYLOAD(m);
	uint32_t flags = head->ifa_flags;
	bool has_local = false;

	if (m->nlmsg_type != RTM_NEWADDR || head->ifa_index != (unsigned)index)
		return 1;
	route->version = version_of(head->ifa_family);
	route->length = head->ifa_prefixlen;
	/* IFA_ADDRESS is the address of the other end, if there is an IFA_LOCAL. */
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && !has_local))
			copy(route->to, a);
		has_local |= a->rta_type == IFA_LOCAL;
		if (a->rta_type == IFA_FLAGS)
			flags = number(a);
	}
	return route->version == 0 || flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED);
}

static int read_route(const struct nlmsghdr *m, int index, struct hauli_kernel_route *route)
{
	const struct rtmsg *head = NLMSG_DATA(m);
	const struct rtattr *a = RTM_RTA(head);
	int left = (int)RTM_PAYLOAD(m);
	uint32_t table = head->rtm_table;
	int by = -1;

	if (m->nlmsg_type != RTM_NEWROUTE || head->rtm_type != RTN_UNICAST ||
		head->rtm_protocol == RTPROT_KERNEL || head->rtm_flags & RTM_F_CLONED)
		return 1;
	route->version = version_of(head->rtm_family);
	route->length = head->rtm_dst_len;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == RTA_DST)
			copy(route->to, a);
		if (a->rta_type == RTA_GATEWAY) {
			copy(route->gateway, a);
			route->has_gateway = true;
		}
		if (a->rta_type == RTA_OIF)
			by = (int)number(a);
		if (a->rta_type == RTA_TABLE)
			table = number(a);
	}
	return route->version == 0 || by != index || table != RT_TABLE_MAIN;
}

/* The messages of one part. *done: it was the last one. */
static int read_part(const struct nlmsghdr *m, size_t len, int index, read_fn *read,
	found_fn *found, void *arg, bool *done)
{
	int err = 0;

	for (; NLMSG_OK(m, len) && !err && !*done; m = NLMSG_NEXT(m, len)) {
		struct hauli_kernel_route route = {0};

		if (m->nlmsg_type == NLMSG_DONE)
			*done = true;
		else if (m->nlmsg_type == NLMSG_ERROR)
			err = ((const struct nlmsgerr *)NLMSG_DATA(m))->error;
		else if (read(m, index, &route) == 0)
			err = found(&route, arg);
	}
	return err;
}

static int read_all(int fd, int index, read_fn *read, found_fn *found, void *arg)
{
	struct nlmsghdr *reply = malloc(REPLY);
	bool done = false;
	int err = reply ? 0 : -ENOMEM;

	while (!err && !done) {
		ssize_t n = recv(fd, reply, REPLY, 0);

		if (n < 0 && errno == EINTR)
			continue;
		err = n <= 0 ? (n < 0 ? -errno : -EIO)
			     : read_part(reply, (size_t)n, index, read, found, arg, &done);
	}
	free(reply);
	return err;
}

/* Asks for a dump of a type of messages. */
static int ask(uint16_t type, int index, read_fn *read, found_fn *found, void *arg)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg
			of; /* as long as struct ifaddrmsg, or longer; all zero: all families */
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int err;

	if (fd < 0)
		return -errno;
	if (send(fd, &request, sizeof(request), 0) == sizeof(request))
		err = read_all(fd, index, read, found, arg);
	else
		err = -errno;
	close(fd);
	return err;
}

int hauli_kernel_addresses(int index, found_fn *found, void *arg)
{
	return ask(RTM_GETADDR, index, read_address, found, arg);
}

int hauli_kernel_routes(int index, found_fn *found, void *arg)
{
	return ask(RTM_GETROUTE, index, read_route, found, arg);
}
