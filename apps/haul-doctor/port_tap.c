/* SPDX-License-Identifier: BSD-3-Clause */
/* tap: ports. */
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdlib.h>
#include <unistd.h>

#include <haul-dpdk/iface.h>

#include "kernel.h"
#include "port.h"

void port_tap_capabilities(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	static const enum privilege needed[] = {PRIVILEGE_NET_ADMIN};

	port_say_capabilities(subject, finding, needed, 1);
	/* Unlike other ports it needs no interface that is there already. */
	if (finding->status == DOCTOR_PROBLEM)
		doctor_todo(finding, "%s, or: unshare -rn haul-fwd ...",
			geteuid() == 0 ? "start the container with --cap-add=NET_ADMIN"
				       : "sudo haul-fwd ...");
}

/* The name of an interface that there is: it has to be a TAP with several queues, not in use. */
void port_tap_name(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const unsigned long wanted = IFF_TAP | IFF_MULTI_QUEUE;
	struct haul_iface iface;
	char line[64];

	if (!subject->iface)
		return;
	if (haul_iface_get(&iface, subject->iface) < 0) {
		doctor_say(finding, DOCTOR_OK, "%s is free", subject->iface);
		return;
	}
	if (!kernel_line(line, sizeof(line), "/sys/class/net/%s/tun_flags", subject->iface) ||
		(strtoul(line, NULL, 16) & wanted) != wanted) {
		doctor_say(finding, DOCTOR_PROBLEM,
			"there is an interface %s that is no TAP with several queues",
			subject->iface);
		doctor_todo(finding, "choose another name");
	} else if (iface.link) {
		doctor_say(finding, DOCTOR_PROBLEM, "a program uses the TAP %s", subject->iface);
		doctor_todo(finding, "choose another name, or end that program");
	} else {
		doctor_say(finding, DOCTOR_OK, "%s is a TAP that no program uses", subject->iface);
	}
}
