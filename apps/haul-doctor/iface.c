/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a network interface for its use as a port. */
#include <stdio.h>

#include <haul-dpdk/iface.h>

#include "doctor.h"
#include "single.h"

/* A page less the headroom and the tailroom of the kernel. */
#define XDP_MTU_MAX 3498
/* A packet buffer less the headroom of XDP and the Ethernet header. */
#define MTU_WHOLE 1778

void doctor_link(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const char *comma;
	struct haul_iface iface;
	int err;

	if (!subject->iface)
		return;
	err = haul_iface_get(&iface, subject->iface);
	comma = iface.driver[0] ? ", " : "";
	if (err < 0) {
		doctor_say(finding, DOCTOR_PROBLEM, "there is no such interface");
		doctor_todo(finding, "list the interfaces: ip -br link");
	} else if (!iface.up) {
		/* An interface that nobody named may be down. */
		doctor_say(finding, subject->named ? DOCTOR_PROBLEM : DOCTOR_OK, "%s%sdown",
			iface.driver, comma);
		if (subject->named)
			doctor_todo_root(finding, "ip link set dev %s up", subject->iface);
	} else if (!iface.link && iface.peer[0]) {
		doctor_say(finding, doctor_fault(subject), "%s%sup, but its peer %s is down",
			iface.driver, comma, iface.peer);
		doctor_todo_root(finding, "ip link set dev %s up", iface.peer);
	} else if (!iface.link) {
		doctor_say(finding, DOCTOR_NOTE, "%s%sup, but without carrier signal", iface.driver,
			comma);
		doctor_todo(finding, "plug in the cable, or set the other end up");
	} else {
		doctor_say(finding, DOCTOR_OK, "%s%sup", iface.driver, comma);
	}
}

static void mtu(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct haul_iface iface;
	unsigned bytes;

	if (haul_iface_get(&iface, subject->iface) < 0)
		return;
	bytes = iface.mtu;
	if (bytes <= MTU_WHOLE) {
		doctor_say(finding, DOCTOR_OK, "%u", bytes);
		return;
	}
	if (bytes <= XDP_MTU_MAX)
		doctor_say(finding, DOCTOR_NOTE,
			"%u: afxdp: ports drop received packets of more than %d bytes", bytes,
			MTU_WHOLE);
	else
		doctor_say(finding, doctor_fault(subject), "%u: AF_XDP supports at most %d", bytes,
			XDP_MTU_MAX);
	doctor_todo_root(finding, "ip link set dev %s mtu 1500", subject->iface);
}

static void todo_queues(struct doctor_finding *finding, const char *name,
	const struct haul_iface *iface, unsigned n)
{
	if (iface->combined)
		doctor_todo_root(finding, "ethtool -L %s combined %u", name, n);
	else
		doctor_todo_root(finding, "ethtool -L %s rx %u tx %u", name, n, n);
}

static void queues(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	unsigned carriers = subject->plan->carriers;
	struct haul_iface iface;

	if (haul_iface_get(&iface, subject->iface) < 0 || iface.queues == 0)
		return;
	if (iface.queues == carriers) {
		doctor_say(finding, DOCTOR_OK, "%u, one for each carrier", iface.queues);
	} else if (iface.queues > carriers) {
		doctor_say(finding, DOCTOR_NOTE,
			"%u for %u carrier%s: afxdp: ports leave the packets of other queues to "
			"the kernel",
			iface.queues, carriers, carriers == 1 ? "" : "s");
		todo_queues(finding, subject->iface, &iface, carriers);
	} else if (iface.queues_most >= carriers) {
		doctor_say(finding, DOCTOR_NOTE,
			"%u for %u carriers: some carriers get no packets of an afxdp: port",
			iface.queues, carriers);
		todo_queues(finding, subject->iface, &iface, carriers);
	} else {
		doctor_say(finding, DOCTOR_NOTE,
			"%u of at most %u for %u carriers: some carriers get no packets of an "
			"afxdp: port",
			iface.queues, iface.queues_most, carriers);
		doctor_todo(finding, "--carriers %u", iface.queues_most);
	}
}

/* A veth passes on packets that its peer left unfinished, so the offloads of the peer count,
 * too. */
static void offloads(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct haul_iface iface, peer;
	bool other_end = false;

	if (haul_iface_get(&iface, subject->iface) < 0)
		return;
	if (iface.peer[0] && haul_iface_get(&peer, iface.peer) == 0)
		other_end = peer.offloads[0] != '\0';
	if (iface.fixed_offloads[0]) {
		doctor_say(finding, doctor_fault(subject),
			"%s cannot be turned off: the NIC merges packets, which XDP does not "
			"support",
			iface.fixed_offloads);
		doctor_todo(finding, "use afpacket:%s", subject->iface);
	} else if (iface.offloads[0] && !iface.veth) {
		doctor_say(finding, doctor_fault(subject),
			"the NIC merges packets, which XDP does not support");
		doctor_todo_root(finding, "ethtool -K %s %s", subject->iface, iface.offloads);
	} else if (iface.offloads[0] || other_end) {
		doctor_say(finding, doctor_fault(subject),
			"packets arrive without checksums, or larger than the MTU");
		if (iface.offloads[0] && other_end)
			doctor_todo_root(finding, "ethtool -K %s %s && %sethtool -K %s %s",
				subject->iface, iface.offloads, doctor_sudo(), iface.peer,
				peer.offloads);
		else
			doctor_todo_root(finding, "ethtool -K %s %s",
				other_end ? iface.peer : subject->iface,
				other_end ? peer.offloads : iface.offloads);
	} else {
		doctor_say(finding, DOCTOR_OK, "none that breaks AF_XDP%s",
			iface.veth && !iface.peer[0] ? "; check the peer, too" : "");
	}
}

static void xdp(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct haul_iface iface;

	if (haul_iface_get(&iface, subject->iface) < 0)
		return;
	if (!iface.xdp) {
		doctor_say(finding, DOCTOR_OK, "no program attached");
		return;
	}
	doctor_say(finding, doctor_fault(subject),
		"an XDP program is attached: a process uses the interface, or left it behind");
	doctor_todo_root(finding, "ip link set dev %s xdp off", subject->iface);
}

const struct doctor_check doctor_iface_checks[] = {
	{"link", doctor_link},
	{"mtu", mtu},
	{"queues", queues},
	{"offloads", offloads},
	{"xdp", xdp},
	{NULL, NULL},
};
