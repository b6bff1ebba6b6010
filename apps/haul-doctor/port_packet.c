/* SPDX-License-Identifier: BSD-3-Clause */
/* afpacket: ports, of which each queue is a packet socket. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul-dpdk/iface.h>

#include "port.h"

/* A frame of the ring less the headers of the kernel and of Ethernet. */
#define MTU_WHOLE 1967

void port_packet_capabilities(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	/* The driver sets the interface's address, too. */
	static const enum privilege needed[] = {PRIVILEGE_NET_RAW, PRIVILEGE_NET_ADMIN};

	port_say_capabilities(subject, finding, needed, 2);
}

void port_packet_mtu(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct haul_iface iface;

	if (!subject->iface || haul_iface_get(&iface, subject->iface) < 0)
		return;
	if (iface.mtu <= MTU_WHOLE) {
		doctor_say(finding, DOCTOR_OK, "%u", iface.mtu);
		return;
	}
	doctor_say(finding, DOCTOR_NOTE, "%u: the port drops packets of more than %d bytes",
		iface.mtu, MTU_WHOLE);
	if (strcmp(subject->iface, "lo") != 0)
		doctor_todo_root(finding, "ip link set dev %s mtu 1500", subject->iface);
}

static bool is_on(const char *iface, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	struct ifreq req = {.ifr_data = (char *)&value};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool on;

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", iface);
	on = fd >= 0 && ioctl(fd, SIOCETHTOOL, &req) == 0 && value.data;
	if (fd >= 0)
		close(fd);
	return on;
}

/* A veth passes on packets that its other end has not finished. */
void port_packet_offloads(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct haul_iface iface;
	const char *peer = iface.peer;

	if (!subject->iface || haul_iface_get(&iface, subject->iface) < 0)
		return;
	if (is_on(subject->iface, ETHTOOL_GGRO)) {
		doctor_say(finding, DOCTOR_NOTE,
			"the kernel merges packets before the port receives them");
		doctor_todo_root(finding, "ethtool -K %s gro off", subject->iface);
	} else if (peer[0] &&
		(is_on(peer, ETHTOOL_GTXCSUM) || is_on(peer, ETHTOOL_GTSO) ||
			is_on(peer, ETHTOOL_GGSO))) {
		doctor_say(finding, DOCTOR_NOTE,
			"packets from its peer %s arrive without checksums, or larger than the MTU",
			peer);
		doctor_todo_root(finding, "ethtool -K %s tx off tso off gso off", peer);
	} else {
		doctor_say(finding, DOCTOR_OK, "none that changes received packets");
	}
}
