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

#include "command.h"
#include "ports.h"
#include "queue.h"

#define WORD(i) (call->words[i].text)
#define AROUND (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)

/* Queues that commands have stopped. Only the main thread. */
static struct {
	uint16_t port, queue;
	bool rx;
} stopped[64];
static unsigned nb_stopped;

static struct haul_port *port_of(const struct fwd_call *call, unsigned port)
{
	return call->app->ports[port];
}

static unsigned find(unsigned port, unsigned queue, bool rx)
{
	unsigned s = 0;

	while (s < nb_stopped &&
		(stopped[s].port != port || stopped[s].queue != queue || stopped[s].rx != rx))
		s++;
	return s;
}

bool fwd_queues_are_started(FILE *out)
{
	for (unsigned s = 0; s < nb_stopped; s++)
		fprintf(out, "Queue %u of port %u is stopped: give port %u %s %u start first\n",
			stopped[s].queue, stopped[s].port, stopped[s].port,
			stopped[s].rx ? "rxq" : "txq", stopped[s].queue);
	return nb_stopped == 0;
}

void fwd_queues_begin(unsigned port)
{
	for (unsigned s = nb_stopped; s-- > 0;)
		if (stopped[s].port == port)
			stopped[s] = stopped[--nb_stopped];
}

static bool is_queue(const struct fwd_call *call, unsigned port, uint64_t queue, bool rx)
{
	unsigned n = haul_port_queues(port_of(call, port));

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
	unsigned s;
	int err;

	if (!is_queue(call, i, queue, rx) || !fwd_port_is_started(call->app, i, call->out))
		return false;
	err = haul_port_switch_queue(
		port_of(call, i), (unsigned)queue, rx, start, errbuf, sizeof(errbuf));
	if (err == -ENOTSUP)
		fprintf(call->out, "Function not supported in PMD: ");
	if (err)
		return fwd_result(call, err, errbuf);
	s = find(i, (unsigned)queue, rx);
	if (start && s < nb_stopped)
		stopped[s] = stopped[--nb_stopped];
	else if (!start && s == nb_stopped && nb_stopped < RTE_DIM(stopped)) {
		stopped[nb_stopped].port = (uint16_t)i;
		stopped[nb_stopped].queue = (uint16_t)queue;
		stopped[nb_stopped++].rx = rx;
	}
	return true;
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
			haul_port_set_rings(port_of(call, i), 0, 0, errbuf, sizeof(errbuf)),
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
		haul_port_set_rings(port_of(call, i), rx ? (uint16_t)size : 0,
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

/* "port config P rx_offload|tx_offload NAME on|off": for all queues */
static bool set_offload(const struct fwd_call *call, unsigned i, const char *side, const char *word,
	const char *value)
{
	bool rx = side[0] == 'r';
	uint64_t offload;
	char errbuf[512];

	for (unsigned bit = 0; bit < 64; bit++) {
		offload = UINT64_C(1) << bit;
		if (strcasecmp(rx ? rte_eth_dev_rx_offload_name(offload)
				  : rte_eth_dev_tx_offload_name(offload),
			    word) == 0)
			return fwd_result(call,
				haul_port_change_offloads(port_of(call, i), rx ? offload : 0,
					rx ? 0 : offload, strcmp(value, "on") == 0, errbuf,
					sizeof(errbuf)),
				errbuf);
	}
	fprintf(call->out, "Unknown offload name: %s\n", word);
	return false;
}

static bool set_port_offload_one(const struct fwd_call *call, unsigned i)
{
	return set_offload(call, i, WORD(3), WORD(4), WORD(5));
}

static bool set_port_offload(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_port_offload_one);
}

/* "port config all WHAT N" */
static bool set_queues(const struct fwd_call *call, uint64_t n)
{
	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		unsigned has = haul_port_queues(port_of(call, i));

		if (has == n)
			continue;
		fprintf(call->out,
			"Port %u has %u queue%s: --rxq sets their number, at the start\n", i, has,
			has == 1 ? "" : "s");
		return false;
	}
	return true;
}

static bool set_frame(const struct fwd_call *call, uint64_t length)
{
	char errbuf[512];

	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		unsigned mtu = length < AROUND ? 0
			: length > UINT16_MAX  ? UINT16_MAX
					       : (unsigned)length - AROUND;

		if (!fwd_result(call,
			    haul_port_set_mtu(port_of(call, i), mtu, errbuf, sizeof(errbuf)),
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
	return set_queues(call, n);
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
	{"port config PORT rxq|txq N ring_size N", set_ring_size,
		"Descriptors of the port's receive or transmit queues, of all of them; after "
		"stop."},
	{"port config PORT rx_offload|tx_offload NAME on|off", set_port_offload,
		"Turn an offload on or off, such as vlan_strip; after stop."},
	{"port config all rxq|txq|rxd|txd|max-pkt-len N", set_all,
		"Descriptors of all ports' queues, the longest frame; after stop."},
	{"port config all burst N", set_all_burst, "Packets per poll; after stop."},
	{0},
};
