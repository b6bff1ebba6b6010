/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap: ports, of files or of an interface. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "port.h"

/* The head of a capture file, in either byte order. */
struct head {
	uint32_t magic; /* of microseconds or nanoseconds */
	uint16_t major, minor;
	uint32_t unused[3];
	uint32_t link; /* type of the link layer, in the lower bits */
};

#define LINK_ETHERNET 1
#define LINK_MASK 0x03ffffff

static bool is_capture(const struct head *head, uint32_t *link)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (head->magic == magics[i])
			*link = head->link;
		else if (head->magic == __builtin_bswap32(magics[i]))
			*link = __builtin_bswap32(head->link);
		else
			continue;
		*link &= LINK_MASK;
		return true;
	}
	return false;
}

void port_pcap_rx(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const char *path = port_spec_get(subject->port, "rx");
	struct head head = {0};
	uint32_t link;
	int fd;

	if (!path)
		return;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		doctor_say(finding, DOCTOR_PROBLEM, "%s cannot be read: %s", path, strerror(errno));
		doctor_todo(finding, "ls -l %s", path);
		return;
	}
	if (read(fd, &head, sizeof(head)) != sizeof(head) || !is_capture(&head, &link)) {
		doctor_say(finding, DOCTOR_PROBLEM, "%s is no pcap file", path);
		doctor_todo(finding, "if it is pcapng: editcap -F pcap %s NEW", path);
	} else if (link != LINK_ETHERNET) {
		doctor_say(finding, DOCTOR_PROBLEM, "%s holds no Ethernet frames, but link type %u",
			path, link);
		doctor_todo(finding, "capture on an Ethernet interface");
	} else {
		doctor_say(finding, DOCTOR_OK, "%s is a capture of Ethernet", path);
	}
	close(fd);
}

void port_pcap_tx(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	const char *path = port_spec_get(subject->port, "tx");
	char copy[PORT_SPEC_SIZE];
	bool exists = path && access(path, F_OK) == 0;
	const char *what = path;

	if (!path)
		return;
	if (!exists) {
		snprintf(copy, sizeof(copy), "%s", path);
		what = dirname(copy);
	}
	if (access(what, exists ? W_OK : W_OK | X_OK) < 0) {
		doctor_say(
			finding, DOCTOR_PROBLEM, "%s cannot be written: %s", path, strerror(errno));
		doctor_todo(finding, "choose another path");
	} else {
		doctor_say(finding, DOCTOR_OK,
			exists ? "%s exists and will be overwritten" : "%s can be written", path);
	}
}

void port_pcap_capabilities(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	static const enum privilege needed[] = {PRIVILEGE_NET_RAW};

	if (subject->iface)
		port_say_capabilities(subject, finding, needed, 1);
}
