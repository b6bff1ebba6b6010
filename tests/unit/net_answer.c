/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: each request becomes the expected reply, byte for byte. */
#include <errno.h>
#include <string.h>

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "net_samples.h"
#include "support/suite.h"

static void assert_same(const struct net_bytes *got, const struct net_bytes *want, const char *what)
{
	ck_assert_msg(got->len == want->len, "%s: %u bytes, wanted %u", what, got->len, want->len);
	for (uint32_t i = 0; i < want->len; i++)
		ck_assert_msg(got->b[i] == want->b[i], "%s: byte %u is %02x, wanted %02x", what, i,
			got->b[i], want->b[i]);
}

static void insert(struct net_bytes *p, uint32_t at, const void *bytes, uint32_t n)
{
	memmove(p->b + at + n, p->b + at, p->len - at);
	memcpy(p->b + at, bytes, n);
	p->len += n;
}

START_TEST(each_sample)
{
	const struct net_sample *s = &net_samples[_i];
	struct net_bytes request = net_request(s->name);
	struct net_bytes want = net_reply(s->name);
	struct net_bytes got;

	ck_assert(net_cksums_right(&request));
	ck_assert(net_cksums_right(&want));
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	assert_same(&got, &want, s->name);
}
END_TEST

START_TEST(padding_is_cut)
{
	const struct net_sample *s = &net_samples[_i];
	struct net_bytes request = net_request(s->name);
	struct net_bytes want = net_reply(s->name);
	struct net_bytes got;

	for (unsigned pad = 1; pad <= 50; pad++) {
		request.b[request.len++] = 0xff;
		ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
		assert_same(&got, &want, s->name);
	}
}
END_TEST

START_TEST(vlan_tag_stays)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x61, 0x23};
	const struct net_sample *s = &net_samples[_i];
	struct net_bytes request = net_request(s->name);
	struct net_bytes want = net_reply(s->name);
	struct net_bytes got;

	insert(&request, 12, tag, sizeof(tag));
	insert(&want, 12, tag, sizeof(tag));
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	assert_same(&got, &want, s->name);

	insert(&request, 12, tag, sizeof(tag));
	ck_assert_int_eq(net_try(&request, NULL), HAUL_NET_UNSUPPORTED);
}
END_TEST

START_TEST(no_truncation_is_answered)
{
	const struct net_sample *s = &net_samples[_i];
	struct net_bytes request = net_request(s->name);

	while (request.len--)
		ck_assert_msg(net_try(&request, NULL) == HAUL_NET_MALFORMED, "%s at %u bytes",
			s->name, request.len);
}
END_TEST

/* The end of the headers, which must be contiguous. */
static uint32_t headers_end(const char *name, const struct net_bytes *p)
{
	if (!strcmp(name, "arp") || !strncmp(name, "nd", 2))
		return p->len;
	return p->b[12] == 0x08 ? 14 + (p->b[14] & 15) * 4u + 8 : 14 + 40 + 8;
}

START_TEST(two_segments)
{
	const struct net_sample *s = &net_samples[_i];
	struct net_bytes request = net_request(s->name);
	struct net_bytes want = net_reply(s->name);
	uint32_t end = headers_end(s->name, &request);

	/* From 1: an empty first segment does not exist. */
	for (uint32_t split = 1; split < request.len; split++) {
		struct rte_mbuf *m = net_mbuf(&request, split, 0);
		struct haul_pkt pkt;
		enum haul_verdict v = haul_net_parse(&pkt, m);

		if (v == HAUL_NET_OK)
			v = haul_net_answer(&net_me, &pkt);
		ck_assert_msg(v == (split < end ? HAUL_NET_UNSUPPORTED : HAUL_NET_OK),
			"%s split at %u: %d", s->name, split, v);
		if (v == HAUL_NET_OK) {
			struct net_bytes got = net_mbuf_bytes(m);

			assert_same(&got, &want, s->name);
		}
		net_mbuf_free(m);
	}
}
END_TEST

/* A checksum over more than 64 KiB, from an odd offset. */
START_TEST(much_in_the_second_segment)
{
	struct net_bytes request = net_request("udp");
	uint32_t len = 1480;

	for (uint32_t at = 42; at < 34 + len; at++)
		request.b[at] = (uint8_t)(at % 2 ? 0xff : at);
	request.len = 34 + len;
	request.b[16] = (uint8_t)((20 + len) >> 8);
	request.b[17] = (uint8_t)(20 + len);
	request.b[38] = (uint8_t)(len >> 8);
	request.b[39] = (uint8_t)len;
	net_fix_cksums(&request);
	for (uint32_t split = 42; split < 46; split++) {
		struct rte_mbuf *m = net_mbuf(&request, split, 0);
		struct haul_pkt pkt;

		ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
		ck_assert_int_eq(haul_net_answer(&net_me, &pkt), HAUL_NET_OK);
		net_mbuf_free(m);
	}
}
END_TEST

START_TEST(padding_over_segments)
{
	const char *name = _i ? "udp6" : "udp";
	struct net_bytes request = net_request(name);
	struct net_bytes want = net_reply(name);
	struct haul_pkt pkt;

	request.len += 5;
	/* The last segment holds payload and padding; then only padding; then a part of the
	 * padding, so that the cut would take a whole segment. */
	for (uint32_t split = want.len - 1; split <= want.len + 1; split++) {
		struct rte_mbuf *m = net_mbuf(&request, split, 0);
		enum haul_verdict v = haul_net_parse(&pkt, m);

		ck_assert_int_eq(v, split > want.len ? HAUL_NET_UNSUPPORTED : HAUL_NET_OK);
		if (v == HAUL_NET_OK) {
			ck_assert_int_eq(haul_net_answer(&net_me, &pkt), HAUL_NET_OK);

			struct net_bytes got = net_mbuf_bytes(m);

			assert_same(&got, &want, name);
		}
		net_mbuf_free(m);
	}
}
END_TEST

/* The same, with the cut given by UDP's own length; the packet stays whole. */
START_TEST(surplus_over_segments)
{
	struct net_bytes request = net_request("udp");
	uint32_t end = request.len;
	struct haul_pkt pkt;

	request.len += 5;
	request.b[17] += 5;
	net_fix_cksums(&request);

	struct rte_mbuf *m = net_mbuf(&request, end + 1, 0);

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_net_answer(&net_me, &pkt), HAUL_NET_UNSUPPORTED);

	struct net_bytes got = net_mbuf_bytes(m);

	assert_same(&got, &request, "unchanged");
	net_mbuf_free(m);
}
END_TEST

START_TEST(solicitation_with_an_empty_segment)
{
	struct net_bytes request = net_request("nd");
	uint32_t end = request.len;
	struct haul_pkt pkt;

	request.len += 4;

	struct rte_mbuf *m = net_mbuf(&request, end, 0);

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_net_answer(&net_me, &pkt), HAUL_NET_UNSUPPORTED);
	net_mbuf_free(m);
}
END_TEST

START_TEST(solicitation_without_option_needs_room)
{
	struct net_bytes request = net_request("nd");
	struct net_bytes want = net_reply("nd");
	struct haul_pkt pkt;

	request.len -= 8;
	request.b[19] = 24;
	net_fix_cksums(&request);

	struct rte_mbuf *m = net_mbuf(&request, 0, 7);
	struct net_bytes got;

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_net_answer(&net_me, &pkt), HAUL_NET_UNSUPPORTED);
	got = net_mbuf_bytes(m);
	assert_same(&got, &request, "unchanged");
	net_mbuf_free(m);

	m = net_mbuf(&request, 0, 8);
	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_net_answer(&net_me, &pkt), HAUL_NET_OK);
	got = net_mbuf_bytes(m);
	assert_same(&got, &want, "advertisement");
	net_mbuf_free(m);
}
END_TEST

START_TEST(solicitation_with_more_options_is_cut)
{
	static const uint8_t nonce[8] = {14, 1, 1, 2, 3, 4, 5, 6};
	struct net_bytes request = net_request("nd");
	struct net_bytes want = net_reply("nd");
	struct net_bytes got;

	insert(&request, 78, nonce, sizeof(nonce));
	request.b[19] += sizeof(nonce);
	net_fix_cksums(&request);
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	assert_same(&got, &want, "advertisement");
}
END_TEST

/* The advertisement goes to the source link-layer address, not to the frame's source. */
START_TEST(source_option_names_the_receiver)
{
	struct net_bytes request = net_request("nd");
	struct net_bytes want = net_reply("nd");
	struct net_bytes got;

	request.b[85] = want.b[5] = 0x77;
	net_fix_cksums(&request);
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	assert_same(&got, &want, "advertisement");
}
END_TEST

START_TEST(arp_probe_is_answered)
{
	struct net_bytes request = net_request("arp");
	struct net_bytes want = net_reply("arp");
	struct net_bytes got;

	memset(request.b + 28, 0, 4);
	memset(want.b + 38, 0, 4);
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	assert_same(&got, &want, "reply to a probe");
}
END_TEST

/* For an all-zero datagram the reply's checksum is 0xffff, not 0. */
START_TEST(echo_of_nothing_but_zeros)
{
	struct net_bytes request = net_request("icmp");
	struct net_bytes got;

	memset(request.b + 38, 0, request.len - 38);
	net_fix_cksums(&request);
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	ck_assert(net_cksums_right(&got));
	ck_assert_uint_eq(got.b[36], 0xff);
	ck_assert_uint_eq(got.b[37], 0xff);
}
END_TEST

START_TEST(echo_of_every_checksum)
{
	const char *name = _i ? "icmp6" : "icmp";
	struct net_bytes request = net_request(name);
	struct net_bytes got;

	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		request.b[request.len - 2] = (uint8_t)(id >> 8);
		request.b[request.len - 1] = (uint8_t)id;
		net_fix_cksums(&request);
		ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
		ck_assert_msg(net_cksums_right(&got), "%s %u", name, id);
	}
}
END_TEST

START_TEST(udp_without_checksum)
{
	struct net_bytes request = net_request("udp");
	struct net_bytes want = net_reply("udp");
	struct net_bytes got;

	memset(request.b + 40, 0, 2);
	memset(want.b + 40, 0, 2);
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	assert_same(&got, &want, "udp without a checksum");
}
END_TEST

/* The IP payload is longer than the datagram: the rest does not belong to it. */
START_TEST(udp_shorter_than_ip)
{
	struct net_bytes request = net_request("udp");
	struct net_bytes want = net_reply("udp");
	struct net_bytes got;

	memset(request.b + request.len, 0x5a, 4);
	request.len += 4;
	request.b[17] += 4;
	net_fix_cksums(&request);
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	assert_same(&got, &want, "udp");
}
END_TEST

START_TEST(empty_udp)
{
	struct net_bytes request = net_request("udp");
	struct net_bytes got;

	request.len = 42;
	request.b[17] = 28;
	request.b[39] = 8;
	net_fix_cksums(&request);
	ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
	ck_assert(net_cksums_right(&got));
	ck_assert_uint_eq(got.len, 42);
}
END_TEST

/* Hop-by-hop, destination options and a used-up routing header, one by one and together. */
START_TEST(extension_headers_are_taken_out)
{
	static const uint8_t options[8] = {0, 0, 5, 2, 0, 0, 1, 0}; /* router alert, PadN */
	static const uint8_t pads[16] = {0, 1, 0, 0, 1, 10};
	static const uint8_t routing[24] = {0, 2, 2, 0};
	static const struct {
		uint8_t type;
		const uint8_t *bytes;
		uint8_t len;
	} headers[] = {{0, options, 8}, {60, pads, 16}, {43, routing, 24}, {60, options, 8}};
	static const char *const names[] = {"icmp6", "udp6", "nd"};

	for (unsigned set = 1; set < 16; set++) {
		for (unsigned n = 0; n < RTE_DIM(names); n++) {
			struct net_bytes request = net_request(names[n]);
			struct net_bytes want = net_reply(names[n]);
			struct net_bytes got;

			for (int h = 3; h >= 0; h--) {
				if (!(set & 1u << h))
					continue;
				insert(&request, 54, headers[h].bytes, headers[h].len);
				request.b[54] = request.b[20];
				request.b[20] = headers[h].type;
				request.b[19] += headers[h].len;
			}
			ck_assert(net_cksums_right(&request));
			ck_assert_int_eq(net_try(&request, &got), HAUL_NET_OK);
			assert_same(&got, &want, names[n]);

			for (uint32_t split = 15; split < request.len - want.len + 62; split++) {
				struct rte_mbuf *m = net_mbuf(&request, split, 0);
				struct haul_pkt pkt;

				ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_UNSUPPORTED);
				net_mbuf_free(m);
			}
			while (request.len--)
				ck_assert_int_eq(net_try(&request, NULL), HAUL_NET_MALFORMED);
		}
	}
}
END_TEST

START_TEST(description_of_a_packet)
{
	struct net_bytes request = net_request("udp6");
	struct rte_mbuf *m = net_mbuf(&request, 0, 0);
	struct haul_pkt pkt;

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_ptr_eq(pkt.mbuf, m);
	ck_assert_int_eq(pkt.proto, HAUL_PROTO_UDP);
	ck_assert_str_eq(haul_proto_name(pkt.proto), "udp");
	ck_assert_uint_eq(pkt.ip_version, 6);
	ck_assert_uint_eq(pkt.ip_proto, 17);
	ck_assert_uint_eq(pkt.ip6->hop_limits, 64);
	ck_assert_uint_eq(rte_be_to_cpu_16(pkt.udp->src_port), 0xa788);
	ck_assert_uint_eq(pkt.payload_len, 9);
	ck_assert_mem_eq(pkt.payload, "haul-net!", 9);
	ck_assert_int_eq(haul_net_for_us(&net_me, &pkt), HAUL_NET_OK);

	/* No step handles a packet of another protocol. */
	ck_assert_int_eq(haul_arp_reply(&net_me, &pkt), HAUL_NET_UNSUPPORTED);
	ck_assert_int_eq(haul_nd_advertise(&net_me, &pkt), HAUL_NET_UNSUPPORTED);
	ck_assert_int_eq(haul_icmp_echo_reply(&net_me, &pkt), HAUL_NET_UNSUPPORTED);
	ck_assert_int_eq(haul_udp_reply(&net_me, &pkt), HAUL_NET_OK);
	ck_assert_uint_eq(rte_be_to_cpu_16(pkt.udp->dst_port), 0xa788);
	net_mbuf_free(m);
}
END_TEST

/* A responder of the user's own: it replaces the payload, then reverses the packet. */
static void set_payload(const char *name, const char *text, size_t len, bool fits)
{
	struct net_bytes request = net_request(name);
	struct rte_mbuf *m = net_mbuf(&request, 0, 20);
	struct haul_pkt pkt;

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_udp_set_payload(&pkt, text, len), fits ? 0 : -EMSGSIZE);
	if (fits) {
		ck_assert_uint_eq(pkt.payload_len, len);

		struct net_bytes changed = net_mbuf_bytes(m);

		ck_assert(net_cksums_right(&changed));
		ck_assert_int_eq(haul_udp_reply(&net_me, &pkt), HAUL_NET_OK);
		request = net_mbuf_bytes(m);
		ck_assert(net_cksums_right(&request));
		ck_assert_mem_eq(request.b + request.len - len, text, len);
	} else {
		struct net_bytes same = net_mbuf_bytes(m);

		assert_same(&same, &request, "unchanged");
	}
	net_mbuf_free(m);
}

START_TEST(another_payload)
{
	static const char text[65536] = "a much longer text than before";
	const char *name = _i ? "udp6" : "udp";

	for (size_t len = 0; len <= 9 + 20; len++)
		set_payload(name, text, len, true);
	set_payload(name, text, 9 + 20 + 1, false);
	set_payload(name, text, 65535, false);
	set_payload(name, text, 65536, false);
}
END_TEST

/* A payload of each value; the sum of one of them is 0xffff, whose complement says "none". */
START_TEST(a_payload_never_goes_without_a_checksum)
{
	struct net_bytes request = net_request("udp");
	struct rte_mbuf *m = net_mbuf(&request, 0, 0);
	struct haul_pkt pkt;

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	for (uint32_t n = 0; n <= UINT16_MAX; n++) {
		uint16_t payload = (uint16_t)n;

		ck_assert_int_eq(haul_udp_set_payload(&pkt, &payload, sizeof(payload)), 0);
		ck_assert_uint_ne(pkt.udp->dgram_cksum, 0);
	}
	net_mbuf_free(m);
}
END_TEST

START_TEST(payload_from_itself)
{
	struct net_bytes request = net_request("udp");
	struct rte_mbuf *m = net_mbuf(&request, 0, 0);
	struct haul_pkt pkt;

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_udp_set_payload(&pkt, pkt.payload + 5, 4), 0);

	struct net_bytes got = net_mbuf_bytes(m);

	ck_assert(net_cksums_right(&got));
	ck_assert_mem_eq(got.b + 42, "net!", 4);
	net_mbuf_free(m);
}
END_TEST

START_TEST(payload_of_others_stays)
{
	struct net_bytes request = net_request("icmp");
	struct rte_mbuf *m = net_mbuf(&request, 0, 20);
	struct haul_pkt pkt;

	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_udp_set_payload(&pkt, "x", 1), -EINVAL);
	net_mbuf_free(m);

	request = net_request("udp");
	m = net_mbuf(&request, 45, 20);
	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(haul_udp_set_payload(&pkt, "x", 1), -EMSGSIZE);
	net_mbuf_free(m);
}
END_TEST

SUITE_MAIN("net_answer", {each_sample, (int)net_nb_samples}, {padding_is_cut, (int)net_nb_samples},
	{vlan_tag_stays, (int)net_nb_samples}, {no_truncation_is_answered, (int)net_nb_samples},
	{two_segments, (int)net_nb_samples}, {much_in_the_second_segment},
	{padding_over_segments, 2}, {surplus_over_segments}, {solicitation_with_an_empty_segment},
	{solicitation_without_option_needs_room}, {solicitation_with_more_options_is_cut},
	{source_option_names_the_receiver}, {arp_probe_is_answered}, {echo_of_nothing_but_zeros},
	{echo_of_every_checksum, 2}, {udp_without_checksum}, {udp_shorter_than_ip}, {empty_udp},
	{extension_headers_are_taken_out}, {description_of_a_packet}, {another_payload, 2},
	{a_payload_never_goes_without_a_checksum}, {payload_from_itself}, {payload_of_others_stays})
