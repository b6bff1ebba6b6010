/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the kernel's generic netlink family "netdev", by numbers of its own: the headers of older
 * distributions do not have them. */
#include "xdp_features.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAMILY "netdev"
#define CMD_DEV_GET 1
#define ATTR_IFINDEX 1
#define ATTR_XDP_FEATURES 3

#define REPLY_SIZE 8192

struct message {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	struct nlattr attr;
	char value[16];
};

/* Sends one question with one attribute. Returns the length of the answer, or -errno. */
static ssize_t ask(int fd, struct message *m, unsigned attr, const void *value, size_t len,
	char reply[REPLY_SIZE])
{
	const struct nlmsghdr *head = (const void *)reply;
	ssize_t n;

	memcpy(m->value, value, len);
	m->attr = (struct nlattr){
		.nla_type = (uint16_t)attr, .nla_len = (uint16_t)(NLA_HDRLEN + len)};
	m->head.nlmsg_flags = NLM_F_REQUEST;
	m->head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN + NLA_HDRLEN + NLA_ALIGN((unsigned)len));
	n = send(fd, m, m->head.nlmsg_len, 0);
	if (n >= 0)
		n = recv(fd, reply, REPLY_SIZE, 0);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(head, (size_t)n))
		return -EPROTO;
	if (head->nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(head))->error ?: -EPROTO;
	return n;
}

/* The attribute of an answer, of at least len bytes; NULL: it has none. */
static const void *find(const char *reply, ssize_t n, unsigned type, size_t len)
{
	const ssize_t first = NLMSG_HDRLEN + GENL_HDRLEN;

	for (ssize_t at = first; at + NLA_HDRLEN <= n;) {
		const struct nlattr *attr = (const void *)(reply + at);

		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > n)
			break;
		if ((attr->nla_type & NLA_TYPE_MASK) == type && attr->nla_len >= NLA_HDRLEN + len)
			return reply + at + NLA_HDRLEN;
		at += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

static int ask_all(int fd, uint64_t *features, unsigned ifindex)
{
	_Alignas(struct nlmsghdr) char reply[REPLY_SIZE];
	struct message m = {
		.head.nlmsg_type = GENL_ID_CTRL,
		.genl = {.cmd = CTRL_CMD_GETFAMILY, .version = 1},
	};
	ssize_t n = ask(fd, &m, CTRL_ATTR_FAMILY_NAME, FAMILY, sizeof(FAMILY), reply);
	const void *found = n < 0 ? NULL : find(reply, n, CTRL_ATTR_FAMILY_ID, sizeof(uint16_t));

	if (!found)
		return n < 0 ? (int)n : -EPROTO;
	memcpy(&m.head.nlmsg_type, found, sizeof(m.head.nlmsg_type));
	m.genl.cmd = CMD_DEV_GET;
	n = ask(fd, &m, ATTR_IFINDEX, &ifindex, sizeof(uint32_t), reply);
	found = n < 0 ? NULL : find(reply, n, ATTR_XDP_FEATURES, sizeof(*features));
	if (!found)
		return n < 0 ? (int)n : -EPROTO;
	memcpy(features, found, sizeof(*features));
	return 0;
}

int xdp_features_get(uint64_t *features, unsigned ifindex)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	int err = fd < 0 ? -errno : ask_all(fd, features, ifindex);

	if (fd >= 0)
		close(fd);
	return err;
}
