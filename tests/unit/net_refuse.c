/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: the packets that are not answered, with the reason; no input leads it beyond the
 * packet. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net_samples.h"
#include "support/suite.h"

/* A sample with changed bytes. */
struct refused {
	const char *what;
	const char *sample;
	uint32_t at;
	const char *hex;
	bool keep_cksums; /* if false, they are set right after the change */
	enum haul_verdict verdict;
};

#define BAD HAUL_NET_MALFORMED
#define OTHER HAUL_NET_NOT_FOR_US
#define UNKNOWN HAUL_NET_UNSUPPORTED

/* clang-format off */
static const struct refused table[] = {
	{"group address as source", "icmp", 6, "03", false, BAD},
	{"another host's frame", "icmp", 5, "03", false, OTHER},
	{"ARP in another host's frame", "arp", 0, "020000000003", false, OTHER},
	{"IPv4 in a broadcast frame", "icmp", 0, "ffffffffffff", false, OTHER},
	{"IPv6 to another group", "nd", 5, "03", false, OTHER},
	{"another EtherType", "icmp", 12, "88b5", false, UNKNOWN},
	{"length in place of EtherType", "icmp", 12, "0024", false, UNKNOWN},
	{"service tag", "icmp", 12, "88a8", false, UNKNOWN},

	{"ARP over another hardware", "arp", 14, "0006", false, UNKNOWN},
	{"ARP for another protocol", "arp", 16, "86dd", false, UNKNOWN},
	{"ARP hardware length", "arp", 18, "05", false, BAD},
	{"ARP protocol length", "arp", 19, "10", false, BAD},
	{"ARP from a group address", "arp", 22, "03", false, BAD},
	{"ARP from no address", "arp", 22, "000000000000", false, BAD},
	{"ARP reply", "arp", 20, "0002", false, UNKNOWN},
	{"ARP for another host", "arp", 38, "0a000003", false, OTHER},
	{"ARP for no address", "arp", 38, "00000000", false, OTHER},
	{"ARP announcement", "arp", 28, "0a000002", false, UNKNOWN},
	{"ARP from the broadcast address", "arp", 28, "ffffffff", false, BAD},
	{"ARP from the network's broadcast address", "arp", 28, "0a0000ff", false, BAD},
	{"ARP from the network's own address", "arp", 28, "0a000000", false, BAD},
	{"ARP from a group", "arp", 28, "e0000001", false, BAD},
	{"ARP from loopback", "arp", 28, "7f000001", false, BAD},
	{"ARP from our MAC address", "arp", 22, "020000000002", false, BAD},
	{"ARP in a frame from us", "arp", 6, "020000000002", false, BAD},
	{"IPv4 in a frame from us", "icmp", 6, "020000000002", false, BAD},

	{"IP version 5", "icmp", 14, "55", false, BAD},
	{"IPv4 header of 16 bytes", "icmp", 14, "44", true, BAD},
	{"IPv4 header longer than the packet", "icmp", 14, "4f", true, BAD},
	{"total length of the header alone", "icmp", 16, "0014", true, BAD},
	{"total length less than the header", "icmp", 16, "0013", true, BAD},
	{"total length more than there is", "icmp", 16, "0025", true, BAD},
	{"IPv4 header checksum", "icmp", 24, "6673", true, BAD},
	{"first fragment", "icmp", 20, "2000", false, UNKNOWN},
	{"last fragment", "icmp", 20, "0001", false, UNKNOWN},
	{"IPv4 to another host", "icmp", 30, "0a000003", false, OTHER},
	{"IPv4 to the broadcast address", "icmp", 30, "0a0000ff", false, OTHER},
	{"IPv4 to no address", "icmp", 30, "00000000", false, OTHER},
	{"IPv4 from us", "icmp", 26, "0a000002", false, BAD},
	{"IPv4 from no address", "icmp", 26, "00000000", false, BAD},
	{"IPv4 from loopback", "icmp", 26, "7f000001", false, BAD},
	{"IPv4 from a group", "icmp", 26, "e0000001", false, BAD},
	{"IPv4 from everybody", "icmp", 26, "ffffffff", false, BAD},
	{"IPv4 from our broadcast address", "icmp", 26, "0a0000ff", false, BAD},
	{"IPv4 from our network's address", "icmp", 26, "0a000000", false, BAD},
	{"IPv4 option without length", "icmp_rr", 34, "0701010101", false, BAD},
	{"IPv4 option of length 0", "icmp_rr", 35, "0700", false, BAD},
	{"IPv4 option beyond the header", "icmp_rr", 35, "0728", false, BAD},
	{"IPv4 option type as last byte", "icmp_rr", 34, "0101010101010101010101010101010101010101"
		"0101010101010101010101010101010101010107", false, BAD},
	{"loose source route", "icmp_rr", 35, "83", false, UNKNOWN},
	{"strict source route", "icmp_rr", 35, "89", false, UNKNOWN},
	{"TCP", "icmp", 23, "06", false, UNKNOWN},
	{"ICMPv6 over IPv4", "icmp", 23, "3a", false, UNKNOWN},

	{"ICMP checksum", "icmp", 36, "b1ae", true, BAD},
	{"echo reply", "icmp", 34, "00", false, UNKNOWN},
	{"destination unreachable", "icmp", 34, "03", false, UNKNOWN},

	{"UDP checksum", "udp", 40, "c0ee", true, BAD},
	{"UDP checksum for other ports", "udp", 35, "23", true, BAD},
	{"UDP checksum for other addresses", "udp6", 37, "09", true, BAD},
	{"UDP length less than its header", "udp", 38, "0007", true, BAD},
	{"UDP length more than IP carries", "udp", 38, "00120000", true, BAD},
	{"UDP that wants no reply", "udp", 34, "0000", false, UNKNOWN},

	{"IPv6 version 4", "icmp6", 14, "45", false, BAD},
	{"IPv6 length more than there is", "icmp6", 18, "0011", true, BAD},
	{"IPv6 length of less than ICMPv6", "icmp6", 18, "0007", true, BAD},
	{"IPv6 length of nothing", "icmp6", 18, "0000", true, BAD},
	{"IPv6 to another host", "icmp6", 53, "03", false, OTHER},
	{"echo to the solicited-node group", "icmp6", 38, "ff0200000000000000000001ff000002",
		false, OTHER},
	{"IPv6 from us", "icmp6", 37, "02", false, BAD},
	{"IPv6 from a group", "icmp6", 22, "ff02", false, BAD},
	{"IPv6 from no address", "icmp6", 22, "00000000000000000000000000000000", false, BAD},
	{"IPv6 from loopback", "icmp6", 22, "00000000000000000000000000000001", false, BAD},
	{"IPv6 fragment", "icmp6", 20, "2c", true, UNKNOWN},
	{"ICMP over IPv6", "icmp6", 20, "01", true, UNKNOWN},
	{"no upper protocol", "icmp6", 20, "3b", true, UNKNOWN},
	{"hop-by-hop header beyond the end", "icmp6", 20, "00", true, BAD},
	{"ICMPv6 checksum", "icmp6", 56, "3f5c", true, BAD},
	{"ICMPv6 echo reply", "icmp6", 54, "81", false, UNKNOWN},
	{"UDP without checksum over IPv6", "udp6", 60, "0000", true, BAD},

	{"solicitation that passed a router", "nd", 21, "fe", false, BAD},
	{"solicitation with a code", "nd", 55, "01", false, BAD},
	{"solicitation for a group", "nd", 62, "ff", false, BAD},
	{"solicitation of another host", "nd", 77, "03", false, OTHER},
	{"solicitation with an empty option", "nd", 79, "00", false, BAD},
	{"solicitation with an option beyond its end", "nd", 79, "02", false, BAD},
	{"solicitation from a group address", "nd", 80, "03", false, BAD},
	{"probe with a source option", "nd_probe", 78, "01", false, BAD},
	{"probe to one host", "nd_probe", 38, "fd000000000000000000000000000002", false, BAD},
	{"advertisement", "icmp6", 54, "88", false, UNKNOWN},
	{"solicitation from us", "nd", 37, "02", false, BAD},
	{"solicitation from our MAC address", "nd", 80, "020000000002", false, BAD},
	{"solicitation from no MAC address", "nd", 80, "000000000000", false, BAD},
	{"solicitation in a frame from us", "nd", 6, "020000000002", false, BAD},
	{"solicitation from a mapped address", "nd", 22, "00000000000000000000ffff0a000001", false,
		BAD},
	{"solicitation from loopback", "nd", 22, "00000000000000000000000000000001", false, BAD},
	{"solicitation from a group", "nd", 22, "ff02", false, BAD},
	{"IPv6 from a mapped address", "icmp6", 22, "00000000000000000000ffff0a000001", false, BAD},
};
/* clang-format on */

static void patch(struct net_bytes *p, uint32_t at, const char *hex)
{
	for (; *hex; hex += 2)
		sscanf(hex, "%2hhx", &p->b[at++]);
	ck_assert_uint_le(at, p->len);
}

START_TEST(refused_with_reason)
{
	const struct refused *r = &table[_i];
	struct net_bytes p = net_request(r->sample);

	patch(&p, r->at, r->hex);
	if (!r->keep_cksums)
		net_fix_cksums(&p);

	enum haul_verdict v = net_try(&p, NULL);

	ck_assert_msg(v == r->verdict, "%s: verdict %d, wanted %d", r->what, v, r->verdict);
}
END_TEST

/* The checksum of its header is right. */
START_TEST(longer_than_its_frame)
{
	struct net_bytes p = net_request("icmp");

	p.b[17]++;
	p.len++;
	net_fix_cksums(&p);
	p.len--;
	ck_assert_int_eq(net_try(&p, NULL), HAUL_NET_MALFORMED);
}
END_TEST

/* The packet ends with an option's type: the option's length would be the first byte beyond it. */
START_TEST(option_type_as_last_byte)
{
	struct net_bytes p = net_request("icmp_rr");

	p.len = 14 + 60;
	p.b[17] = 60;
	memset(p.b + 34, 1, 39);
	p.b[73] = 7;
	net_fix_cksums(&p);
	ck_assert_int_eq(net_try(&p, NULL), HAUL_NET_MALFORMED);
}
END_TEST

/* Extension headers of 8 bytes before an ICMPv6 echo. */
START_TEST(refused_extensions)
{
	static const struct {
		const char *what;
		uint8_t type;
		const char *hex;
		enum haul_verdict verdict;
	} ext[] = {
		{"unknown option that forbids going on", 0, "3a00410401020304", UNKNOWN},
		{"jumbo option", 0, "3a00c20400010000", UNKNOWN},
		{"option longer than the header", 60, "3a00010501020304", BAD},
		{"option without length", 60, "3a00010301020301", BAD},
		{"header longer than the packet", 60, "3a08010400000000", BAD},
		{"header as long as the packet", 43, "3a02040000000000", BAD},
		{"hop-by-hop in second place", 0, "0000010400000000", BAD},
		{"routing header with segments left", 43, "3a00040100000000", UNKNOWN},
		{"fragment behind options", 60, "2c00010400000000", UNKNOWN},
	};

	for (unsigned i = 0; i < RTE_DIM(ext); i++) {
		struct net_bytes p = net_request("icmp6");

		memmove(p.b + 62, p.b + 54, p.len - 54);
		p.len += 8;
		p.b[19] += 8;
		p.b[20] = ext[i].type;
		patch(&p, 54, ext[i].hex);

		enum haul_verdict v = net_try(&p, NULL);

		ck_assert_msg(v == ext[i].verdict, "%s: %d", ext[i].what, v);
	}
}
END_TEST

START_TEST(family_without_an_address)
{
	static const struct haul_net_if none = {.mac = {2, 0, 0, 0, 0, 2}};

	for (unsigned i = 0; i < net_nb_samples; i++) {
		struct net_bytes p = net_request(net_samples[i].name);
		bool arp = p.b[13] == 0x06, v4 = p.b[12] == 0x08;

		/* To the all-zero address of a family without an address here. */
		if (arp || v4)
			memset(p.b + (arp ? 38 : 30), 0, 4);
		else
			memset(p.b + 38, 0, 16);
		net_fix_cksums(&p);

		struct rte_mbuf *m = net_mbuf(&p, 0, 0);
		struct haul_pkt pkt;

		if (haul_net_parse(&pkt, m) == HAUL_NET_OK)
			ck_assert_int_eq(haul_net_answer(&none, &pkt), HAUL_NET_NOT_FOR_US);
		net_mbuf_free(m);
	}
}
END_TEST

/* Random changes of samples; a packet that is answered all the same must give a valid reply. */
START_TEST(mutations)
{
	const char *text = getenv("HAUL_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	unsigned short state[3] = {
		(unsigned short)seed, (unsigned short)(seed >> 16), (unsigned short)(seed >> 32)};
	unsigned answered = 0;

	fprintf(stderr, "net_refuse: mutations: HAUL_TEST_SEED=%" PRIu64 "\n", seed);
	for (unsigned i = 0; i < 200000; i++) {
		const char *name = net_samples[nrand48(state) % net_nb_samples].name;
		struct net_bytes p = net_request(name), reply;

		for (long n = nrand48(state) % 4; n >= 0; n--) {
			uint32_t at = (uint32_t)nrand48(state) % p.len;

			if (nrand48(state) % 2)
				p.b[at] ^= (uint8_t)(1u << nrand48(state) % 8);
			else
				p.b[at] = (uint8_t)nrand48(state);
		}
		if (nrand48(state) % 4 == 0)
			p.len -= (uint32_t)nrand48(state) % p.len;
		else
			net_fix_cksums(&p);

		enum haul_verdict v = net_try(&p, &reply);

		ck_assert_int_le(v, HAUL_NET_UNSUPPORTED);
		if (v == HAUL_NET_OK) {
			answered++;
			ck_assert_msg(net_cksums_right(&reply), "round %u of %s", i, name);
			ck_assert_mem_eq(reply.b + 6, net_me.mac, 6);
		}
	}
	/* The test is void if hardly any packet reaches the builders. */
	ck_assert_uint_gt(answered, 20000);
}
END_TEST

SUITE_MAIN("net_refuse", {refused_with_reason, (int)RTE_DIM(table)}, {longer_than_its_frame},
	{option_type_as_last_byte}, {refused_extensions}, {family_without_an_address}, {mutations})
