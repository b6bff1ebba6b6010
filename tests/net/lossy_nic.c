/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program, this gives each interface a NIC that has dropped as many packets for
 * want of a buffer as the file named by HAUL_NIC_MISSED has bytes: it adds them to what the kernel
 * says (rtnetlink). No interface of software has such a NIC.
 */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

static void add_missed(struct nlmsghdr *reply)
{
	struct ifinfomsg *info = NLMSG_DATA(reply);
	int left = (int)IFLA_PAYLOAD(reply);
	struct stat st;

	if (stat(getenv("HAUL_NIC_MISSED"), &st) < 0)
		return;
	for (struct rtattr *a = IFLA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		/* Attributes are aligned to 4 bytes only. */
		struct rtnl_link_stats64 stats;

		if (a->rta_type != IFLA_STATS64)
			continue;
		memcpy(&stats, RTA_DATA(a), sizeof(stats));
		stats.rx_missed_errors += (uint64_t)st.st_size;
		memcpy(RTA_DATA(a), &stats, sizeof(stats));
	}
}

SEEN ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	ssize_t n = syscall(SYS_recvfrom, fd, buf, size, flags, NULL, NULL);
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);

	if (n > 0 && getsockname(fd, (struct sockaddr *)&addr, &len) == 0 &&
		addr.ss_family == AF_NETLINK && NLMSG_OK((struct nlmsghdr *)buf, (size_t)n) &&
		((struct nlmsghdr *)buf)->nlmsg_type == RTM_NEWLINK)
		add_missed(buf);
	return n;
}
