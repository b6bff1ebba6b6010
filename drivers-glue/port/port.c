/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: the common part of all kinds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/assert.h"
#include "eal/log.h"
#include "linux/iface.h"
#include "port/alone.h"
#include "port/callbacks.h"
#include "port/check.h"
#include "port/detach.h"
#include "port/ethdev.h"
#include "port/fault.h"
#include "port/flows.h"
#include "port/hand_over.h"
#include "port/kind.h"
#include "port/kinds/table.h"
#include "port/missed.h"
#include "port/parse.h"
#include "port/port.h"
#include "port/ports.h"
#include "port/wait_fd.h"
#include "port/watch.h"

/* The line after a failure of the PMD: the kind's own explanation, or DPDK's log. */
static int explain(
	const struct haul_port *port, int err, const char *line, char *errbuf, size_t errlen)
{
	/* The spec's kind, which for a raw vdev explains nothing: its driver's kind (port->kind)
	 * does not know the vdev's main part and interface. */
	const struct hauli_kind *kind = port->spec.kind;
	int better = kind->explain ? kind->explain(port, line, errbuf, errlen) : 0;

	if (better < 0)
		return better;
	return hauli_spec_fail(&port->spec, err, errbuf, errlen, "cannot be opened: %s",
		line[0] ? line : strerror(-err));
}

/* Runs a step with DPDK's log held; after a failure errbuf has a line in any case. */
static int quietly(struct haul_port *port, int (*step)(struct haul_port *, char *, size_t),
	char *errbuf, size_t errlen)
{
	char line[HAULI_LOG_LINE], unread[HAULI_LOG_LINE];
	int err;

	if (errlen == 0) {
		errbuf = unread;
		errlen = sizeof(unread);
	}
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
	hauli_ports_remove(port);
	hauli_watch_end(port);
	if (!port->detached)
		hauli_port_close_device(port);
	hauli_callbacks_forget(port);
	hauli_missed_end(port);
	free(port->vdevs);
	free(port->fds);
	hauli_ethdevs_forget_own(port);
	free(port->base.xstats);
	free(port->before_xstats.x);
	free(port->before);
	for (struct hauli_port_text *t = hauli_ptr_published_get(&port->text), *older; t;
		t = older) {
		older = t->older;
		free(t);
	}
	free(port);
}

/* Lets other threads see the spec's text. */
static int show_spec(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct hauli_port_text *text = malloc(sizeof(*text));

	if (!text)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	text->older = hauli_ptr_published_get(&port->text);
	memcpy(text->text, port->spec.text, sizeof(text->text));
	hauli_ptr_published_set(&port->text, text);
	return 0;
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

static int leave_empty(struct haul_port *port, char *errbuf, size_t errlen)
{
	port->detached = true;
	port->queues = port->opts.queues;
	(void)port->kind->prepare(port, errbuf, errlen);
	if (hauli_watch_begin(port) < 0)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	return 0;
}

static int make_device(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err = quietly(port, hauli_ethdevs_attach, errbuf, errlen);

	if (err == 0)
		err = quietly(port, hauli_ethdevs_configure, errbuf, errlen);
	if (err == 0 && port->opts.offer) {
		port->was_mtu = port->opts.offer->was_mtu;
		port->was_promiscuous = port->opts.offer->was_promiscuous;
	}
	return err;
}

static int check_offer(const struct haul_port *port, char *errbuf, size_t errlen)
{
	if (!port->kind->hand_over)
		return hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen,
			"this kind of port cannot be taken over");
	if (port->queues == port->opts.offer->queues)
		return port->kind->hand_over->check(port, port->opts.offer, errbuf, errlen);
	return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
		"%u queues, and it has %u where it is taken from; use as many carriers",
		port->queues, port->opts.offer->queues);
}

/* Begins with nothing but the spec, opts and the configuration. */
static int open_device(struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *iface;
	int err;

	port->kind = port->spec.kind;
	port->queues = port->opts.queues;
	port->agreed = port->late = false;
	port->tx = (struct hauli_frame_sizes){.most = UINT32_MAX, .segs = UINT16_MAX};
	port->rx_most = UINT32_MAX;
	iface = port->kind->main == HAULI_MAIN_INTERFACE ? port->spec.main : "";
	err = hauli_alone_check(port, iface, errbuf, errlen);
	if (err == 0)
		err = port->kind->prepare(port, errbuf, errlen);
	if (err == 0) {
		port->kind = hauli_kind_of_spec(&port->spec);
		err = hauli_alone_check(port, port->iface, errbuf, errlen);
	}
	if (err == 0 && port->opts.offer)
		err = check_offer(port, errbuf, errlen);
	if (err == 0)
		err = port->opts.offer && port->kind->hand_over->makes_iface
			? hauli_port_apart(port, make_device, errbuf, errlen)
			: make_device(port, errbuf, errlen);
	/* Some kinds know it only now. */
	if (err == 0)
		err = hauli_alone_check(port, port->iface, errbuf, errlen);
	if (err == 0 && port->kind->ready)
		err = port->kind->ready(port, errbuf, errlen);
	if (err == 0 && hauli_watch_begin(port) < 0)
		err = hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	return err;
}

static int open_port(struct haul_port *port, const char *spec, char *errbuf, size_t errlen)
{
	int err = hauli_spec_parse(&port->spec, spec, errbuf, errlen);

	if (err < 0)
		return err;
	port->kind = port->spec.kind;
	err = check_opts(port, errbuf, errlen);
	if (err == 0)
		err = show_spec(port, errbuf, errlen);
	if (err == 0)
		err = (haul_port_is_empty(port) ? leave_empty : open_device)(port, errbuf, errlen);
	if (err == 0 && hauli_missed_begin(port) < 0)
		err = hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	return err;
}

int haul_port_open(struct haul_port **out, const char *spec, const struct haul_port_opts *opts,
	char *errbuf, size_t errlen)
{
	struct haul_port *port;
	int err;

	HAUL_MISUSE_IF(!out || !spec, "the place for the port or the spec is NULL");
	HAUL_MISUSE_IF(!opts || !opts->pool,
		"haul_port_opts.pool is NULL; haul_pool_create() makes one, or tells why not");
	if (opts->queues == 0) {
		snprintf(errbuf, errlen, "haul_port_open: no queue is asked for");
		return -EINVAL;
	}
	port = calloc(1, sizeof(*port));
	if (!port) {
		snprintf(errbuf, errlen, "no memory for a port");
		return -ENOMEM;
	}
	port->opts = *opts;
	if (opts->config)
		port->config = port->asked = *opts->config;
	port->opts.config = &port->config;
	port->leaves_out = opts->leave_out;
	err = open_port(port, spec, errbuf, errlen);
	if (err < 0) {
		destroy(port);
		return err;
	}
	if (!port->detached) {
		note_queues(port);
		note_mtu(port);
	}
	hauli_ports_add(port);
	hauli_fault_explain();
	*out = port;
	return 0;
}

static int start(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err;

	hauli_ethdevs_run_queues(port);
	err = port->late ? hauli_ethdevs_reconfigure(port, errbuf, errlen) : 0;
	port->late = false;
	if (err == 0)
		err = hauli_ethdevs_start(port, errbuf, errlen);

	hauli_watch_set_link(port, true);
	if (err == 0 && port->kind->started)
		err = port->kind->started(port);
	port->waitable = err == 0 && hauli_port_is_waitable(port);
	if (!port->was_started)
		hauli_missed_count(port);
	port->was_started |= err == 0;
	return err;
}

int haul_port_start(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	if (haul_port_is_empty(port))
		return 0;
	err = hauli_check_attached(port, errbuf, errlen);
	if (err == 0)
		err = quietly(port, start, errbuf, errlen);
	port->leaves_out = false;
	return err;
}

/* What a device leaves behind, of which the next one makes its own. */
static void forget_device(struct haul_port *port)
{
	free(port->vdevs);
	port->vdevs = NULL;
	port->nb_vdevs = 0;
	free(port->fds);
	port->fds = NULL;
	hauli_ethdevs_forget_own(port);
	port->notice[0] = '\0';
}

int hauli_port_reopen(struct haul_port *port, char *errbuf, size_t errlen)
{
	unsigned queues = port->queues;
	int err;

	if (haul_port_is_empty(port))
		return hauli_check_attached(port, errbuf, errlen);
	forget_device(port);
	port->opts.queues = queues;
	port->config = port->asked;
	port->leaves_out = true;
	err = open_device(port, errbuf, errlen);
	if (err == 0 && port->queues != queues)
		err = hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"it has %u queue%s, and the port has %u; an empty: port has as many as "
			"--rxq or its queues= says",
			port->queues, port->queues == 1 ? "" : "s", queues);
	if (err == 0) {
		hauli_watch_forget(port);
		err = quietly(port, start, errbuf, errlen);
	}
	port->leaves_out = false;
	if (err < 0) {
		hauli_watch_recall(port);
		hauli_watch_detach(port);
		hauli_port_close_device(port);
		port->waitable = false;
		port->queues = queues;
		return err;
	}
	hauli_missed_resume(port);
	port->detached = false;
	hauli_callbacks_connect(port);
	note_mtu(port);
	return 0;
}

void hauli_port_keep_spec(struct haul_port *port)
{
	free(port->before);
	port->before = NULL;
}

void hauli_port_drop_spec(struct haul_port *port)
{
	if (!port->before)
		return;
	port->spec = *port->before; /* the strings are within it, at the same place */
	hauli_port_keep_spec(port);
	(void)show_spec(port, NULL, 0);
}

int haul_port_set_spec(struct haul_port *port, const char *spec, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(!spec, "the spec is NULL");
	if (!port->detached)
		return hauli_spec_fail(
			&port->spec, -EBUSY, errbuf, errlen, "it has a device; detach it first");
	hauli_port_drop_spec(port); /* that was never opened */
	port->before = malloc(sizeof(*port->before));
	if (!port->before)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	*port->before = port->spec;
	err = hauli_spec_parse(&port->spec, spec, errbuf, errlen);
	if (err == 0)
		err = show_spec(port, errbuf, errlen);
	if (err < 0)
		hauli_port_drop_spec(port);
	return err;
}

int haul_port_stop(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct rte_flow_error error;
	char line[HAULI_LOG_LINE];
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_unpolled(port, "stopped", errbuf, errlen);
	if (err < 0)
		return err;
	hauli_log_hold();
	(void)hauli_flows_end(port, &error);
	hauli_ethdevs_stop(port);
	hauli_log_release(line);
	port->waitable = false;
	return 0;
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
