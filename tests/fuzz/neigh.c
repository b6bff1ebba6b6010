/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours under libFuzzer. The first byte of an input says what the others are. Even: steps of
 * three bytes, what to do, with which of 64 addresses, and how; the table keeps within its limits,
 * knows only neighbours that were used, and has only MAC addresses that these were heard with. Odd:
 * a frame, in memory that ends where it ends, which may be a message of neighbour discovery.
 */
#include "host/neigh.h"

#include <stdlib.h>

#include <rte_mbuf.h>

#include "base/assert.h"
#include "host/nd_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX 16u /* neighbours: twice as many places */
#define PLACES 32u
#define WAITERS 4u
#define ADDRESSES 64u

#define REQUIRE(cond)            \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

/* Nobody waits here. */
void haul_event_set(struct haul_event *e)
{
	e->hidden[0] = 1;
}

void haul_event_reset(struct haul_event *e)
{
}

void hauli_bug(const char *what, const char *file, int line)
{
	abort();
}

static struct {
	struct hauli_neigh *t;
	uint64_t now;
	bool used[ADDRESSES];
	uint8_t heard[ADDRESSES][32]; /* bits: the last bytes of MAC addresses */
	uint32_t waits[WAITERS];
	unsigned nb_waits;
} run;

static struct hauli_ip ip(uint8_t n)
{
	return (struct hauli_ip){n & 1 ? UINT64_C(0xfd) << 56 : 0, HAULI_IP4_MAPPED | n};
}

static void address(uint8_t mac[6], uint8_t ip, uint8_t how)
{
	const uint8_t is[6] = {2, 0, 0, 0, ip, how};

	memcpy(mac, is, 6);
}

static bool was_heard(const uint8_t mac[6], uint8_t n)
{
	return mac[4] == n && run.heard[n][mac[5] / 8] >> mac[5] % 8 & 1;
}

static void use(uint8_t n, bool waits)
{
	uint8_t mac[6];
	uint32_t entry;
	int err = hauli_neigh_use(
		run.t, ip(n), run.now, mac, waits && run.nb_waits < WAITERS ? &entry : NULL);

	run.used[n] = true;
	if (err == 0)
		REQUIRE(was_heard(mac, n));
	else if (err == -EAGAIN && waits && run.nb_waits < WAITERS)
		run.waits[run.nb_waits++] = entry;
}

static void hear(uint8_t n, uint8_t how, bool asks)
{
	uint8_t mac[6];

	address(mac, n, how);
	run.heard[n][how / 8] |= (uint8_t)(1 << how % 8);
	if (asks)
		hauli_neigh_asks(run.t, ip(n), mac, run.now);
	else
		hauli_neigh_answer(run.t, ip(n), how % 8 ? mac : NULL, how & 1, how & 2, run.now);
}

/* A minute at most: longer than all states last, and few questions of those who wait. */
static void age(uint8_t how)
{
	struct hauli_question q;
	uint64_t end = run.now + ((uint64_t)how * how + 1) * HAUL_MS;

	for (; hauli_neigh_due(run.t) <= end; run.now = hauli_neigh_due(run.t)) {
		if (hauli_neigh_due(run.t) > run.now)
			run.now = hauli_neigh_due(run.t);
		while (hauli_neigh_age(run.t, run.now, &q))
			REQUIRE(q.to_all || was_heard(q.mac, q.mac[4]));
		if (hauli_neigh_due(run.t) > end)
			break;
	}
	run.now = end;
}

static void leave(void)
{
	uint8_t mac[6];

	if (run.nb_waits == 0)
		return;
	(void)hauli_neigh_look(run.t, run.waits[--run.nb_waits], mac);
	hauli_neigh_leave(run.t, run.waits[run.nb_waits]);
}

static void step(uint8_t what, uint8_t n, uint8_t how)
{
	if (what % 8 < 2)
		use(n, what % 8);
	else if (what % 8 < 5)
		hear(n, how, what % 8 == 4);
	else if (what % 8 == 5)
		hauli_neigh_confirm(run.t, ip(n), run.now);
	else if (what % 8 == 6)
		age(how);
	else
		leave();
}

/* All that are known are among those that were used: so those that were not used are unknown. */
static void check(void)
{
	struct haul_host_stats st = {0};
	unsigned known = 0;
	uint8_t mac[6];
	struct hauli_neigh_seen seen;

	hauli_neigh_add_stats(run.t, &st);
	REQUIRE(st.neighbours <= PLACES && st.waiters == run.nb_waits);
	for (unsigned n = 0; n < ADDRESSES; n++) {
		if (!run.used[n])
			continue;
		known += hauli_neigh_state(run.t, ip((uint8_t)n), mac) != HAUL_NEIGHBOUR_NONE;
		if (hauli_neigh_find(run.t, ip((uint8_t)n), mac, &seen))
			REQUIRE(was_heard(mac, (uint8_t)n));
	}
	REQUIRE(known == st.neighbours);
}

static void steps(const uint8_t *data, size_t size)
{
	const struct hauli_neigh_opts opts = {
		.neighbours_max = MAX,
		.waiters_max = WAITERS,
		.tries = 2,
		.reachable_ns = 10 * HAUL_S,
		.delay_ns = 5 * HAUL_S,
		.retrans_ns = HAUL_S,
		.failed_ns = HAUL_S,
		.seed = 1,
	};

	memset(&run, 0, sizeof(run));
	REQUIRE(hauli_neigh_create(&run.t, &opts) == 0);
	for (; size >= 3; data += 3, size -= 3)
		step(data[0], data[1] % ADDRESSES, data[2]);
	check();
	hauli_neigh_close(run.t);
	while (run.nb_waits > 0)
		leave();
	memset(run.used, 0, sizeof(run.used));
	check();
	hauli_neigh_free(run.t);
}

static void frame(const uint8_t *data, size_t size)
{
	struct rte_mbuf *m = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*m));
	struct hauli_nd_message nd;
	struct haul_pkt pkt;

	memset(m, 0, sizeof(*m));
	m->buf_addr = malloc(size ? size : 1);
	m->buf_len = m->data_len = (uint16_t)size;
	m->pkt_len = (uint32_t)size;
	m->nb_segs = 1;
	rte_mbuf_refcnt_set(m, 1);
	memcpy(m->buf_addr, data, size);
	/* Not the parser, which wants a right checksum: what it makes of a message. */
	if (size >= 14 + 40 + 8) {
		pkt = (struct haul_pkt){.mbuf = m, .proto = HAUL_PROTO_ICMP6, .ip_version = 6};
		pkt.eth = m->buf_addr;
		pkt.l3 = (uint8_t *)m->buf_addr + 14;
		pkt.l4 = (uint8_t *)m->buf_addr + 54;
		pkt.payload = (uint8_t *)m->buf_addr + 62;
		pkt.payload_len = (uint16_t)(size - 62);
		/* Addresses lie in the frame, whole. */
		if (hauli_nd_read(&nd, &pkt)) {
			const uint8_t *end = (uint8_t *)m->buf_addr + size;

			REQUIRE(!nd.source || nd.source + 6 <= end);
			REQUIRE(!nd.address || nd.address + 6 <= end);
		}
	}
	free(m->buf_addr);
	free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > 300)
		return 0;
	if (data[0] & 1)
		frame(data + 1, size - 1);
	else
		steps(data + 1, size - 1);
	return 0;
}
