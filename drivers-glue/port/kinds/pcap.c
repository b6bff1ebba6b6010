/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap: packets from a capture file and into one, or of an interface through libpcap. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <haul-dpdk/file.h>
#include <rte_ethdev.h>

#include "linux/iface.h"
#include "port/kinds/list.h"
#include "port/ports.h"

/* The head of a capture file, in either byte order. */
struct head {
	uint32_t magic; /* of microseconds or nanoseconds */
	uint16_t major, minor;
	uint32_t unused[2];
	uint32_t snaplen; /* libpcap cuts longer packets */
	uint32_t link; /* type of the link layer, in the lower bits */
};
_Static_assert(sizeof(struct head) == 24, "as in the file");

/* The head of a packet. */
struct packet_head {
	uint32_t time[2];
	uint32_t caplen; /* bytes that follow */
	uint32_t len; /* before the capture has cut it */
};
_Static_assert(sizeof(struct packet_head) == 16, "as in the file");

#define CAPLEN_MAX 262144u /* more is an error for libpcap */

#define LINK_ETHERNET 1
#define LINK_MASK 0x03ffffff

static void swap(uint32_t *number)
{
	*number = __builtin_bswap32(*number);
}

/* False: not a capture. *swapped: it is in the other byte order. */
static bool read_head(FILE *f, struct head *head, bool *swapped)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};
	bool ok = fread(head, sizeof(*head), 1, f) == 1;

	for (size_t i = 0; ok && i < sizeof(magics) / sizeof(magics[0]); i++) {
		*swapped = head->magic == __builtin_bswap32(magics[i]);
		if (*swapped) {
			swap(&head->snaplen);
			swap(&head->link);
		}
		if (*swapped || head->magic == magics[i])
			return true;
	}
	return false;
}

/*
 * For infinite_rx=1, which sends the file's packets from buffers: the PMD keeps those before the
 * first packet that it cannot read. If there are none, each poll loses a burst of buffers.
 */
static int check_packets(const struct haul_port *port, FILE *f, const struct head *head,
	bool swapped, char *errbuf, size_t errlen)
{
	const char *path = hauli_spec_get(&port->spec, "rx");
	uint32_t buffer = hauli_port_buffer(port);
	uint64_t n = 0, left;
	struct packet_head packet;
	struct stat st;
	size_t got;

	left = fstat(fileno(f), &st) == 0 ? (uint64_t)st.st_size - sizeof(*head) : 0;
	while ((got = fread(&packet, 1, sizeof(packet), f)) == sizeof(packet)) {
		n++;
		left -= sizeof(packet);
		if (swapped)
			swap(&packet.caplen);
		if (packet.caplen > CAPLEN_MAX || packet.caplen > left)
			break;
		if (RTE_MIN(packet.caplen, head->snaplen ? head->snaplen : CAPLEN_MAX) > buffer)
			return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
				"packet %" PRIu64 " of %s has %u bytes; infinite_rx=1 repeats "
				"those of up to %u",
				n, path, packet.caplen, buffer);
		left -= packet.caplen;
		if (fseeko(f, packet.caplen, SEEK_CUR) < 0)
			break;
	}
	if (got > 0)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"packet %" PRIu64 " of %s is damaged or cut off; infinite_rx=1 needs a "
			"whole file",
			got == sizeof(packet) ? n : n + 1, path);
	if (n == 0)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"%s holds no packet that infinite_rx=1 could repeat", path);
	return 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* True if both lead to the same file, under any names and links. A device (/dev/null) may be
 * shared. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return a && b && stat(a, &sa) == 0 && stat(b, &sb) == 0 && !S_ISCHR(sa.st_mode) &&
		is_same(&sa, &sb);
}

/* The PMD truncates the file at once: packets read from it or written to it elsewhere would be
 * lost. */
static int check_other_files(
	const struct haul_port *port, const char *rx, const char *tx, char *errbuf, size_t errlen)
{
	if (is_same_file(rx, tx))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"rx and tx are the same file; give two");
	for (struct haul_port *p = hauli_ports_other(port, hauli_ports_open()); p;
		p = hauli_ports_other(port, p->next)) {
		const char *their_tx, *their_rx;

		if (p->spec.kind != port->spec.kind)
			continue;
		their_rx = hauli_spec_get(&p->spec, "rx");
		their_tx = hauli_spec_get(&p->spec, "tx");
		if (is_same_file(tx, their_tx) || is_same_file(tx, their_rx) ||
			is_same_file(rx, their_tx))
			return hauli_spec_fail(&port->spec, -EBUSY, errbuf, errlen,
				"port '%s' of this program has the same file, and one of them "
				"writes it; give another",
				p->spec.text);
	}
	return 0;
}

static int check_capture(
	const struct haul_port *port, const char *path, char *errbuf, size_t errlen)
{
	FILE *f = fopen(path, "re");
	struct head head;
	bool swapped;
	int err = 0;

	if (!f || !read_head(f, &head, &swapped))
		err = hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"%s is no pcap file (pcapng is another format: editcap -F pcap)", path);
	else if ((head.link & LINK_MASK) != LINK_ETHERNET)
		err = hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"%s holds no Ethernet frames, but link type %u; capture on an Ethernet "
			"interface",
			path, head.link & LINK_MASK);
	else if (hauli_spec_number(&port->spec, "infinite_rx", 0))
		err = check_packets(port, f, &head, swapped, errbuf, errlen);
	if (f)
		fclose(f);
	return err;
}

static int check_files(
	const struct haul_port *port, const char *rx, const char *tx, char *errbuf, size_t errlen)
{
	char why[128];
	int fd, err;

	if (rx && access(rx, R_OK) < 0)
		return hauli_spec_fail(&port->spec, -errno, errbuf, errlen, "%s cannot be read: %s",
			rx, strerror(errno));
	err = rx ? check_capture(port, rx, errbuf, errlen) : 0;
	if (err == 0)
		err = check_other_files(port, rx, tx, errbuf, errlen);
	if (err < 0)
		return err;
	/* The PMD opens it by its name, which nobody else can give to another file: it is this
	 * user's now. The PMD also waits for the reader of a FIFO. */
	fd = tx ? haul_file_create(tx, 0666, why, sizeof(why)) : -ENXIO;
	if (fd < 0 && fd != -ENXIO)
		return hauli_spec_fail(
			&port->spec, fd, errbuf, errlen, "%s cannot be written: %s", tx, why);
	if (fd >= 0)
		close(fd);
	return 0;
}

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *rx = hauli_spec_get(&port->spec, "rx");
	const char *tx = hauli_spec_get(&port->spec, "tx");
	const char *iface = hauli_spec_get(&port->spec, "iface");
	int err;

	if (!!iface == (rx || tx))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"give rx=FILE, tx=FILE or both; or iface=INTERFACE");
	if (iface && !hauli_iface_index(iface))
		return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
			"there is no interface %s; ip link shows those that there are", iface);
	err = check_files(port, rx, tx, errbuf, errlen);
	if (err == 0)
		err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err < 0)
		return err;
	hauli_spec_pass_on(&port->spec, port->vdevs[0].args, sizeof(port->vdevs[0].args));
	if (iface)
		snprintf(port->iface, sizeof(port->iface), "%s", iface);
	if (iface && hauli_spec_get(&port->spec, "infinite_rx"))
		return hauli_spec_fail(
			&port->spec, -EINVAL, errbuf, errlen, "infinite_rx=1 is for rx=FILE");
	return 0;
}

static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	if (!hauli_spec_get(&port->spec, "iface") || geteuid() == 0)
		return 0;
	return hauli_spec_fail(&port->spec, -EPERM, errbuf, errlen,
		"capturing needs CAP_NET_RAW; run as root, or in a private network namespace: "
		"unshare -rn");
}

/* The PMD has opened the files: remembers the regular file that it writes. */
static int ready(struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *tx = hauli_spec_get(&port->spec, "tx");
	struct stat st;

	if (!tx || stat(tx, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	port->own = malloc(sizeof(st));
	if (!port->own)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	memcpy(port->own, &st, sizeof(st));
	return 0;
}

static void closed(struct haul_port *port)
{
	free(port->own);
}

/*
 * The PMD writes each burst out at once, counts it after that, and does not check for errors. So
 * the file is shorter than the counters say only if packets were lost.
 */
static void look(const struct haul_port *port, char *what, size_t size)
{
	const char *tx = hauli_spec_get(&port->spec, "tx");
	const struct stat *written = port->own;
	struct rte_eth_stats stats;
	struct stat st;
	uint64_t due;

	if (!written || rte_eth_stats_get(port->vdevs[0].port_id, &stats) < 0 ||
		stats.opackets == 0)
		return;
	due = sizeof(struct head) + stats.opackets * sizeof(struct packet_head) + stats.obytes;
	/* The name may have moved to another file. */
	if (stat(tx, &st) == 0 && is_same(&st, written) && (uint64_t)st.st_size < due)
		snprintf(what, size,
			"%s lacks %" PRIu64
			" bytes that were sent: is the disk full? the file may end within a packet",
			tx, due - (uint64_t)st.st_size);
}

/* It is not known whether an interface's queue has room. Frames longer than its MTU, or without an
 * Ethernet header, are never sent. (A tagged frame may be longer, but is lost only if the queue is
 * full, too.) */
static bool has_room(const struct haul_port *port, unsigned q, const struct rte_mbuf *pkt)
{
	return port->iface[0] &&
		(pkt->pkt_len < RTE_ETHER_HDR_LEN ||
			pkt->pkt_len > hauli_iface_mtu(port->iface) + RTE_ETHER_HDR_LEN);
}

/* The PMD copies. With infinite_rx it holds the whole file, whose size is not known here. */
static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return 0;
}

static const struct hauli_key keys[] = {
	{"rx", HAULI_VALUE_TEXT, .vdev = "rx_pcap"},
	{"tx", HAULI_VALUE_TEXT, .vdev = "tx_pcap"},
	{"iface", HAULI_VALUE_TEXT},
	{"infinite_rx", HAULI_VALUE_FLAG},
	{NULL},
};

static const char *const vdev_ifaces[] = {"iface", "rx_iface", "rx_iface_in", "tx_iface", NULL};
static const char *const vdev_paths[] = {"tx_pcap", NULL};

const struct hauli_kind hauli_kind_pcap = {
	.name = "pcap",
	.form = "pcap:rx=FILE,tx=FILE",
	.help = "reads and writes capture files; one queue [iface=INTERFACE; infinite_rx=1]",
	.driver = "net_pcap",
	.vdev_ifaces = vdev_ifaces,
	.vdev_paths = vdev_paths,
	.keys = keys,
	.stamps = true,
	.above_nic = true,
	.prepare = prepare,
	.explain = explain,
	.ready = ready,
	.look = look,
	.closed = closed,
	.has_room = has_room,
	.held = held,
};
