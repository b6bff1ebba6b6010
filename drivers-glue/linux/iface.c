/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/iface.h"

#include <ctype.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int ask(const char *name, unsigned long what, struct ifreq *req)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	snprintf(req->ifr_name, sizeof(req->ifr_name), "%s", name);
	err = ioctl(fd, what, req) < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* The kernel's rule (dev_valid_name() in net/core/dev.c), without names that the kernel changes. */
bool hauli_iface_is_name(const char *name)
{
	if (!name[0] || strlen(name) >= IFNAMSIZ || strcmp(name, ".") == 0 ||
		strcmp(name, "..") == 0)
		return false;
	for (; *name; name++) {
		if (strchr("/:%", *name) || isspace((unsigned char)*name))
			return false;
	}
	return true;
}

int hauli_iface_index(const char *name)
{
	struct ifreq req = {0};

	if (!hauli_iface_is_name(name))
		return 0;
	return ask(name, SIOCGIFINDEX, &req) < 0 ? 0 : req.ifr_ifindex;
}

unsigned hauli_iface_flags(const char *name)
{
	struct ifreq req = {0};

	return ask(name, SIOCGIFFLAGS, &req) < 0 ? 0 : (unsigned short)req.ifr_flags;
}

unsigned hauli_iface_mtu(const char *name)
{
	struct ifreq req = {0};

	return ask(name, SIOCGIFMTU, &req) < 0 ? 0 : (unsigned)req.ifr_mtu;
}

int hauli_iface_set_mtu(const char *name, unsigned mtu)
{
	struct ifreq req = {.ifr_mtu = (int)mtu};

	return ask(name, SIOCSIFMTU, &req);
}

unsigned hauli_iface_backlog(const char *name)
{
	struct ifreq req = {0};

	return ask(name, SIOCGIFTXQLEN, &req) < 0 ? 0 : (unsigned)req.ifr_qlen;
}

int hauli_iface_set_backlog(const char *name, unsigned packets)
{
	struct ifreq req = {.ifr_qlen = (int)packets};

	return ask(name, SIOCSIFTXQLEN, &req);
}

int hauli_iface_ethtool(const char *name, void *command)
{
	struct ifreq req = {.ifr_data = command};

	return ask(name, SIOCETHTOOL, &req);
}

bool hauli_iface_has_link(const char *name)
{
	struct ethtool_value v = {.cmd = ETHTOOL_GLINK};

	return hauli_iface_ethtool(name, &v) == 0 && v.data;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

bool hauli_iface_channels(const char *name, struct hauli_channels *channels)
{
	struct ethtool_channels ch = {.cmd = ETHTOOL_GCHANNELS};

	memset(channels, 0, sizeof(*channels));
	if (hauli_iface_ethtool(name, &ch) < 0)
		return false;
	/* A driver may have combined ones beside others. */
	channels->combined = ch.max_combined > 0;
	channels->rx = ch.combined_count + ch.rx_count;
	channels->both = ch.combined_count + least(ch.rx_count, ch.tx_count);
	channels->most = channels->combined ? ch.max_combined : least(ch.max_rx, ch.max_tx);
	return true;
}

unsigned hauli_iface_rx_queues(const char *name)
{
	struct hauli_channels ch;

	return hauli_iface_channels(name, &ch) && ch.rx ? ch.rx : 1;
}

unsigned hauli_iface_queues(const char *name)
{
	struct hauli_channels ch;

	return hauli_iface_channels(name, &ch) && ch.both ? ch.both : 1;
}

bool hauli_iface_driver(const char *name, char *driver, size_t size)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};

	driver[0] = '\0';
	if (hauli_iface_ethtool(name, &info) < 0)
		return false;
	snprintf(driver, size, "%s", info.driver);
	return true;
}

/* Reads a number from /sys, -1 if it is missing. */
static int read_sys(const char *name, const char *attribute)
{
	char path[128];
	int number = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, attribute);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &number) != 1)
		number = -1;
	fclose(f);
	return number;
}

unsigned hauli_iface_speed(const char *name)
{
	int speed = read_sys(name, "speed");

	return speed < 0 ? 0 : (unsigned)speed;
}

bool hauli_iface_is_veth(const char *name, char *peer)
{
	char driver[HAULI_IFACE_DRIVER];
	int index;

	peer[0] = '\0';
	if (!hauli_iface_driver(name, driver, sizeof(driver)) || strcmp(driver, "veth") != 0)
		return false;
	/* A /sys that was mounted elsewhere shows the interfaces of another namespace. */
	index = read_sys(name, "iflink");
	if (read_sys(name, "ifindex") != hauli_iface_index(name) || index <= 0 ||
		!if_indextoname((unsigned)index, peer))
		peer[0] = '\0';
	return true;
}

bool hauli_iface_has_device(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	return access(path, F_OK) == 0;
}

/* The attribute of that type in size bytes of attributes; NULL. */
static const struct rtattr *find(const struct rtattr *a, int size, unsigned short type)
{
	for (; RTA_OK(a, size); a = RTA_NEXT(a, size)) {
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	}
	return NULL;
}

static const struct rtattr *find_in(const struct nlmsghdr *reply, unsigned short type)
{
	const struct ifinfomsg *info = NLMSG_DATA(reply);

	return find(IFLA_RTA(info), (int)IFLA_PAYLOAD(reply), type);
}

static void read_xdp(const struct nlmsghdr *reply, void *found)
{
	const struct rtattr *xdp = find_in(reply, IFLA_XDP);
	const struct rtattr *attached =
		xdp ? find(RTA_DATA(xdp), (int)RTA_PAYLOAD(xdp), IFLA_XDP_ATTACHED) : NULL;

	*(bool *)found =
		attached && *(const unsigned char *)RTA_DATA(attached) != XDP_ATTACHED_NONE;
}

static void read_stats(const struct nlmsghdr *reply, void *stats)
{
	const struct rtattr *a = find_in(reply, IFLA_STATS64);

	size_t size = a ? RTA_PAYLOAD(a) : 0;

	/* Newer kernels append to them. */
	if (size > sizeof(struct rtnl_link_stats64))
		size = sizeof(struct rtnl_link_stats64);
	if (a)
		memcpy(stats, RTA_DATA(a), size);
}

/* Calls read() with rtnetlink's reply about the interface, if there is one. */
static void ask_link(
	const char *name, void (*read)(const struct nlmsghdr *reply, void *arg), void *arg)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST},
		.info = {.ifi_index = hauli_iface_index(name)},
	};
	const size_t size = 32 << 10; /* many virtual functions make it long */
	struct nlmsghdr *reply = malloc(size);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t n = -1;

	if (reply && fd >= 0 && send(fd, &request, sizeof(request), 0) == sizeof(request))
		n = recv(fd, reply, size, 0);
	if (n > 0 && NLMSG_OK(reply, (size_t)n) && reply->nlmsg_type == RTM_NEWLINK)
		read(reply, arg);
	if (fd >= 0)
		close(fd);
	free(reply);
}

bool hauli_iface_has_xdp(const char *name)
{
	bool found = false;

	ask_link(name, read_xdp, &found);
	return found;
}

uint64_t hauli_iface_unsent(const char *name)
{
	struct rtnl_link_stats64 stats = {0};

	ask_link(name, read_stats, &stats);
	return stats.tx_dropped;
}

uint64_t hauli_iface_missed(const char *name)
{
	struct rtnl_link_stats64 stats = {0};

	ask_link(name, read_stats, &stats);
	return stats.rx_missed_errors;
}
