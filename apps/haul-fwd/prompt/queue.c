/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about single queues, their rings, and the configuration of all ports, in testpmd's
 * words. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "../modes/options.h"
#include "../run.h"
#include "command.h"
#include "ports.h"
#include "verbose.h"

#define WORD(i) (call->words[i].text)
#define AROUND (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)

static bool is_queue(const struct fwd_call *call, unsigned port, uint64_t queue, bool rx)
{
	unsigned n = haul_port_queues(fwd_port_of(call, port));

	if (queue < n)
		return true;
	fprintf(call->out, "Invalid %s queue %" PRIu64 " (must be < %u)\n", rx ? "RX" : "TX", queue,
		n);
	return false;
}

/* "port P rxq|txq Q start|stop" */
static bool switch_one(const struct fwd_call *call, unsigned i)
{
	bool rx = strcmp(WORD(2), "rxq") == 0, start = strcmp(WORD(4), "start") == 0;
	const uint64_t queue = call->words[3].number;
	char errbuf[512];
	int err;

	if (!is_queue(call, i, queue, rx) || !fwd_port_is_started(call->app, i, call->out))
		return false;
	err = haul_port_switch_queue(
		fwd_port_of(call, i), (unsigned)queue, rx, start, errbuf, sizeof(errbuf));
	if (err == -ENOTSUP)
		fprintf(call->out, "Function not supported in PMD: ");
	return fwd_result(call, err, errbuf);
}

static bool switch_queue(const struct fwd_call *call)
{
	return fwd_is_stopped(call) && fwd_each_port(call, WORD(1), switch_one);
}

/* "port P rxq Q setup": as each change of this port does for all its queues. */
static bool set_up_one(const struct fwd_call *call, unsigned i)
{
	char errbuf[512];

	return is_queue(call, i, call->words[3].number, strcmp(WORD(2), "rxq") == 0) &&
		fwd_result(call,
			haul_port_set_rings(fwd_port_of(call, i), 0, 0, errbuf, sizeof(errbuf)),
			errbuf);
}

static bool set_up_queue(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(1), set_up_one);
}

static bool set_ring(const struct fwd_call *call, unsigned i, bool rx, uint64_t size)
{
	char errbuf[512];

	if (size == 0 || size > UINT16_MAX) {
		fprintf(call->out, "Invalid ring size %" PRIu64 "\n", size);
		return false;
	}
	return fwd_result(call,
		haul_port_set_rings(fwd_port_of(call, i), rx ? (uint16_t)size : 0,
			rx ? 0 : (uint16_t)size, errbuf, sizeof(errbuf)),
		errbuf);
}

/* "port config P rxq|txq Q ring_size N" */
static bool set_ring_one(const struct fwd_call *call, unsigned i)
{
	bool rx = strcmp(WORD(3), "rxq") == 0;

	return is_queue(call, i, call->words[4].number, rx) &&
		set_ring(call, i, rx, call->words[6].number);
}

static bool set_ring_size(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_ring_one);
}

/* The offload of this name, or 0 after a line. */
static uint64_t offload_of(const struct fwd_call *call, bool rx, const char *word)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t offload = UINT64_C(1) << bit;

		if (strcasecmp(rx ? rte_eth_dev_rx_offload_name(offload)
				  : rte_eth_dev_tx_offload_name(offload),
			    word) == 0)
			return offload;
	}
	fprintf(call->out, "Unknown offload name: %s\n", word);
	return 0;
}

/* "port config P rx_offload|tx_offload NAME on|off": for all queues */
static bool set_port_offload_one(const struct fwd_call *call, unsigned i)
{
	bool rx = WORD(3)[0] == 'r';
	uint64_t offload = offload_of(call, rx, WORD(4));
	char errbuf[512];

	return offload &&
		fwd_result(call,
			haul_port_change_offloads(fwd_port_of(call, i), rx ? offload : 0,
				rx ? 0 : offload, strcmp(WORD(5), "on") == 0, errbuf,
				sizeof(errbuf)),
			errbuf);
}

static bool set_port_offload(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_port_offload_one);
}

/* What a queue has of its own, before a change of one of the two. False after a line. */
static bool get_own(const struct fwd_call *call, unsigned i, bool rx, struct haul_queue_info *info)
{
	const uint64_t queue = call->words[3].number;

	if (!is_queue(call, i, queue, rx))
		return false;
	if (haul_port_get_queue_info(fwd_port_of(call, i), (unsigned)queue, rx, info) != -ENODEV)
		return true;
	fprintf(call->out, "Port %u has no device\n", i);
	return false;
}

static bool set_own(
	const struct fwd_call *call, unsigned i, bool rx, uint64_t offloads, bool deferred)
{
	char errbuf[512];

	return fwd_result(call,
		haul_port_set_queue(fwd_port_of(call, i), (unsigned)call->words[3].number, rx,
			offloads, deferred, errbuf, sizeof(errbuf)),
		errbuf);
}

/* "port P rxq|txq Q deferred_start on|off" */
static bool set_deferred_one(const struct fwd_call *call, unsigned i)
{
	bool rx = strcmp(WORD(2), "rxq") == 0;
	struct haul_queue_info info;

	return get_own(call, i, rx, &info) &&
		set_own(call, i, rx, info.offloads, strcmp(WORD(5), "on") == 0);
}

static bool set_deferred(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(1), set_deferred_one);
}

/* "port P rxq Q rx_offload NAME on|off" */
static bool set_queue_offload_one(const struct fwd_call *call, unsigned i)
{
	bool rx = strcmp(WORD(2), "rxq") == 0;
	struct haul_queue_info info;
	uint64_t offload = offload_of(call, rx, WORD(5));

	if (!offload || !get_own(call, i, rx, &info))
		return false;
	return set_own(call, i, rx,
		strcmp(WORD(6), "on") == 0 ? info.offloads | offload : info.offloads & ~offload,
		info.deferred);
}

static bool set_queue_offload(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(1), set_queue_offload_one);
}

/* Why queues stay as many as there are; NULL: they need not. */
static const char *obstacle(void)
{
	if (fwd_run_next().mode == FWD_GENERATE)
		return "a generator has the queues of its start";
	if (fwd_mode_args.record_load)
		return "--record-load records the queues of the start";
	return NULL;
}

static bool set_queues(const struct fwd_call *call, uint64_t n)
{
	const char *why = obstacle();
	char errbuf[512];

	if (n == 0 || n > RTE_MAX_QUEUES_PER_PORT || why) {
		fprintf(call->out, "%" PRIu64 " queues: %s\n", n, why ? why : "give 1 to 1024");
		return false;
	}
	return fwd_result(call, haul_app_set_queues(call->app, (unsigned)n, errbuf, sizeof(errbuf)),
		       errbuf) &&
		fwd_verbose_goes_on(call->app);
}

/* Queues come in pairs, so there may be more transmit queues than were asked for: each carrier that
 * receives needs one. */
static bool set_txqs(const struct fwd_call *call, uint64_t n)
{
	unsigned queues = haul_port_queues(fwd_port_of(call, 0));
	unsigned senders = RTE_MIN(queues, call->app->plan->carriers);

	if (n >= senders)
		return n <= queues || set_queues(call, n);
	fprintf(call->out, "%u carriers send, each on a queue of its own\n", senders);
	return false;
}

static bool set_frame(const struct fwd_call *call, uint64_t length)
{
	char errbuf[512];

	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		unsigned mtu = length < AROUND ? 0
			: length > UINT16_MAX  ? UINT16_MAX
					       : (unsigned)length - AROUND;

		if (!fwd_result(call,
			    haul_port_set_mtu(fwd_port_of(call, i), mtu, errbuf, sizeof(errbuf)),
			    errbuf))
			return false;
	}
	return true;
}

static bool set_rings(const struct fwd_call *call, bool rx, uint64_t size)
{
	for (unsigned i = 0; i < call->app->nb_ports; i++)
		if (!set_ring(call, i, rx, size))
			return false;
	return true;
}

/* "port config all WHAT N" */
static bool set_all(const struct fwd_call *call)
{
	const char *what = WORD(3);
	const uint64_t n = call->words[4].number;

	if (!fwd_is_stopped(call))
		return false;
	if (strcmp(what, "max-pkt-len") == 0)
		return set_frame(call, n);
	if (strcmp(what, "rxd") == 0 || strcmp(what, "txd") == 0)
		return set_rings(call, what[0] == 'r', n);
	return (what[0] == 'r' ? set_queues : set_txqs)(call, n);
}

static bool set_all_burst(const struct fwd_call *call)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, call->words[4].number);
	return fwd_is_stopped(call) &&
		haul_app_set_option(call->app, "--burst", text) == HAUL_APP_DONE;
}

const struct fwd_command fwd_commands_queue[] = {
	{"port PORT rxq|txq N start|stop", switch_queue,
		"Start or stop a queue, where the PMD does; after stop."},
	{"port PORT rxq|txq N setup", set_up_queue,
		"Set the queues of a port up anew; after stop."},
	{"port PORT rxq|txq N deferred_start on|off", set_deferred,
		"Let starts of the port leave a queue stopped, where the PMD does; after stop."},
	{"port PORT rxq N rx_offload NAME on|off", set_queue_offload,
		"Turn an offload of one queue on or off; after stop."},
	{"port PORT txq N tx_offload NAME on|off", set_queue_offload, "The same."},
	{"port config PORT rxq|txq N ring_size N", set_ring_size,
		"Descriptors of the port's receive or transmit queues, of all of them; after "
		"stop."},
	{"port config PORT rx_offload|tx_offload NAME on|off", set_port_offload,
		"Turn an offload on or off, such as vlan_strip; after stop."},
	{"port config all rxq|txq|rxd|txd|max-pkt-len N", set_all,
		"Queues of all ports, their descriptors, the longest frame; after stop."},
	{"port config all burst N", set_all_burst, "Packets per poll; after stop."},
	{0},
};
