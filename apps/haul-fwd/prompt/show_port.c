/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts and statistics as text, in the format of dpdk-testpmd, which scripts know. */
#include "show_port.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/app.h>
#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "../rss.h"
#include "../testpmd_args.h"
#include "chosen_xstats.h"

#define BORDER "########################"
#define STARS "*********************"

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

static void print_device(FILE *out, const struct haul_port *port, const struct haul_port_info *info)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_ether_addr addr = haul_port_mac(port);

	rte_ether_format_addr(mac, sizeof(mac), &addr);
	fprintf(out, "MAC address: %s\n", mac);
	fprintf(out, "Device name: %s\n", info->device);
	fprintf(out, "Driver name: %s\n", info->dev.driver_name);
	fprintf(out, "Firmware-version: %s\n",
		info->firmware[0] ? info->firmware : "not available");
	fprintf(out, "Devargs: %s\n", info->devargs);
	if (!fwd_testpmd_is_meant())
		fprintf(out, "Port spec: %s\n", haul_port_spec(port));
	if (info->ethdevs > 1)
		fprintf(out, "Number of devices: %u\n", info->ethdevs);
	fprintf(out, "Connect to socket: %d\n", RTE_MAX(info->socket, 0));
	fprintf(out, "memory allocation on the socket: %d\n", RTE_MAX(info->pool_socket, 0));
}

/* DPDK's functions for these names are not part of its stable interface. */
const char *fwd_show_port_speed(char buf[24], uint32_t mbits)
{
	if (mbits == 0)
		snprintf(buf, 24, "None");
	else if (mbits == RTE_ETH_SPEED_NUM_UNKNOWN)
		snprintf(buf, 24, "Unknown");
	else if (mbits < 1000)
		snprintf(buf, 24, "%u Mbps", mbits);
	else
		snprintf(buf, 24, "%g Gbps", mbits / 1000.0);
	return buf;
}

static void print_capabilities(FILE *out, uint64_t capa)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
		{RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP, "RUNTIME_RX_QUEUE_SETUP"},
		{RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP, "RUNTIME_TX_QUEUE_SETUP"},
		{RTE_ETH_DEV_CAPA_RXQ_SHARE, "RXQ_SHARE"},
		{RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP, "FLOW_RULE_KEEP"},
		{RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP, "FLOW_SHARED_OBJECT_KEEP"},
	};

	fprintf(out, "Device capabilities: 0x%" PRIx64 "(", capa);
	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (capa & names[i].bit)
			fprintf(out, " %s", names[i].name);
	fprintf(out, " )\n");
}

static void print_link(FILE *out, const struct rte_eth_link *link)
{
	char speed[24];

	fprintf(out, "Link status: %s\n", link->link_status ? "up" : "down");
	fprintf(out, "Link speed: %s\n", fwd_show_port_speed(speed, link->link_speed));
	fprintf(out, "Link duplex: %s\n",
		link->link_duplex == RTE_ETH_LINK_FULL_DUPLEX ? "full-duplex" : "half-duplex");
	fprintf(out, "Autoneg status: %s\n",
		link->link_autoneg == RTE_ETH_LINK_AUTONEG ? "On" : "Off");
}

static void print_filters(FILE *out, const struct haul_port_info *info)
{
	fprintf(out, "MTU: %u\n", info->mtu);
	fprintf(out, "Promiscuous mode: %s\n", info->promiscuous ? "enabled" : "disabled");
	fprintf(out, "Allmulticast mode: %s\n", info->allmulticast ? "enabled" : "disabled");
	fprintf(out, "Maximum number of MAC addresses: %u\n", info->dev.max_mac_addrs);
	fprintf(out, "Maximum number of MAC addresses of hash filtering: %u\n",
		info->dev.max_hash_mac_addrs);
	fprintf(out, "VLAN offload: \n  strip %s, filter %s, extend %s, qinq strip %s\n",
		on_off(info->vlan_offload & RTE_ETH_VLAN_STRIP_OFFLOAD),
		on_off(info->vlan_offload & RTE_ETH_VLAN_FILTER_OFFLOAD),
		on_off(info->vlan_offload & RTE_ETH_VLAN_EXTEND_OFFLOAD),
		on_off(info->vlan_offload & RTE_ETH_QINQ_STRIP_OFFLOAD));
}

#define COLUMNS 60

/* Names in lines, each indented by two. */
static void print_functions(FILE *out, uint64_t functions)
{
	int column = 0;

	for (; functions; functions &= functions - 1) {
		const char *name = fwd_rss_name(functions & -functions);
		char number[24];

		if (!name) {
			snprintf(number, sizeof(number), "user-defined-%d",
				__builtin_ctzll(functions));
			name = number;
		}
		if (column > 0 && column + (int)strlen(name) + 2 > COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		column += fprintf(out, "  %s", name);
	}
	fputc('\n', out);
}

static void print_hash(FILE *out, const struct rte_eth_dev_info *dev)
{
	if (dev->hash_key_size > 0)
		fprintf(out, "Hash key size in bytes: %u\n", dev->hash_key_size);
	if (dev->reta_size > 0)
		fprintf(out, "Redirection table size: %u\n", dev->reta_size);
	if (!dev->flow_type_rss_offloads) {
		fprintf(out, "No RSS offload flow type is supported.\n");
		return;
	}
	fprintf(out, "Supported RSS offload flow types:\n");
	print_functions(out, dev->flow_type_rss_offloads);
}

static void print_queues(FILE *out, const char *rx, const char *rxd, unsigned now, unsigned most,
	const struct rte_eth_desc_lim *lim)
{
	fprintf(out, "Current number of %s queues: %u\n", rx, now);
	fprintf(out, "Max possible %s queues: %u\n", rx, most);
	fprintf(out, "Max possible number of %s per queue: %hu\n", rxd, lim->nb_max);
	fprintf(out, "Min possible number of %s per queue: %hu\n", rxd, lim->nb_min);
	fprintf(out, "%s number alignment: %hu\n", rxd, lim->nb_align);
}

static void print_limits(FILE *out, const struct haul_port_info *info)
{
	const struct rte_eth_dev_info *dev = &info->dev;

	fprintf(out, "Minimum size of RX buffer: %u\n", dev->min_rx_bufsize);
	fprintf(out, "Maximum configurable length of RX packet: %u\n", dev->max_rx_pktlen);
	fprintf(out, "Maximum configurable size of LRO aggregated packet: %u\n",
		dev->max_lro_pkt_size);
	print_queues(out, "RX", "RXDs", info->rx_queues, dev->max_rx_queues, &dev->rx_desc_lim);
	print_queues(out, "TX", "TXDs", info->tx_queues, dev->max_tx_queues, &dev->tx_desc_lim);
	fprintf(out, "Max segment number per packet: %hu\n", dev->tx_desc_lim.nb_seg_max);
	fprintf(out, "Max segment number per MTU/TSO: %hu\n", dev->tx_desc_lim.nb_mtu_seg_max);
	print_capabilities(out, dev->dev_capa);
}

static void print_error_handling(FILE *out, enum rte_eth_err_handle_mode mode)
{
	fprintf(out, "Device error handling mode: %s\n",
		mode == RTE_ETH_ERROR_HANDLE_MODE_NONE              ? "none"
			: mode == RTE_ETH_ERROR_HANDLE_MODE_PASSIVE ? "passive"
								    : "proactive");
}

void fwd_show_port_info(const struct haul_port *port, unsigned number, FILE *out)
{
	struct haul_port_info info;

	if (haul_port_get_info(port, &info) < 0) {
		fprintf(out, "\nPort %u, '%s': %s\n", number, haul_port_spec(port),
			haul_port_fault(port)[0] ? "the device does not answer: the port was lost"
						 : "there is no device");
		return;
	}
	fprintf(out, "\n" STARS " Infos for port %-2u " STARS "\n", number);
	print_device(out, port, &info);
	print_link(out, &info.link);
	print_filters(out, &info);
	print_hash(out, &info.dev);
	print_limits(out, &info);
	print_error_handling(out, info.dev.err_handle_mode);
}

static bool hides_zeros;

void fwd_show_port_hide_zeros(bool on)
{
	hides_zeros = on;
}

void fwd_show_port_xstats(const struct haul_port *port, unsigned number, FILE *out)
{
	struct haul_port_xstat *stats;
	int n;

	fprintf(out, "###### NIC extended statistics for port %-2u\n", number);
	n = haul_port_get_xstats(port, NULL, 0);
	stats = n > 0 ? calloc((size_t)n, sizeof(*stats)) : NULL;
	if (stats && haul_port_get_xstats(port, stats, (unsigned)n) == n)
		for (int i = 0; i < n; i++)
			if (stats[i].value || !hides_zeros)
				fprintf(out, "%s: %" PRIu64 "\n", stats[i].name, stats[i].value);
	free(stats);
}

/* What "show port stats" has shown last. */
static struct shown_stats {
	struct rte_eth_stats st;
	uint64_t at; /* haul_now(); 0: nothing yet */
} shown[HAUL_APP_PORTS_MAX];

void fwd_show_port_begin_rates(unsigned number)
{
	shown[number].at = 0;
}

static uint64_t rate(uint64_t now, uint64_t before, uint64_t ns)
{
	return ns == 0 || now < before ? 0 : (uint64_t)((double)(now - before) * 1e9 / (double)ns);
}

void fwd_show_port_stats(const struct haul_port *port, unsigned number, FILE *out)
{
	struct shown_stats *last = &shown[number];
	uint64_t now = haul_now(), ns = last->at ? now - last->at : 0;
	struct rte_eth_stats st;

	(void)haul_port_get_stats(port, &st);
	fprintf(out, "\n  " BORDER " NIC statistics for port %-2u " BORDER "\n", number);
	fprintf(out,
		"  RX-packets: %-10" PRIu64 " RX-missed: %-10" PRIu64 " RX-bytes:  %-" PRIu64 "\n",
		st.ipackets, st.imissed, st.ibytes);
	fprintf(out, "  RX-errors: %-" PRIu64 "\n", st.ierrors);
	fprintf(out, "  RX-nombuf:  %-10" PRIu64 "\n", st.rx_nombuf);
	fprintf(out,
		"  TX-packets: %-10" PRIu64 " TX-errors: %-10" PRIu64 " TX-bytes:  %-" PRIu64 "\n",
		st.opackets, st.oerrors, st.obytes);
	fprintf(out, "\n  Throughput (since last show)\n");
	fprintf(out, "  Rx-pps: %12" PRIu64 "          Rx-bps: %12" PRIu64 "\n",
		rate(st.ipackets, last->st.ipackets, ns), 8 * rate(st.ibytes, last->st.ibytes, ns));
	fprintf(out, "  Tx-pps: %12" PRIu64 "          Tx-bps: %12" PRIu64 "\n",
		rate(st.opackets, last->st.opackets, ns), 8 * rate(st.obytes, last->st.obytes, ns));
	fwd_chosen_xstats_print(port, number, ns, out);
	fprintf(out, "  " BORDER "############################" BORDER "\n");
	*last = (struct shown_stats){st, now};
}

void fwd_show_port_rss(const struct haul_port *port, unsigned number, bool key, FILE *out)
{
	uint8_t bytes[HAUL_RSS_KEY_MAX], len = 0;
	struct haul_port_info info;
	uint64_t functions;
	char line[256];
	int err;

	err = haul_port_get_rss(port, &functions, bytes, &len, line, sizeof(line));
	if (err < 0 || !functions) {
		bool no_size = haul_port_get_info(port, &info) == 0 && info.dev.hash_key_size == 0;

		fprintf(out, "%s\n",
			no_size           ? "dev_info did not provide a valid hash key size"
				: err < 0 ? line
					  : "RSS disabled");
		return;
	}
	fprintf(out, "RSS functions:\n");
	print_functions(out, functions);
	if (!key)
		return;
	if (len == 0) {
		fprintf(out, "The PMD does not tell the RSS key\n");
		return;
	}
	fprintf(out, "RSS key:\n");
	for (unsigned i = 0; i < len; i++)
		fprintf(out, "%02X", bytes[i]);
	fputc('\n', out);
}

void fwd_show_port_flow_control(const struct haul_port *port, unsigned number, FILE *out)
{
	struct rte_eth_fc_conf fc;
	char line[256];
	bool rx, tx;

	if (haul_port_get_flow_control(port, &fc, line, sizeof(line)) < 0) {
		fprintf(out, "%s\n", line);
		return;
	}
	rx = fc.mode == RTE_ETH_FC_RX_PAUSE || fc.mode == RTE_ETH_FC_FULL;
	tx = fc.mode == RTE_ETH_FC_TX_PAUSE || fc.mode == RTE_ETH_FC_FULL;
	fprintf(out, "\n" STARS " Flow control infos for port %-2u " STARS "\n", number);
	fprintf(out, "FC mode:\n   Rx pause: %s\n   Tx pause: %s\n", on_off(rx), on_off(tx));
	fprintf(out, "Autoneg: %s\n", on_off(fc.autoneg));
	fprintf(out, "Pause time: 0x%x\n", fc.pause_time);
	fprintf(out, "High waterline: 0x%x\nLow waterline: 0x%x\n", fc.high_water, fc.low_water);
	fprintf(out, "Send XON: %s\n", on_off(fc.send_xon));
	fprintf(out, "Forward MAC control frames: %s\n", on_off(fc.mac_ctrl_frame_fwd));
}

static void print_offload_names(FILE *out, uint64_t offloads, bool rx)
{
	for (; offloads; offloads &= offloads - 1) {
		uint64_t one = offloads & -offloads;

		fprintf(out, " %s",
			rx ? rte_eth_dev_rx_offload_name(one) : rte_eth_dev_tx_offload_name(one));
	}
	fputc('\n', out);
}

void fwd_show_port_offloads(
	const struct haul_port *port, unsigned number, bool rx, bool configured, FILE *out)
{
	const char *direction = rx ? "Rx" : "Tx";
	struct haul_port_info info;
	struct haul_queue_info own;
	uint64_t all, queue, used;

	if (haul_port_get_info(port, &info) < 0)
		return;
	all = rx ? info.dev.rx_offload_capa : info.dev.tx_offload_capa;
	queue = rx ? info.dev.rx_queue_offload_capa : info.dev.tx_queue_offload_capa;
	used = rx ? info.rx_offloads : info.tx_offloads;
	if (configured) {
		fprintf(out, "%s Offloading Configuration of port %u :\n  Port :", direction,
			number);
		print_offload_names(out, used, rx);
		for (unsigned q = 0; q < haul_port_queues(port); q++) {
			(void)haul_port_get_queue_info(port, q, rx, &own);
			fprintf(out, "  Queue[%2u] :", q);
			print_offload_names(out, used | own.offloads, rx);
		}
		return;
	}
	fprintf(out, "%s Offloading Capabilities of port %u :\n  Per Queue :", direction, number);
	print_offload_names(out, queue, rx);
	fprintf(out, "  Per Port  :");
	print_offload_names(out, all & ~queue, rx);
}

int fwd_show_port_queue(
	const struct haul_port *port, unsigned number, unsigned queue, bool rx, FILE *out)
{
	const char *side = rx ? "RX" : "TX";
	struct rte_eth_thresh thresh;
	struct haul_queue_info info;
	int err = haul_port_get_queue_info(port, queue, rx, &info);

	if (err)
		return err;
	fprintf(out, "\n" STARS " Infos for port %-2u, %s queue %-2u " STARS "\n", number, side,
		queue);
	if (rx)
		fprintf(out, "Mempool: %s\n", info.rx.mp ? info.rx.mp->name : "NULL");
	thresh = rx ? info.rx.conf.rx_thresh : info.tx.conf.tx_thresh;
	fprintf(out, "%s prefetch threshold: %u\n%s host threshold: %u\n", side, thresh.pthresh,
		side, thresh.hthresh);
	fprintf(out, "%s writeback threshold: %u\n", side, thresh.wthresh);
	if (!rx)
		fprintf(out, "TX RS threshold: %u\n", info.tx.conf.tx_rs_thresh);
	fprintf(out, "%s free threshold: %u\n", side,
		rx ? info.rx.conf.rx_free_thresh : info.tx.conf.tx_free_thresh);
	if (rx)
		fprintf(out, "RX drop packets: %s\n", on_off(info.rx.conf.rx_drop_en));
	fprintf(out, "%s deferred start: %s\n", side, on_off(info.deferred));
	if (rx)
		fprintf(out, "RX scattered packets: %s\n", on_off(info.rx.scattered_rx));
	fprintf(out, "%cx queue state: %s\n", side[0], info.stopped ? "stopped" : "started");
	if (rx && info.rx.rx_buf_size)
		fprintf(out, "RX buffer size: %u\n", info.rx.rx_buf_size);
	fprintf(out, "Number of %cXDs: %u\n", side[0], rx ? info.rx.nb_desc : info.tx.nb_desc);
	if (info.has_mode)
		fprintf(out, "Burst mode: %s%s\n", info.mode.info,
			info.mode.flags & RTE_ETH_BURST_FLAG_PER_QUEUE ? " (per queue)" : "");
	return 0;
}
