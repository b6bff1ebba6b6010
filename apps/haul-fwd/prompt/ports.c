/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about ports: what their PMDs tell, and their configuration. */
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_flow.h>
#include <haul-dpdk/port_info.h>

#include "../forward.h"
#include "../modes/csum.h"
#include "../testpmd_args.h"
#include "address.h"
#include "command.h"
#include "ports.h"
#include "show_port.h"

#define WORD(i) (call->words[i].text)

static bool is_stopped[HAUL_APP_PORTS_MAX];
static bool may_lack[HAUL_APP_PORTS_MAX]; /* what the options ask for */

bool fwd_ports_are_started(const struct haul_app *app, FILE *out)
{
	for (unsigned i = 0; i < app->nb_ports; i++) {
		if (!is_stopped[i] || !haul_io_is_attached(app->io, i))
			continue;
		fprintf(out, "Not all ports were started: give port start %u first\n", i);
		return false;
	}
	return true;
}

bool fwd_port_is_started(const struct haul_app *app, unsigned port, FILE *out)
{
	bool attached = haul_io_is_attached(app->io, port);

	if (attached && !is_stopped[port])
		return true;
	fprintf(out, attached ? "Please start port %u first\n" : "Port %u has no device\n", port);
	return false;
}

static int stop_from(struct haul_app *app, unsigned first)
{
	char errbuf[512];

	for (unsigned i = first; i < app->nb_ports; i++) {
		if (!haul_io_is_attached(app->io, i))
			continue;
		if (haul_port_stop(app->ports[i], errbuf, sizeof(errbuf)) != 0) {
			haul_app_say(app->program, "%s", errbuf);
			return HAUL_APP_FAILED;
		}
		is_stopped[i] = true;
		may_lack[i] = app->leave_out;
	}
	return HAUL_APP_DONE;
}

int fwd_ports_stop(struct haul_app *app)
{
	return stop_from(app, 0);
}

int fwd_ports_stop_refused(struct haul_app *app)
{
	unsigned i = 0;

	while (i < app->nb_ports &&
		(haul_port_is_empty(app->ports[i]) ||
			haul_port_check_config(app->ports[i], NULL, 0) == 0))
		i++;
	if (i == app->nb_ports)
		return HAUL_APP_DONE;
	/* Why, its notice has told. */
	fprintf(stderr, "Fail to configure port %u\nStart ports failed\n", i);
	return stop_from(app, i);
}

/* Some PMDs take it only while the port is stopped. */
static int isolate(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct rte_flow_error error = {0};
	int err = haul_port_stop(port, errbuf, errlen);

	if (err)
		return err;
	err = haul_port_flow_isolate(port, true, &error);
	if (err) {
		snprintf(errbuf, errlen, "%s", error.message ? error.message : strerror(-err));
		return err;
	}
	return haul_port_start(port, errbuf, errlen);
}

int fwd_ports_isolate(struct haul_app *app)
{
	char errbuf[512];

	for (unsigned i = 0; i < app->nb_ports; i++) {
		if (!haul_io_is_attached(app->io, i) ||
			isolate(app->ports[i], errbuf, sizeof(errbuf)) == 0)
			continue;
		haul_app_say(
			app->program, "Failed to apply isolated mode on port %u: %s", i, errbuf);
		return HAUL_APP_FAILED;
	}
	return HAUL_APP_DONE;
}

static bool show_one(const struct fwd_call *call, unsigned i)
{
	struct haul_port *port = fwd_port_of(call, i);

	if (strcmp(WORD(2), "stats") == 0)
		fwd_show_port_stats(port, i, call->out);
	else if (strcmp(WORD(2), "xstats") == 0)
		fwd_show_port_xstats(port, i, call->out);
	else
		fwd_show_port_info(port, i, call->out);
	return true;
}

static bool show_port(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), show_one);
}

static bool show_summary(const struct fwd_call *call)
{
	const bool specs = !fwd_testpmd_is_meant();
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	char speed[24];
	struct haul_port_info info;

	fprintf(call->out, "Number of available ports: %u\n", call->app->nb_ports);
	fprintf(call->out, "%-4s %-17s %-12s %-14s %-8s %s\n", "Port", "MAC Address", "Name",
		"Driver", "Status", specs ? "Link     Spec" : "Link");
	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		const struct rte_ether_addr own = haul_port_mac(fwd_port_of(call, i));
		const char *spec = specs ? haul_port_spec(fwd_port_of(call, i)) : "";
		struct haul_port_device device;

		if (haul_port_get_info(fwd_port_of(call, i), &info) != 0 ||
			haul_port_get_device(fwd_port_of(call, i), 0, &device) != 0) {
			fprintf(call->out, "%-4u %-17s %-12s %-14s %-8s %-*s%s\n", i, "-", "-", "-",
				"none", specs ? 9 : 0, "-", spec);
			continue;
		}
		rte_ether_format_addr(mac, sizeof(mac), &own);
		fprintf(call->out, "%-4u %-17s %-12s %-14s %-8s %-*s%s\n", i, mac, device.name,
			info.dev.driver_name, info.link.link_status ? "up" : "down", specs ? 9 : 0,
			fwd_show_port_speed(speed, info.link.link_speed), spec);
	}
	return true;
}

static bool clear_one(const struct fwd_call *call, unsigned i)
{
	haul_port_reset_stats(fwd_port_of(call, i));
	fwd_show_port_begin_rates(i);
	if (strcmp(WORD(2), "stats") == 0)
		fprintf(call->out, "\n  NIC statistics for port %u cleared\n", i);
	return true;
}

static bool clear_port(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), clear_one);
}

/* "show port P WHAT [key]" */
static bool show_detail(const struct fwd_call *call, unsigned i)
{
	if (strcmp(WORD(3), "rss-hash") == 0)
		fwd_show_port_rss(fwd_port_of(call, i), i, false, call->out);
	else if (strcmp(WORD(3), "flow_ctrl") == 0)
		fwd_show_port_flow_control(fwd_port_of(call, i), i, call->out);
	else
		fwd_show_port_offloads(fwd_port_of(call, i), i, strcmp(WORD(3), "rx_offload") == 0,
			strcmp(WORD(4), "configuration") == 0, call->out);
	return true;
}

static bool show_port_detail(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_detail);
}

static bool show_key(const struct fwd_call *call, unsigned i)
{
	fwd_show_port_rss(fwd_port_of(call, i), i, true, call->out);
	return true;
}

static bool show_port_key(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), show_key);
}

/* "show rxq|txq info P Q" */
static bool show_queue(const struct fwd_call *call, unsigned i)
{
	const struct haul_port *port = fwd_port_of(call, i);
	const uint64_t q = call->words[4].number;
	bool rx = strcmp(WORD(1), "rxq") == 0;
	int err;

	if (q >= haul_port_queues(port)) {
		fprintf(call->out, "Invalid %s queue_id=%u: port %u has %u\n", rx ? "Rx" : "Tx",
			(unsigned)q, i, haul_port_queues(port));
		err = -EINVAL;
	} else {
		err = fwd_show_port_queue(port, i, (unsigned)q, rx, call->out);
	}
	if (!err)
		return true;
	fprintf(call->out,
		"Failed to retrieve information for port: %u, %s queue: %u\nerror desc: %s(%d)\n",
		i, rx ? "RX" : "TX", (unsigned)q, strerror(-err), err);
	return false;
}

static bool show_queue_info(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), show_queue);
}

/* A port without a device is no fault of "all". */
static bool passes_over(const struct fwd_call *call, unsigned i)
{
	if (strcmp(WORD(2), "all") == 0)
		return true;
	fprintf(call->out, "Port %u has no device: give port attach first\n", i);
	return false;
}

static bool start_one(const struct fwd_call *call, unsigned i)
{
	char errbuf[512], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct haul_port_info info;
	struct rte_ether_addr own;

	if (!haul_io_is_attached(call->app->io, i))
		return passes_over(call, i);
	if (!is_stopped[i])
		return true;
	if (haul_port_get_info(fwd_port_of(call, i), &info) == 0)
		fprintf(call->out, "Configuring Port %u (socket %d)\n", i, RTE_MAX(info.socket, 0));
	if (may_lack[i] &&
		haul_port_check_config(fwd_port_of(call, i), errbuf, sizeof(errbuf)) != 0) {
		fprintf(call->out, "%s\nFail to configure port %u\n", errbuf, i);
		return false;
	}
	if (!fwd_result(
		    call, haul_port_start(fwd_port_of(call, i), errbuf, sizeof(errbuf)), errbuf))
		return false;
	is_stopped[i] = may_lack[i] = false;
	own = haul_port_mac(fwd_port_of(call, i));
	rte_ether_format_addr(mac, sizeof(mac), &own);
	fprintf(call->out, "Port %u: %s\n", i, mac);
	return true;
}

static bool stop_one(const struct fwd_call *call, unsigned i)
{
	char errbuf[512];

	if (!haul_io_is_attached(call->app->io, i))
		return passes_over(call, i);
	if (is_stopped[i])
		return true;
	is_stopped[i] = fwd_result(
		call, haul_port_stop(fwd_port_of(call, i), errbuf, sizeof(errbuf)), errbuf);
	return is_stopped[i];
}

/* "port VERB P", with testpmd's lines before and after it; what: NULL, fn has its own. */
static bool change_ports(const struct fwd_call *call, const char *what,
	bool (*fn)(const struct fwd_call *call, unsigned port))
{
	bool good;

	if (what)
		fprintf(call->out, "%s ports...\n", what);
	good = fwd_each_port(call, WORD(2), fn);
	if (good)
		fprintf(call->out, "%sDone\n",
			fn == start_one || fn == stop_one ? "Checking link statuses...\n" : "");
	return good;
}

static bool start_or_stop(const struct fwd_call *call)
{
	bool starts = strcmp(WORD(1), "start") == 0;

	return change_ports(call, starts ? NULL : "Stopping", starts ? start_one : stop_one);
}

/* done: what it is then, for a line; NULL: none. */
static bool attach_or_detach_port(
	const struct fwd_call *call, unsigned i, bool attach, const char *done)
{
	bool comes = attach && !haul_io_is_attached(call->app->io, i);
	char errbuf[512];
	int err;

	/* Packets for it would have wrong checksums until fwd_attached(). */
	if (comes)
		fwd_csum_set_offloads(i, 0);
	err = attach ? haul_io_attach_port(call->app->io, i, FWD_PATIENCE, errbuf, sizeof(errbuf))
		     : haul_app_detach_port(call->app, i, FWD_PATIENCE, errbuf, sizeof(errbuf));

	if (!err && comes) {
		is_stopped[i] = may_lack[i] = false; /* it was started */
		fwd_addresses_begin(i);
		fwd_attached(call->app, i);
	}
	if (!err && done)
		fprintf(call->out, "Port %u is %s\n", i, done);
	if (!err && comes && haul_port_notice(fwd_port_of(call, i))[0])
		fprintf(call->out, "%s\n", haul_port_notice(fwd_port_of(call, i)));
	return fwd_result(call, err, errbuf);
}

/* "port attach P", "port detach P" */
static bool attach_or_detach_one(const struct fwd_call *call, unsigned i)
{
	bool attach = strcmp(WORD(1), "attach") == 0;

	return attach_or_detach_port(call, i, attach, attach ? "attached" : "detached");
}

static bool close_one(const struct fwd_call *call, unsigned i)
{
	if (!haul_io_is_attached(call->app->io, i))
		return passes_over(call, i);
	return attach_or_detach_port(call, i, false, "closed");
}

static bool reset_one(const struct fwd_call *call, unsigned i)
{
	if (!haul_io_is_attached(call->app->io, i))
		return passes_over(call, i);
	return attach_or_detach_port(call, i, false, NULL) &&
		attach_or_detach_port(call, i, true, NULL);
}

/* "port close P": the number stays the port's, for "port attach". "port reset P" */
static bool close_or_reset(const struct fwd_call *call)
{
	bool closes = strcmp(WORD(1), "close") == 0;

	return change_ports(call, closes ? "Closing" : "Resetting", closes ? close_one : reset_one);
}

/* A PCI device by its address alone, as testpmd takes it. */
static const char *full_spec(char *buf, size_t size, const char *spec)
{
	unsigned domain, bus, slot, function;

	if (sscanf(spec, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 &&
		sscanf(spec, "%x:%x.%x", &bus, &slot, &function) != 3)
		return spec;
	snprintf(buf, size, "pci:%s", spec);
	return buf;
}

static bool set_spec_and_attach(const struct fwd_call *call, unsigned i, const char *spec)
{
	char errbuf[512], full[sizeof(call->words[0].text) + sizeof("pci:")];

	return fwd_result(call,
		       haul_port_set_spec(fwd_port_of(call, i), full_spec(full, sizeof(full), spec),
			       errbuf, sizeof(errbuf)),
		       errbuf) &&
		attach_or_detach_one(call, i);
}

/* As testpmd's command: the port gets the first number that is free, here of an empty port, or else
 * of one that was detached. */
static bool attach_new(const struct fwd_call *call, const char *spec)
{
	for (unsigned i = 0; i < call->app->nb_ports; i++)
		if (haul_port_is_empty(fwd_port_of(call, i)))
			return set_spec_and_attach(call, i, spec);
	for (unsigned i = 0; i < call->app->nb_ports; i++)
		if (!haul_io_is_attached(call->app->io, i))
			return set_spec_and_attach(call, i, spec);
	fprintf(call->out, "No port is empty, or was detached: start with --port empty:\n");
	return false;
}

static bool attach_or_detach(const struct fwd_call *call)
{
	bool is_spec = strchr(WORD(2), ':') || strncmp(WORD(2), "net_", strlen("net_")) == 0;

	if (is_spec && strcmp(WORD(1), "attach") == 0)
		return attach_new(call, WORD(2));
	return fwd_each_port(call, WORD(2), attach_or_detach_one);
}

static bool attach_as_one(const struct fwd_call *call, unsigned i)
{
	return set_spec_and_attach(call, i, WORD(3));
}

static bool attach_as(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), attach_as_one);
}

/* "set promisc P on|off" */
static bool set_promiscuous_one(const struct fwd_call *call, unsigned i)
{
	bool all = strcmp(WORD(1), "allmulti") == 0;
	char errbuf[512];
	int err = (all ? haul_port_set_allmulticast : haul_port_set_promiscuous)(
		fwd_port_of(call, i), fwd_is_on(WORD(3)), errbuf, sizeof(errbuf));

	if (err)
		fprintf(call->out, "Error during %s %s mode for port %u: %s\n",
			fwd_is_on(WORD(3)) ? "enabling" : "disabling",
			all ? "all-multicast" : "promiscuous", i, strerror(-err));
	return fwd_result(call, err, errbuf);
}

static bool set_promiscuous(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), set_promiscuous_one);
}

/* "set link-up port P" */
static bool set_link_one(const struct fwd_call *call, unsigned i)
{
	bool up = strcmp(WORD(1), "link-up") == 0;
	char errbuf[512];
	int err = haul_port_set_link(fwd_port_of(call, i), up, errbuf, sizeof(errbuf));

	if (err)
		fprintf(call->out, "Set link %s fail.\n", up ? "up" : "down");
	return fwd_result(call, err, errbuf);
}

static bool set_link(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), set_link_one);
}

/* "port config mtu P N" */
static bool set_mtu_one(const struct fwd_call *call, unsigned i)
{
	char errbuf[512];
	const uint64_t mtu = call->words[4].number;
	int err = haul_port_set_mtu(fwd_port_of(call, i),
		mtu > UINT16_MAX ? UINT16_MAX : (unsigned)mtu, errbuf, sizeof(errbuf));

	return fwd_result(call, err, errbuf);
}

static bool set_mtu(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), set_mtu_one);
}

/* "vlan set strip on P" */
static bool set_vlan_one(const struct fwd_call *call, unsigned i)
{
	uint64_t offload = strcmp(WORD(2), "strip") == 0 ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP
		: strcmp(WORD(2), "filter") == 0         ? RTE_ETH_RX_OFFLOAD_VLAN_FILTER
		: strcmp(WORD(2), "extend") == 0         ? RTE_ETH_RX_OFFLOAD_VLAN_EXTEND
							 : RTE_ETH_RX_OFFLOAD_QINQ_STRIP;
	char errbuf[512];
	int err = haul_port_change_offloads(
		fwd_port_of(call, i), offload, 0, fwd_is_on(WORD(3)), errbuf, sizeof(errbuf));

	if (err)
		fprintf(call->out, "rx_vlan_%s_set(port_pi=%u, on=%d) failed diag=%d\n",
			strcmp(WORD(2), "qinq_strip") == 0 ? "qinq" : WORD(2), i,
			fwd_is_on(WORD(3)), err);
	return fwd_result(call, err, errbuf);
}

static bool set_vlan(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(4), set_vlan_one);
}

/* "rx_vlan add N P" */
static bool pass_vlan_one(const struct fwd_call *call, unsigned i)
{
	const uint64_t vlan = call->words[2].number;
	char errbuf[512];
	int err;

	if (!fwd_is_vlan(call, vlan))
		return false;
	err = haul_port_pass_vlan(fwd_port_of(call, i), (uint16_t)vlan, strcmp(WORD(1), "add") == 0,
		errbuf, sizeof(errbuf));
	if (err == -ENOTSUP)
		fprintf(call->out, "Port %u: VLAN-filtering disabled\n", i);
	return fwd_result(call, err, errbuf);
}

static bool pass_vlan(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(3), pass_vlan_one);
}

const struct fwd_command fwd_commands_ports[] = {
	{"show port info|stats|xstats PORT", show_port, "Show what the PMD tells (PORT or all)."},
	{"show port summary PORT", show_summary, "List all ports."},
	{"show port PORT rss-hash", show_port_detail, "Show what RSS hashes."},
	{"show port PORT rss-hash key", show_port_key, "The same with the key."},
	{"show port PORT flow_ctrl", show_port_detail, "Show flow control."},
	{"show port PORT rx_offload|tx_offload capabilities|configuration", show_port_detail,
		"Show offloads: what there is, and what is in use."},
	{"show rxq|txq info PORT N", show_queue_info, "Show queue N."},
	{"clear port stats|xstats|info PORT", clear_port, "Let show port count from 0."},
	{"port start|stop PORT", start_or_stop, "Start or stop a port, or all."},
	{"port detach PORT", attach_or_detach, "Close the device of a port; the others go on."},
	{"port close PORT", close_or_reset, "The same."},
	{"port reset PORT", close_or_reset, "Close the device of a port, and open it again."},
	{"port attach PORT", attach_or_detach,
		"PORT: open its device again. A spec: give this device to the first empty port."},
	{"port attach PORT SPEC", attach_as, "Give a detached or empty port this device."},
	{"port config mtu PORT N", set_mtu, "Set the MTU; after stop."},
	{"set promisc|allmulti PORT on|off", set_promiscuous,
		"Receive frames for others, or for all groups."},
	{"set link-up|link-down port PORT", set_link, "Set the link up or down."},
	{"vlan set strip|filter|extend|qinq_strip on|off PORT", set_vlan,
		"Strip VLAN tags, pass chosen VLANs only, handle or strip two tags; after stop."},
	{"rx_vlan add|rm N PORT", pass_vlan, "Pass frames of VLAN N, or not."},
	{0},
};
