/* SPDX-License-Identifier: BSD-3-Clause */
/* afxdp: ports, of which each queue is an XDP socket. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <haul-dpdk/iface.h>

#include "port.h"
#include "xdp_features.h"

void port_xdp_capabilities(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	/* CAP_BPF is not enough: libxdp looks up programs by their number. */
	static const enum privilege needed[] = {
		PRIVILEGE_SYS_ADMIN, PRIVILEGE_NET_ADMIN, PRIVILEGE_NET_RAW};

	port_say_capabilities(subject, finding, needed, 3);
}

/* True if the interface belongs to a device: with others haul copies in any case. */
static bool has_device(const char *iface)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/net/%s/device", iface);
	return access(path, F_OK) == 0;
}

void port_xdp_mode(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct haul_iface iface;
	uint64_t features;
	int err;

	if (!subject->iface || haul_iface_get(&iface, subject->iface) < 0)
		return;
	err = xdp_features_get(&features, if_nametoindex(subject->iface));
	if (err < 0)
		doctor_say(finding, DOCTOR_OK,
			"the kernel does not tell if %s can do without copies (Linux 6.3 does)",
			iface.driver);
	else if (!(features & XDP_FEATURE_BASIC))
		doctor_say(finding, DOCTOR_NOTE,
			"driver %s has no XDP: the kernel emulates it, with a copy of each packet",
			iface.driver);
	else if ((features & XDP_FEATURE_ZEROCOPY) && has_device(subject->iface))
		doctor_say(finding, DOCTOR_OK, "without copies (driver %s)", iface.driver);
	else
		doctor_say(finding, DOCTOR_OK,
			"XDP of driver %s, with a copy of each packet: it has no other way",
			iface.driver);
}
