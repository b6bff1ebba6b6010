/* SPDX-License-Identifier: BSD-3-Clause */
/* The format: draft-ietf-opsawg-pcap. No buffer is kept: a simulation may end by a crash. */
#include "simnet/pcap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include <haul/base.h>

#include "sim/world.h"

#define MAGIC_NS 0xa1b23c4d
#define ETHERNET 1

struct hauli_sim_pcap {
	int fd;
};

struct head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t reserved[2], snaplen, link;
};

struct record {
	uint32_t s, ns, captured, original;
};

struct hauli_sim_pcap *hauli_sim_pcap_open(const char *path)
{
	const struct head head = {MAGIC_NS, 2, 4, {0, 0}, 65535, ETHERNET};
	struct hauli_sim_pcap *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	p->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (p->fd < 0 || write(p->fd, &head, sizeof(head)) != sizeof(head)) {
		free(p);
		return NULL;
	}
	return p;
}

void hauli_sim_pcap_write(struct hauli_sim_pcap *p, uint64_t ns, const void *frame, uint32_t len)
{
	struct record r = {
		(uint32_t)(HAULI_SIM_EPOCH + ns / HAUL_S), (uint32_t)(ns % HAUL_S), len, len};
	const struct iovec parts[] = {{&r, sizeof(r)}, {(void *)(uintptr_t)frame, len}};

	(void)!writev(p->fd, parts, 2);
}
