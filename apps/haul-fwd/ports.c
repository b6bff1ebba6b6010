/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/pool.h>
#include <haul-dpdk/port_info.h> /* with the names of offloads */

#include "prompt_options.h"
#include "speed.h"

/* What all ports get: the values of the options, and the result. */
static uint64_t mtu, max_pkt_len;
static const char *mbuf_size;
static unsigned buffer_frame; /* that packet buffers hold, by mbuf_size */
static uint64_t rxq, txq;
static unsigned promiscuous, allmulticast; /* enum haul_filter */
static bool disable_rss, rss_ip, rss_udp;
static const char *link_speed;
static const char *rss_key, *rx_offloads, *tx_offloads;
static struct haul_port_config config;

#define AROUND (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN) /* of a frame, as testpmd counts it */
#define MTU_MIN 68
#define MTU_MAX (HAUL_POOL_FRAME_MAX - AROUND - RTE_VLAN_HLEN)

/* Flags that stand for receive offloads. */
static struct flag {
	bool given;
	uint64_t offloads;
} cksum = {.offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM}, vlan = {.offloads = RTE_ETH_RX_OFFLOAD_VLAN},
  vlan_filter = {.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER},
  vlan_strip = {.offloads = RTE_ETH_RX_OFFLOAD_VLAN_STRIP},
  vlan_extend = {.offloads = RTE_ETH_RX_OFFLOAD_VLAN_EXTEND},
  qinq_strip = {.offloads = RTE_ETH_RX_OFFLOAD_QINQ_STRIP},
  scatter = {.offloads = RTE_ETH_RX_OFFLOAD_SCATTER},
  lro = {.offloads = RTE_ETH_RX_OFFLOAD_TCP_LRO},
  keep_crc = {.offloads = RTE_ETH_RX_OFFLOAD_KEEP_CRC};

/* A command may turn RSS on. */
static bool may_hash(void)
{
	return !disable_rss || fwd_prompt_is_used();
}

const struct haul_app_option fwd_ports_options[] = {
	{"--rxq", "N", HAUL_APP_NUMBER, &rxq, 1, RTE_MAX_QUEUES_PER_PORT, "one per carrier",
		"receive queues of each port, each with a transmit queue; if there are more "
		"than\ncarriers, a carrier polls several"},
	{"--txq", "N", HAUL_APP_NUMBER, &txq, 1, RTE_MAX_QUEUES_PER_PORT, "as many as --rxq",
		"transmit queues of each port: checks that each carrier has its own"},
	{"--mtu", "BYTES", HAUL_APP_NUMBER, &mtu, MTU_MIN, MTU_MAX, "the device's",
		"MTU of all ports and of their kernel interfaces; more than 1500 makes packet "
		"buffers\nlarge enough"},
	{"--max-pkt-len", "BYTES", HAUL_APP_NUMBER, &max_pkt_len, MTU_MIN + AROUND,
		MTU_MAX + AROUND, "the device's",
		"the same as the length of a frame with Ethernet header and FCS: MTU and 18"},
	{"--mbuf-size", "BYTES[,BYTES]...", HAUL_APP_TEXT, &mbuf_size,
		.zero = "2048 and a headroom, or as the MTU needs",
		.help = "packet buffers of at least so many bytes, with their headroom of 128; of "
			"several numbers the largest"},
	{"--promiscuous", "default|on|off", HAUL_APP_CHOICE, &promiscuous,
		.help = "receive frames for other addresses too; default: if the kind of port "
			"filters them"},
	{"--allmulticast", "default|on|off", HAUL_APP_CHOICE, &allmulticast,
		.help = "receive frames for all groups; default: as the PMD has it"},
	{"--eth-link-speed", "MBITS", HAUL_APP_TEXT, &link_speed, .zero = "auto",
		.help = "speed of the links of all ports, such as 1000, instead of what both ends "
			"agree upon"},
	{"--disable-rss", NULL, HAUL_APP_FLAG, &disable_rss,
		.help = "do not spread packets over receive queues by the NIC's hash"},
	{"--rss-ip", NULL, HAUL_APP_FLAG, &rss_ip, .help = "spread by IP addresses only"},
	{"--rss-udp", NULL, HAUL_APP_FLAG, &rss_udp,
		.help = "spread by IP addresses and UDP ports"},
	{"--rss-key", "HEX", HAUL_APP_TEXT, &rss_key, .zero = "the PMD's",
		.help = "key of the NIC's hash, two digits for each byte",
		.needs = "no --disable-rss", .has_effect = may_hash},
	{"--enable-rx-cksum", NULL, HAUL_APP_FLAG, &cksum.given,
		.help = "let NICs check IPv4, UDP and TCP checksums"},
	{"--enable-hw-vlan", NULL, HAUL_APP_FLAG, &vlan.given,
		.help = "all of the VLAN offloads that follow"},
	{"--enable-hw-vlan-filter", NULL, HAUL_APP_FLAG, &vlan_filter.given,
		.help = "let NICs drop frames of other VLANs"},
	{"--enable-hw-vlan-strip", NULL, HAUL_APP_FLAG, &vlan_strip.given,
		.help = "let NICs take VLAN tags out of frames"},
	{"--enable-hw-vlan-extend", NULL, HAUL_APP_FLAG, &vlan_extend.given,
		.help = "let NICs handle double VLAN tags"},
	{"--enable-hw-qinq-strip", NULL, HAUL_APP_FLAG, &qinq_strip.given,
		.help = "let NICs take both of two VLAN tags out of frames"},
	{"--enable-scatter", NULL, HAUL_APP_FLAG, &scatter.given,
		.help = "receive frames longer than a packet buffer in several"},
	{"--enable-lro", NULL, HAUL_APP_FLAG, &lro.given, .help = "let NICs merge TCP segments"},
	{"--disable-crc-strip", NULL, HAUL_APP_FLAG, &keep_crc.given,
		.help = "leave the FCS at the end of received frames"},
	{"--rx-offloads", "HEX", HAUL_APP_TEXT, &rx_offloads, .zero = "none",
		.help = "receive offloads, RTE_ETH_RX_OFFLOAD_... in hexadecimal"},
	{"--tx-offloads", "HEX", HAUL_APP_TEXT, &tx_offloads, .zero = "none",
		.help = "transmit offloads, RTE_ETH_TX_OFFLOAD_... in hexadecimal"},
	{0},
};

static int parse_mask(
	const struct haul_app *app, const char *option, const char *text, uint64_t *mask)
{
	char *end;

	if (!text)
		return HAUL_APP_DONE;
	*mask = strtoull(text, &end, 16);
	if (isxdigit((unsigned char)text[0]) && *end == '\0' && strlen(text) <= strlen("0x") + 16)
		return HAUL_APP_DONE;
	return haul_app_wrong(
		app->program, "%s %s: give a mask in hexadecimal, such as 0x2000", option, text);
}

static int choose_mtu(const struct haul_app *app)
{
	if (mtu && max_pkt_len)
		return haul_app_wrong(
			app->program, "--mtu and --max-pkt-len mean the same; give one of them");
	config.mtu = (uint16_t)(max_pkt_len ? max_pkt_len - AROUND : mtu);
	return HAUL_APP_DONE;
}

static int choose_speed(const struct haul_app *app)
{
	const char *wrong = link_speed ? fwd_speed(link_speed, false, &config.link_speeds) : NULL;

	if (!wrong)
		return HAUL_APP_DONE;
	return haul_app_wrong(app->program, "--eth-link-speed %s: %s", link_speed, wrong);
}

static int choose_buffers(const struct haul_app *app)
{
	const unsigned long most = HAUL_POOL_FRAME_MAX + RTE_PKTMBUF_HEADROOM;
	const char *at = mbuf_size;
	char *end;

	for (; at; at = *end ? end + 1 : NULL) {
		unsigned long size = strtoul(at, &end, 10);

		if (!isdigit((unsigned char)*at) || (*end && *end != ',') ||
			size <= RTE_PKTMBUF_HEADROOM || size > most)
			return haul_app_wrong(app->program,
				"--mbuf-size %s: give numbers from %u to %lu, such as 2176",
				mbuf_size, RTE_PKTMBUF_HEADROOM + 1, most);
		buffer_frame = RTE_MAX(buffer_frame, (unsigned)size - RTE_PKTMBUF_HEADROOM);
	}
	return HAUL_APP_DONE;
}

unsigned fwd_ports_frame(void)
{
	return buffer_frame;
}

static int parse_key(const struct haul_app *app)
{
	size_t digits = rss_key ? strlen(rss_key) : 0;

	if (!rss_key)
		return HAUL_APP_DONE;
	if (digits == 0 || digits % 2 || digits / 2 > HAUL_RSS_KEY_MAX ||
		rss_key[strspn(rss_key, "0123456789abcdefABCDEF")] != '\0')
		return haul_app_wrong(app->program,
			"--rss-key %s: give two hexadecimal digits for each of 1 to %u bytes",
			rss_key, HAUL_RSS_KEY_MAX);
	config.rss_key_len = (uint8_t)(digits / 2);
	for (unsigned i = 0; i < config.rss_key_len; i++) {
		const char byte[] = {rss_key[2 * i], rss_key[2 * i + 1], '\0'};

		config.rss_key[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return HAUL_APP_DONE;
}

static int choose_rss(const struct haul_app *app)
{
	if (disable_rss + rss_ip + rss_udp > 1)
		return haul_app_wrong(
			app->program, "give one of --disable-rss, --rss-ip and --rss-udp");
	if (disable_rss) {
		config.rss = HAUL_RSS_OFF;
	} else if (rss_ip || rss_udp) {
		config.rss = HAUL_RSS_FUNCTIONS;
		config.rss_functions = rss_ip ? RTE_ETH_RSS_IP : RTE_ETH_RSS_UDP;
	}
	return parse_key(app);
}

static int choose_offloads(const struct haul_app *app)
{
	const struct flag *const flags[] = {&cksum, &vlan, &vlan_filter, &vlan_strip, &vlan_extend,
		&qinq_strip, &scatter, &lro, &keep_crc};
	int rc = parse_mask(app, "--rx-offloads", rx_offloads, &config.rx_offloads);

	if (rc == HAUL_APP_DONE)
		rc = parse_mask(app, "--tx-offloads", tx_offloads, &config.tx_offloads);
	for (unsigned i = 0; i < RTE_DIM(flags); i++)
		if (flags[i]->given)
			config.rx_offloads |= flags[i]->offloads;
	return rc;
}

/* Queues come in pairs. Each carrier that receives sends on a transmit queue of its own. */
static int choose_queues(struct haul_app *app)
{
	app->rx_queues = (unsigned)(rxq ? rxq : txq);
	if (txq && rxq && txq > rxq)
		return haul_app_wrong(app->program,
			"--txq %u: queues come in pairs; give --rxq %u too", (unsigned)txq,
			(unsigned)txq);
	return HAUL_APP_DONE;
}

int fwd_ports_check(const struct haul_app *app)
{
	unsigned senders = RTE_MIN(app->plan->carriers, app->rx_queues);

	if (!txq || txq >= senders)
		return HAUL_APP_DONE;
	return haul_app_wrong(app->program,
		"--txq %u: %u carriers send, each on a queue of its own; give --txq %u, or "
		"--carriers %u",
		(unsigned)txq, senders, senders, (unsigned)txq);
}

int fwd_ports_parsed(struct haul_app *app)
{
	int rc = choose_mtu(app);

	if (rc == HAUL_APP_DONE)
		rc = choose_buffers(app);
	if (rc == HAUL_APP_DONE)
		rc = choose_queues(app);
	if (rc == HAUL_APP_DONE)
		rc = choose_speed(app);
	if (rc == HAUL_APP_DONE)
		rc = choose_rss(app);
	if (rc == HAUL_APP_DONE)
		rc = choose_offloads(app);
	config.promiscuous = (enum haul_filter)promiscuous;
	config.allmulticast = (enum haul_filter)allmulticast;
	app->port_config = &config;
	return rc;
}
