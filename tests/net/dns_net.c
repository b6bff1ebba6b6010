/* SPDX-License-Identifier: BSD-3-Clause */
#include "dns_net.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_udp.h>

#include "../../apps/haul-dns/tcp_ask.h"
#include "net/dpdk.h"

struct dns_net_server dns_net_servers[DNS_NET_SERVERS];
uint64_t dns_net_counts[DNS_NET_COUNTS];
const char *dns_net_wrong;
struct haul_host *dns_net_host;

static struct haul_test *test;
static const struct dns_secret secret = {{1, 2}};
const char *dns_net_state = "serving";
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

/* In place of haul-app's. */
void haul_app_count(unsigned counter, uint64_t n);
void haul_app_count(unsigned counter, uint64_t n)
{
	pthread_mutex_lock(&counts_lock);
	dns_net_counts[counter] += n;
	pthread_mutex_unlock(&counts_lock);
}

bool haul_app_is_serving(const char **state);
bool haul_app_is_serving(const char **state)
{
	*state = dns_net_state;
	return strcmp(dns_net_state, "serving") == 0;
}

/* A reply is built here. */
struct reply {
	uint8_t bytes[512];
	size_t n;
};

static void put(struct reply *r, const void *bytes, size_t n)
{
	memcpy(r->bytes + r->n, bytes, n);
	r->n += n;
}

static void put_address(struct reply *r, uint32_t ttl, const uint8_t address[4])
{
	uint8_t record[16] = {0xc0, 12, 0, DNS_A, 0, DNS_IN, 0, 0, 0, 0, 0, 4};

	dns_put32(record + 6, ttl);
	memcpy(record + 12, address, 4);
	put(r, record, sizeof(record));
	dns_put16(r->bytes + 6, 1);
}

/* OPT, with a cookie of nb bytes. */
static void put_edns(struct reply *r, unsigned rcode, const uint8_t *cookie, uint8_t nb)
{
	uint8_t opt[DNS_OPT + 4] = {0, 0, DNS_OPT_TYPE, 4, 0xd0};

	opt[5] = (uint8_t)(rcode >> 4);
	opt[10] = nb ? (uint8_t)(nb + 4) : 0;
	opt[12] = DNS_OPTION_COOKIE;
	opt[14] = nb;
	put(r, opt, nb ? sizeof(opt) : DNS_OPT);
	put(r, cookie, nb);
	dns_put16(r->bytes + 10, 1);
}

static void set_code(struct reply *r, unsigned rcode)
{
	r->bytes[3] = (uint8_t)(DNS_RA | (rcode & DNS_RCODE));
}

/* What the server says to a question. */
static void make_reply(struct reply *r, struct dns_net_server *s, const uint8_t *msg,
	const struct dns_query *q, const uint8_t address[4])
{
	static const uint8_t its_cookie[8] = {8, 7, 6, 5, 4, 3, 2, 1};
	const struct dns_edns *e = &q->edns;
	bool knows = e->nb_cookie == 16 && memcmp(e->cookie + 8, its_cookie, 8) == 0;
	uint8_t cookie[16];

	r->n = 0;
	put(r, msg, DNS_HEADER + q->question);
	memset(r->bytes + 6, 0, 6);
	r->bytes[2] = (DNS_QR | DNS_RD) >> 8;
	set_code(r, DNS_NOERROR);
	switch (s->does) {
	case DOES_FAIL:
		set_code(r, DNS_SERVFAIL);
		return;
	case DOES_REFUSE_EDNS_BARELY:
	case DOES_REFUSE_EDNS:
		if (!e->is_there)
			break;
		set_code(r, DNS_FORMERR);
		if (s->does == DOES_REFUSE_EDNS_BARELY) {
			memset(r->bytes + 4, 0, 8);
			r->n = DNS_HEADER;
		}
		return;
	case DOES_TRUNCATE:
		r->bytes[2] |= DNS_TC >> 8;
		return;
	case DOES_FOLD:
		dns_name_fold(r->bytes + DNS_HEADER, q->question - 4u);
		break;
	case DOES_WANT_COOKIES:
		memcpy(cookie, e->cookie, 8);
		memcpy(cookie + 8, its_cookie, 8);
		if (knows)
			put_address(r, s->ttl ? s->ttl : 300, address);
		else
			set_code(r, DNS_BADCOOKIE);
		put_edns(r, knows ? 0 : DNS_BADCOOKIE, cookie, 16);
		return;
	case DOES_CONTRADICT:
		put_address(r, 300, address);
		put(r, (uint8_t[]){0xc0, 12, 0, DNS_CNAME, 0, DNS_IN, 0, 0, 1, 0, 0, 2, 0xc0, 12},
			14);
		dns_put16(r->bytes + 6, 2); /* an alias beside data */
		return;
	default:
		break;
	}
	put_address(r, s->ttl ? s->ttl : 300, address);
}

/* In place of the kernel's TCP, which has no virtual time. */
int dns_tcp_ask(const struct haul_addr *server, uint16_t port, const uint8_t *question, size_t len,
	uint8_t *reply, size_t room, uint64_t deadline)
{
	unsigned i = server->bytes[3] - 10u;
	struct dns_net_server *s = &dns_net_servers[i], answers = {.does = s->does_tcp};
	const uint8_t address[4] = {198, 51, 100, (uint8_t)i};
	struct dns_query q;
	struct reply r;

	if (port != 53 || dns_query_parse(&q, question, len, &secret) != 0)
		return -EINVAL;
	s->asked_tcp++;
	if (haul_sleep(HAUL_MS)) /* virtual */
		return -ECANCELED;
	if (s->tcp_error)
		return s->tcp_error;
	make_reply(&r, &answers, question, &q, address);
	memcpy(reply, r.bytes, r.n);
	return (int)r.n;
}

static void feed(struct rte_mbuf *m)
{
	if (haul_test_feed_pkt(test, 0, HAUL_ANY, m))
		dns_net_wrong = "a packet could not be fed";
}

static struct haul_net_if nif_of(const struct haul_pkt *pkt)
{
	struct haul_net_if nif = {.ip4_prefix = 24};

	memcpy(nif.mac, (uint8_t[]){2, 0, 0, 0, 0, 9}, 6);
	if (pkt->proto == HAUL_PROTO_ARP)
		memcpy(nif.ip4, (const uint8_t *)pkt->arp + 24, 4);
	else
		memcpy(nif.ip4, &pkt->ip4->dst_addr, 4);
	return nif;
}

/* Sends r back as the reply to pkt. change: 1 and 2 change the ports. */
static void send_reply(const struct haul_pkt *pkt, const struct reply *r, unsigned change)
{
	struct rte_mbuf *m = rte_pktmbuf_copy(pkt->mbuf, haul_test_pool(test), 0, UINT32_MAX);
	struct haul_net_if nif;
	struct haul_pkt back;

	if (!m || haul_net_parse(&back, m) != HAUL_NET_OK) {
		dns_net_wrong = "a packet is malformed";
		return;
	}
	nif = nif_of(&back);
	haul_udp_reply(&nif, &back);
	if (change == 1)
		back.udp->src_port ^= rte_cpu_to_be_16(2);
	if (change == 2)
		back.udp->dst_port ^= rte_cpu_to_be_16(8);
	haul_udp_set_payload(&back, r->bytes, r->n);
	feed(m);
}

/* The right reply, and others that differ from it in one thing each. */
static void forge(const struct haul_pkt *pkt, const struct reply *right, unsigned question)
{
	for (unsigned bit = 0; bit < 8 * (DNS_HEADER + question); bit++) {
		struct reply r = *right;

		if (bit / 8 > 2 && bit / 8 < DNS_HEADER)
			continue; /* numbers of records, and flags that may differ */
		if (bit / 8 == 2 && bit % 8 < 3)
			continue; /* AA, TC, RD */
		r.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		r.bytes[r.n - 1] = 66;
		send_reply(pkt, &r, 0);
		if (bit % 8 == 7)
			haul_sleep(HAUL_US); /* the mailbox of a flow takes 16 */
	}
	for (unsigned change = 1; change < 3; change++) {
		struct reply r = *right;

		r.bytes[r.n - 1] = 66;
		send_reply(pkt, &r, change);
	}
}

static void *answer(void *arg)
{
	struct rte_mbuf *m = arg;
	struct dns_net_server *s;
	uint8_t address[4] = {192, 0, 2};
	struct dns_query q;
	struct haul_pkt pkt;
	struct reply r;

	if (haul_net_parse(&pkt, m) != HAUL_NET_OK ||
		dns_query_parse(&q, pkt.payload, pkt.payload_len, &secret) != 0) {
		dns_net_wrong = "a question is malformed";
		goto done;
	}
	address[3] = (uint8_t)(((const uint8_t *)&pkt.ip4->dst_addr)[3] - 10);
	s = &dns_net_servers[address[3]];
	s->asked++;
	s->with_edns += q.edns.is_there;
	if (s->does == DOES_NOTHING || (s->lost > 0 && s->lost--) || haul_sleep(s->delay))
		goto done;
	make_reply(&r, s, pkt.payload, &q, address);
	if (s->does == DOES_FORGE)
		forge(&pkt, &r, q.question);
	send_reply(&pkt, &r, 0);
done:
	rte_pktmbuf_free(m);
	return NULL;
}

static void on_frame(struct rte_mbuf *m)
{
	struct haul_net_if nif;
	struct haul_pkt pkt;

	if (haul_net_parse(&pkt, m) == HAUL_NET_OK) {
		if (pkt.proto == HAUL_PROTO_UDP) {
			haul_spawn(NULL, answer, m, NULL);
			return;
		}
		nif = nif_of(&pkt);
		if (pkt.proto == HAUL_PROTO_ARP && haul_net_answer(&nif, &pkt) == HAUL_NET_OK) {
			feed(m);
			return;
		}
	}
	rte_pktmbuf_free(m);
}

static void *run_network(void *arg)
{
	struct haul_test_frame frame;

	while (haul_test_take(test, 0, &frame, HAUL_FOREVER) == 0)
		on_frame(frame.pkt);
	return arg;
}

static void on_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (!haul_host_takes(dns_net_host, rx, pkt))
		haul_drop(rx, &pkt, 1, HAUL_DROP_NOT_FOR_US);
}

static void (*body)(void);

static void run_body(void *arg)
{
	struct haul_coro *network;
	char line[256];

	(void)arg;
	FAIL_UNLESS(haul_host_add_address(dns_net_host, 0, "10.0.0.1/24", line, sizeof(line)) == 0);
	FAIL_UNLESS(haul_host_start(dns_net_host, haul_test_io(test), line, sizeof(line)) == 0);
	FAIL_UNLESS(haul_spawn(&network, run_network, NULL, NULL) == 0);
	body();
	haul_cancel(network);
	haul_join(network, NULL, HAUL_FOREVER);
}

void dns_net_run(void (*of_test)(void))
{
	const struct haul_io_opts io = {.on_packet = on_packet};
	const struct haul_test_opts opts = {.carriers = DNS_NET_CARRIERS};
	char line[256];

	memset(dns_net_servers, 0, sizeof(dns_net_servers));
	memset(dns_net_counts, 0, sizeof(dns_net_counts));
	dns_net_wrong = NULL;
	body = of_test;
	ck_assert_msg(haul_host_create(&dns_net_host, NULL, line, sizeof(line)) == 0, "%s", line);
	ck_assert_msg(haul_test_start(&test, &io, &opts, line, sizeof(line)) == 0, "%s", line);
	ck_assert_int_eq(haul_test_run(test, run_body, NULL), 0);
	haul_host_stop(dns_net_host);
	ck_assert_msg(haul_test_stop(test, HAUL_FOREVER, line, sizeof(line)) == 0, "%s", line);
	haul_host_free(dns_net_host);
	ck_assert_pstr_eq(dns_net_wrong, NULL);
}

struct dns_upstreams *dns_net_upstreams(unsigned n, uint32_t stale, struct dns_upstreams *previous)
{
	const struct dns_upstream_opts opts = {
		.host = dns_net_host, .secret = &secret, .stale = stale};
	struct dns_endpoint servers[DNS_NET_SERVERS];

	for (unsigned i = 0; i < n; i++) {
		char text[16];

		snprintf(text, sizeof(text), "10.0.0.%u", 10 + i);
		if (dns_endpoint_parse(&servers[i], text, strlen(text)))
			abort();
	}
	return dns_upstreams_create(servers, n, &opts, previous);
}

struct dns_key dns_net_key(const char *name)
{
	uint8_t wire[DNS_NAME_MAX];
	struct dns_key key;
	int length = dns_name_parse(name, strlen(name), wire);

	if (length < 0)
		abort();
	dns_key_make(&key, wire, (size_t)length, DNS_A, DNS_IN, 0, &secret);
	return key;
}
