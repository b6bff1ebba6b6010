/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_samples.h"

#include <stdlib.h>
#include <string.h>

/*
 * Captured between two network stacks of Linux 6.18, with the kernel's own replies. Exceptions: a
 * reply of ours keeps identification, DF and flow label of its request and removes IPv4 options,
 * and Linux does not reply to a probe (nd_probe).
 */
const struct net_sample net_samples[] = {
	{
		"arp",
		"ffffffffffff0200000000010806"
		"00010800060400010200000000010a0000010000000000000a000002",
		"0200000000010200000000020806"
		"00010800060400020200000000020a0000020200000000010a000001",
	},
	{
		"icmp",
		"0200000000020200000000010800"
		"45000024c0644000400166720a0000010a000002"
		"0800b1ad3a4100010001020304050607",
		"0200000000010200000000020800"
		"45000024c0644000400166720a0000020a000001"
		"0000b9ad3a4100010001020304050607",
	},
	{
		"icmp_rr",
		"0200000000020200000000010800"
		"4f00004cc065400040012a390a0000010a000002"
		"010727080a0000010000000000000000000000000000000000000000000000000000000000000000"
		"0800b1ac3a4200010001020304050607",
		"0200000000010200000000020800"
		"45000024c0654000400166710a0000020a000001"
		"0000b9ac3a4200010001020304050607",
	},
	{
		"icmp_ts",
		"0200000000020200000000010800"
		"4f00004cc06640004001adf00a0000010a000002"
		"4428090000ab60840000000000000000000000000000000000000000000000000000000000000000"
		"0800b1ab3a4300010001020304050607",
		"0200000000010200000000020800"
		"45000024c0664000400166700a0000020a000001"
		"0000b9ab3a4300010001020304050607",
	},
	{
		"nd",
		"3333ff00000202000000000186dd"
		"6000000000203aff"
		"fd000000000000000000000000000001"
		"ff0200000000000000000001ff000002"
		"87007d9700000000fd0000000000000000000000000000020101020000000001",
		"02000000000102000000000286dd"
		"6000000000203aff"
		"fd000000000000000000000000000002"
		"fd000000000000000000000000000001"
		"88001c9a60000000fd0000000000000000000000000000020201020000000002",
	},
	{
		"icmp6",
		"02000000000202000000000186dd"
		"6008d9e100103a40"
		"fd000000000000000000000000000001"
		"fd000000000000000000000000000002"
		"80003f5b3a4400010001020304050607",
		"02000000000102000000000286dd"
		"6008d9e100103a40"
		"fd000000000000000000000000000002"
		"fd000000000000000000000000000001"
		"81003e5b3a4400010001020304050607",
	},
	{
		"udp",
		"0200000000020200000000010800"
		"450000255fd040004011c6f50a0000010a000002"
		"992200070011c0ef6861756c2d6e657421",
		"0200000000010200000000020800"
		"450000255fd040004011c6f50a0000020a000001"
		"000799220011c0ef6861756c2d6e657421",
	},
	{
		"udp6",
		"02000000000202000000000186dd"
		"60062cc500111140"
		"fd000000000000000000000000000001"
		"fd000000000000000000000000000002"
		"a78800070011cc876861756c2d6e657421",
		"02000000000102000000000286dd"
		"60062cc500111140"
		"fd000000000000000000000000000002"
		"fd000000000000000000000000000001"
		"0007a7880011cc876861756c2d6e657421",
	},
	{
		"nd_probe",
		"3333ff00000202000000000186dd"
		"6000000000203aff"
		"00000000000000000000000000000000"
		"ff0200000000000000000001ff000002"
		"8700ca7e00000000fd0000000000000000000000000000020e012c6cbe2dba81",
		"33330000000102000000000286dd"
		"6000000000203aff"
		"fd000000000000000000000000000002"
		"ff020000000000000000000000000001"
		"88005a9820000000fd0000000000000000000000000000020201020000000002",
	},
};
const unsigned net_nb_samples = RTE_DIM(net_samples);

const struct haul_net_if net_me = {
	.mac = {2, 0, 0, 0, 0, 2},
	.ip4 = {10, 0, 0, 2},
	.ip4_prefix = 24,
	.ip6 = {0xfd, [15] = 2},
	.ip6_prefix = 64,
};

static struct net_bytes from_hex(const char *hex)
{
	struct net_bytes p = {.len = (uint32_t)strlen(hex) / 2};

	for (uint32_t i = 0; i < p.len; i++)
		sscanf(hex + 2 * i, "%2hhx", &p.b[i]);
	return p;
}

static const struct net_sample *find(const char *name)
{
	for (unsigned i = 0; i < net_nb_samples; i++)
		if (!strcmp(net_samples[i].name, name))
			return &net_samples[i];
	abort();
}

struct net_bytes net_request(const char *name)
{
	return from_hex(find(name)->request_hex);
}

struct net_bytes net_reply(const char *name)
{
	return from_hex(find(name)->reply_hex);
}

static uint32_t words(const uint8_t *b, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 ? b[i] : (uint32_t)b[i] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* The offsets of the upper layer of a frame and of its checksum; 0: unknown. The caller checks by
 * fits() that both lie within the frame. */
struct upper {
	uint32_t at;
	uint32_t len;
	uint32_t cksum_at;
	uint32_t pseudo; /* sum of the pseudo header */
};

static uint32_t get16(const struct net_bytes *p, uint32_t at)
{
	return (uint32_t)p->b[at] << 8 | p->b[at + 1];
}

static struct upper find_upper(const struct net_bytes *p)
{
	bool v4 = get16(p, 12) == 0x0800;
	uint8_t proto;
	struct upper u = {0};

	if (v4) {
		u.at = 14 + (p->b[14] & 15) * 4u;
		u.len = get16(p, 16) + 14 - u.at;
		proto = p->b[23];
		u.pseudo = proto == 1 ? 0 : words(p->b + 26, 8, proto);
	} else {
		u.at = 54;
		u.len = get16(p, 18);
		proto = p->b[20];
		while ((proto == 0 || proto == 43 || proto == 60) && u.at + 8 <= p->len) {
			uint32_t ext = (p->b[u.at + 1] + 1u) * 8;

			proto = p->b[u.at];
			u.at += ext;
			u.len -= ext;
		}
		u.pseudo = words(p->b + 22, 32, proto);
	}
	if (proto == 17)
		u.cksum_at = u.at + 6;
	else if (proto == (v4 ? 1 : 58))
		u.cksum_at = u.at + 2;
	if (u.pseudo)
		u.pseudo += proto == 17 ? get16(p, u.at + 4) : u.len;
	if (proto == 17)
		u.len = get16(p, u.at + 4);
	return u;
}

static bool fits(const struct net_bytes *p, const struct upper *u)
{
	return u->at <= p->len && u->len <= p->len - u->at && u->cksum_at + 2 <= p->len;
}

static void put16(struct net_bytes *p, uint32_t at, uint16_t v)
{
	p->b[at] = (uint8_t)(v >> 8);
	p->b[at + 1] = (uint8_t)v;
}

void net_fix_cksums(struct net_bytes *p)
{
	if (get16(p, 12) == 0x0806)
		return;

	struct upper u = find_upper(p);

	if (get16(p, 12) == 0x0800 && u.at <= p->len) {
		put16(p, 24, 0);
		put16(p, 24, (uint16_t)~fold(words(p->b + 14, (p->b[14] & 15) * 4u, 0)));
	}
	if (u.cksum_at && fits(p, &u)) {
		put16(p, u.cksum_at, 0);
		put16(p, u.cksum_at, (uint16_t)~fold(words(p->b + u.at, u.len, u.pseudo)));
	}
}

bool net_cksums_right(const struct net_bytes *p)
{
	if (get16(p, 12) == 0x0806)
		return p->len == 42;

	struct upper u = find_upper(p);

	if (!fits(p, &u) || u.at + u.len != p->len)
		return false;
	if (get16(p, 12) == 0x0800 && fold(words(p->b + 14, (p->b[14] & 15) * 4u, 0)) != 0xffff)
		return false;
	if (!u.cksum_at)
		return true;
	if (get16(p, 12) == 0x0800 && p->b[23] == 17 && !get16(p, u.cksum_at))
		return true;
	return fold(words(p->b + u.at, u.len, u.pseudo)) == 0xffff;
}

struct rte_mbuf *net_segment(const uint8_t *b, uint32_t len, uint16_t headroom, uint16_t tailroom)
{
	struct rte_mbuf *m = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*m));
	uint32_t all = headroom + len + tailroom;

	if (all > UINT16_MAX)
		abort();
	memset(m, 0, sizeof(*m));
	m->buf_addr = malloc(all);
	m->buf_len = (uint16_t)all;
	m->data_off = headroom;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	m->nb_segs = 1;
	/* What a driver and an earlier user left there. */
	m->ol_flags = RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_TCP_SEG;
	m->tx_offload = UINT64_MAX;
	rte_mbuf_refcnt_set(m, 1);
	memset(m->buf_addr, 0xa5, all);
	if (len)
		memcpy(rte_pktmbuf_mtod(m, void *), b, len);
	return m;
}

struct rte_mbuf *net_mbuf(const struct net_bytes *p, uint32_t split, uint16_t room)
{
	if (!split)
		return net_segment(p->b, p->len, 0, room);

	struct rte_mbuf *m = net_segment(p->b, split, 0, 0);

	m->next = net_segment(p->b + split, p->len - split, 0, room);
	m->nb_segs = 2;
	m->pkt_len = p->len;
	return m;
}

struct net_bytes net_mbuf_bytes(const struct rte_mbuf *m)
{
	struct net_bytes p = {0};

	for (const struct rte_mbuf *seg = m; seg; seg = seg->next) {
		memcpy(p.b + p.len, rte_pktmbuf_mtod(seg, uint8_t *), seg->data_len);
		p.len += seg->data_len;
	}
	if (p.len != m->pkt_len)
		abort();
	return p;
}

void net_mbuf_free(struct rte_mbuf *m)
{
	while (m) {
		struct rte_mbuf *next = m->next;

		free(m->buf_addr);
		free(m);
		m = next;
	}
}

enum haul_verdict net_try(const struct net_bytes *p, struct net_bytes *reply)
{
	struct rte_mbuf *m = net_mbuf(p, 0, 0);
	struct haul_pkt pkt;
	enum haul_verdict v = haul_net_parse(&pkt, m);

	if (v == HAUL_NET_OK)
		v = haul_net_answer(&net_me, &pkt);
	if (reply)
		*reply = net_mbuf_bytes(m);
	net_mbuf_free(m);
	return v;
}
