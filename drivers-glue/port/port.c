/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: what is common to all kinds. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/assert.h"
#include "eal/log.h"
#include "io/wait.h"
#include "linux/iface.h"
#include "port/ethdev.h"
#include "port/fault.h"
#include "port/kind.h"
#include "port/watch.h"

/* All that are open. Of the threads that open and close, which are one at a time. */
static struct haul_port *open_ports;

struct haul_port *hauli_ports_open(void)
{
	return open_ports;
}

/* An interface may have several names (ip link property add altname), or not exist yet. */
static bool is_same_iface(const char *a, const char *b)
{
	int index = hauli_iface_index(a);

	return strcmp(a, b) == 0 || (index != 0 && index == hauli_iface_index(b));
}

/* Two ports on one interface, or two of a kind on one path or device, would take each other's
 * packets, and most PMDs do not notice. */
static int check_alone(const struct haul_port *port, const char *iface, char *errbuf, size_t errlen)
{
	for (const struct haul_port *p = open_ports; p; p = p->next) {
		bool same = iface[0] && p->iface[0] && is_same_iface(p->iface, iface);

		if (port->kind->main == HAULI_MAIN_NEEDED && p->kind == port->kind)
			same |= port->spec.main[0] && strcmp(p->spec.main, port->spec.main) == 0;
		if (same)
			return hauli_spec_fail(&port->spec, -EBUSY, errbuf, errlen,
				"port '%s' of this program is on %s already; choose another",
				p->spec.text, iface[0] ? iface : port->spec.main);
	}
	return 0;
}

int hauli_port_vdevs(struct haul_port *port, unsigned n, char *errbuf, size_t errlen)
{
	static unsigned made; /* names are not used again: PMDs may keep what has them */

	port->vdevs = calloc(n, sizeof(port->vdevs[0]));
	if (!port->vdevs)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	port->nb_vdevs = n;
	for (unsigned i = 0; i < n; i++) {
		struct hauli_vdev *v = &port->vdevs[i];

		v->bus = "vdev";
		v->port_id = RTE_MAX_ETHPORTS;
		snprintf(v->name, sizeof(v->name), "%s_haul%u", port->kind->driver, made++);
	}
	return 0;
}

int hauli_port_agree(struct haul_port *port, char *errbuf, size_t errlen)
{
	unsigned long n = hauli_spec_number(&port->spec, "queues", 1);

	if (n > port->queues)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"queues=%lu for %u carriers: nobody would look after the last; use fewer "
			"queues on both sides, or more carriers",
			n, port->queues);
	if (port->queues > 1 && !hauli_spec_get(&port->spec, "queues"))
		hauli_port_note(
			port, "if the other side has as many queues, add queues=%u", port->queues);
	port->queues = (unsigned)n;
	return 0;
}

uint32_t hauli_port_buffer(const struct haul_port *port)
{
	return rte_pktmbuf_data_room_size(port->opts.pool) - RTE_PKTMBUF_HEADROOM;
}

void hauli_vdev_args(struct hauli_vdev *vdev, const char *format, ...)
{
	size_t len = strlen(vdev->args);
	va_list ap;

	va_start(ap, format);
	vsnprintf(vdev->args + len, sizeof(vdev->args) - len, format, ap);
	va_end(ap);
}

void hauli_port_note(struct haul_port *port, const char *format, ...)
{
	size_t len = strlen(port->notice);
	va_list ap;

	if (len == 0)
		len = (size_t)snprintf(
			port->notice, sizeof(port->notice), "port '%s': ", port->spec.text);
	else if (len < sizeof(port->notice))
		len += (size_t)snprintf(port->notice + len, sizeof(port->notice) - len, "; ");
	va_start(ap, format);
	if (len < sizeof(port->notice))
		vsnprintf(port->notice + len, sizeof(port->notice) - len, format, ap);
	va_end(ap);
}

/* After a failure of the PMD: the kind's own explanation, or what is in DPDK's log. */
static int explain(
	const struct haul_port *port, int err, const char *line, char *errbuf, size_t errlen)
{
	/* A raw vdev's main part and interface are not known to the kind of its driver. */
	const struct hauli_kind *kind = port->spec.kind;
	int better = kind->explain ? kind->explain(port, line, errbuf, errlen) : 0;

	if (better < 0)
		return better;
	return hauli_spec_fail(&port->spec, err, errbuf, errlen, "cannot be opened: %s",
		line[0] ? line : strerror(-err));
}

/* Runs a step with DPDK's log held; errbuf gets a line in any case of failure. */
static int quietly(struct haul_port *port, int (*step)(struct haul_port *, char *, size_t),
	char *errbuf, size_t errlen)
{
	char line[HAULI_LOG_LINE];
	int err;

	errbuf[0] = '\0';
	hauli_log_hold_all();
	err = step(port, errbuf, errlen);
	hauli_log_release(line);
	/* Some PMDs return -1 for "failed". */
	if (err == -1)
		err = -EIO;
	if (err < 0 && errbuf[0] == '\0')
		err = explain(port, err, line, errbuf, errlen);
	return err;
}

static void destroy(struct haul_port *port)
{
	struct haul_port **p = &open_ports;

	while (*p && *p != port)
		p = &(*p)->next;
	if (*p)
		*p = port->next;
	hauli_watch_end(port);
	if (port->nb_vdevs > 0) {
		char line[HAULI_LOG_LINE];

		if (port->kind->prints)
			hauli_log_hold_all();
		else
			hauli_log_hold();
		if (port->kind->release)
			port->kind->release(port);
		hauli_ethdevs_detach(port);
		if (port->kind->closed)
			port->kind->closed(port);
		hauli_log_release(line);
	}
	free(port->vdevs);
	free(port->fds);
	free(port);
}

static int check_opts(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const struct haul_port_opts *opts = &port->opts;

	if (opts->queues >= 1 && opts->queues <= UINT16_MAX && opts->pool)
		return 0;
	return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen, "%s",
		opts->pool ? "queues must be 1 to 65535" : "no pool is given");
}

/* The interface's MTU allows frames that the port cannot take. */
static void note_mtu(struct haul_port *port)
{
	unsigned mtu = port->iface[0] ? hauli_iface_mtu(port->iface) : 0;
	unsigned longest = mtu + RTE_ETHER_HDR_LEN;

	if (longest > port->rx_most || longest > port->tx.most)
		hauli_port_note(port,
			"MTU %u: frames of up to %u bytes are received and of up to %u sent, "
			"longer "
			"ones dropped; ip link set %s mtu 1500",
			mtu, RTE_MIN(longest, port->rx_most), RTE_MIN(longest, port->tx.most),
			port->iface);
}

static void note_queues(struct haul_port *port)
{
	if (port->queues < port->opts.queues)
		hauli_port_note(port, "%u queue%s for %u carriers", port->queues,
			port->queues == 1 ? "" : "s", port->opts.queues);
}

static int open_port(struct haul_port *port, const char *spec, char *errbuf, size_t errlen)
{
	int err = hauli_spec_parse(&port->spec, spec, errbuf, errlen);
	const char *iface;

	if (err < 0)
		return err;
	port->kind = port->spec.kind;
	iface = port->kind->main == HAULI_MAIN_INTERFACE ? port->spec.main : "";
	err = check_opts(port, errbuf, errlen);
	if (err == 0)
		err = check_alone(port, iface, errbuf, errlen);
	if (err == 0)
		err = port->kind->prepare(port, errbuf, errlen);
	if (err == 0)
		err = quietly(port, hauli_ethdevs_attach, errbuf, errlen);
	if (err == 0)
		err = quietly(port, hauli_ethdevs_configure, errbuf, errlen);
	/* For some kinds it is known only now. */
	if (err == 0)
		err = check_alone(port, port->iface, errbuf, errlen);
	if (err == 0 && port->kind->ready)
		err = port->kind->ready(port, errbuf, errlen);
	if (err == 0 && hauli_watch_begin(port) < 0)
		err = hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	return err;
}

int haul_port_open(struct haul_port **out, const char *spec, const struct haul_port_opts *opts,
	char *errbuf, size_t errlen)
{
	struct haul_port *port;
	int err;

	if (!out || !spec || !opts || opts->queues == 0 || !opts->pool) {
		snprintf(errbuf, errlen,
			"haul_port_open: port, spec, options or pool is NULL, or no queue is asked "
			"for");
		return -EINVAL;
	}
	port = calloc(1, sizeof(*port));
	if (!port) {
		snprintf(errbuf, errlen, "no memory for a port");
		return -ENOMEM;
	}
	port->opts = *opts;
	port->queues = opts->queues;
	port->tx = (struct hauli_frames){.most = UINT32_MAX, .segs = UINT16_MAX};
	port->rx_most = UINT32_MAX;
	err = open_port(port, spec, errbuf, errlen);
	if (err < 0) {
		destroy(port);
		return err;
	}
	note_queues(port);
	note_mtu(port);
	port->next = open_ports;
	open_ports = port;
	hauli_fault_explain();
	*out = port;
	return 0;
}

static int start(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err = hauli_ethdevs_start(port, errbuf, errlen);

	port->waitable = err == 0 && hauli_wait_probe(port);
	port->missed_before = port->kind->missed ? port->kind->missed(port) : 0;
	return err;
}

int haul_port_start(struct haul_port *port, char *errbuf, size_t errlen)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return quietly(port, start, errbuf, errlen);
}

void haul_port_queue_adopt(struct haul_port *port, unsigned q)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	if (port->kind->adopt)
		port->kind->adopt(port, q);
}

void haul_port_close(struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(
		port->polled, "pollers use port '%s'; haul_io_stop() first", port->spec.text);
	destroy(port);
}

const char *haul_port_spec(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->spec.text;
}

unsigned haul_port_queues(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->queues;
}

struct haul_queue haul_port_queue(const struct haul_port *port, unsigned q)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(q >= port->queues, "%s has no queue %u: it has %u", port->spec.text, q,
		port->queues);
	if (port->nb_vdevs > 1)
		return (struct haul_queue){.port_id = port->vdevs[q].port_id, .queue_id = 0};
	return (struct haul_queue){.port_id = port->vdevs[0].port_id, .queue_id = (uint16_t)q};
}

struct rte_ether_addr haul_port_mac(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->mac;
}

const char *haul_port_nic(const struct haul_port *port)
{
	bool pci;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	pci = port->nb_vdevs > 0 && strcmp(port->vdevs[0].bus, "pci") == 0;
	return pci ? port->vdevs[0].name : port->iface;
}

const char *haul_port_notice(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->notice;
}
