/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dpdk/capture.h as a library: start and stop while packets flow, several pollers one after
 * the other, frames that are not in one piece, misuse. Files are compared by capture.py. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <haul-dpdk/capture.h>

#include "io_bed.h"

#define TWO ((const char *const[]){"ring:", "ring:", NULL})
#define BLOCK_FRAME 6

static char file[64];

/* A captured frame. */
struct frame {
	uint32_t port, direction, captured, len;
	const uint8_t *bytes;
};

struct frames {
	uint32_t *data;
	unsigned n;
	struct frame all[4096];
};

static void read_file(struct frames *f)
{
	struct stat st;
	FILE *in = fopen(file, "rb");
	uint32_t *block, *end;

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(fstat(fileno(in), &st), 0);
	f->data = malloc((size_t)st.st_size);
	ck_assert_int_eq(fread(f->data, (size_t)st.st_size, 1, in), 1);
	fclose(in);
	unlink(file);
	f->n = 0;
	end = f->data + st.st_size / 4;
	for (block = f->data; block < end; block += block[1] / 4) {
		uint32_t words = block[1] / 4;

		ck_assert_uint_eq(block[words - 1], block[1]);
		if (block[0] != BLOCK_FRAME)
			continue;
		ck_assert_uint_lt(f->n, 4096);
		/* The last options: flags, queue, end. */
		f->all[f->n++] = (struct frame){block[2], block[words - 5], block[5], block[6],
			(const uint8_t *)(block + 7)};
	}
}

static struct haul_capture *capture_open(struct bed *bed, const struct haul_capture_opts *more)
{
	struct haul_capture_opts opts = more ? *more : (struct haul_capture_opts){0};
	struct haul_capture *c;

	snprintf(file, sizeof(file), "/tmp/io-capture-%d", (int)getpid());
	opts.ports = bed->ports;
	opts.nb_ports = bed->nb_ports;
	opts.carriers = BED_CARRIERS;
	opts.file = file;
	ck_assert_msg(haul_capture_open(&c, &opts, bed->errbuf, sizeof(bed->errbuf)) == 0, "%s",
		bed->errbuf);
	return c;
}

static struct haul_capture_stats capture_close(struct bed *bed, struct haul_capture *c)
{
	struct haul_capture_stats st;

	ck_assert_msg(haul_capture_close(c, HAUL_S, &st, bed->errbuf, sizeof(bed->errbuf)) == 0,
		"%s", bed->errbuf);
	return st;
}

static void ignore(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	rte_pktmbuf_free_bulk(pkts, n);
}

static void start_pollers(struct bed *bed, struct haul_capture *c)
{
	struct haul_io_opts opts = bed_io_opts(bed);

	opts.on_burst = ignore;
	opts.capture = c;
	bed_start(bed, &opts);
}

static void send_and_wait(struct bed *bed, uint32_t first, uint32_t n)
{
	uint64_t before = bed_stats(bed, 0, HAUL_ALL).rx_packets;

	bed_send(bed, 0, 0, first, n / 2);
	bed_send(bed, 0, 1, first + n / 2, n - n / 2);
	WAIT_UNTIL(bed_stats(bed, 0, HAUL_ALL).rx_packets == before + n);
}

static uint32_t number_of(const struct frame *frame)
{
	uint32_t number;

	memcpy(&number, frame->bytes + 14, sizeof(number));
	return number;
}

/* Each number from first on, once as sent and once as received, and nothing else. */
static void check_numbers(const struct frames *f, uint32_t first, uint32_t n)
{
	uint8_t *seen = calloc(n, 1);

	ck_assert_uint_eq(f->n, 2 * n);
	for (unsigned i = 0; i < f->n; i++) {
		uint32_t number = number_of(&f->all[i]) - first;

		ck_assert_uint_lt(number, n);
		ck_assert_uint_eq(f->all[i].port, 0);
		ck_assert_uint_eq(f->all[i].len, 60 + (number + first) % 1000);
		ck_assert_uint_eq(seen[number] & f->all[i].direction, 0);
		seen[number] |= (uint8_t)f->all[i].direction;
	}
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(seen[i], 3);
	free(seen);
}

START_TEST(starts_and_stops_while_packets_flow)
{
	static struct frames f;
	struct haul_capture_stats st;
	struct haul_capture *c;
	struct bed bed;

	bed_open(&bed, TWO);
	start_pollers(&bed, NULL);
	send_and_wait(&bed, 0, 500);
	c = capture_open(&bed, NULL);
	ck_assert_int_eq(haul_capture_start(c, bed.io, bed.errbuf, sizeof(bed.errbuf)), 0);
	send_and_wait(&bed, 500, 700);
	ck_assert_int_eq(haul_capture_stop(c, bed.errbuf, sizeof(bed.errbuf)), 0);
	send_and_wait(&bed, 1200, 300);
	st = capture_close(&bed, c);
	ck_assert_uint_eq(st.captured, 1400);
	ck_assert_uint_eq(st.dropped, 0);
	read_file(&f);
	check_numbers(&f, 500, 700);
	free(f.data);
	bed_close(&bed, 0);
}
END_TEST

START_TEST(goes_on_with_the_next_pollers)
{
	static struct frames f;
	struct haul_capture_stats st;
	struct haul_capture *c;
	struct bed bed;

	bed_open(&bed, TWO);
	c = capture_open(&bed, NULL);
	start_pollers(&bed, c);
	send_and_wait(&bed, 0, 400);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(haul_io_free(bed.io, bed.errbuf, sizeof(bed.errbuf)), 0);
	start_pollers(&bed, NULL);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(haul_capture_start(c, bed.io, bed.errbuf, sizeof(bed.errbuf)), 0);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_int_eq(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
		send_and_wait(&bed, 400 + 100 * i, 100);
		ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	}
	st = capture_close(&bed, c);
	ck_assert_uint_eq(st.captured, 1200);
	read_file(&f);
	check_numbers(&f, 0, 600);
	free(f.data);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

/* Sent by a handler's coroutine on carrier 0. */
struct odd {
	struct bed *bed;
	struct rte_mbuf *pkt;
};

static void *send_one(void *arg)
{
	const struct odd *odd = arg;

	ck_assert_int_eq(haul_send(haul_io_txq(odd->bed->io, 0, 0), odd->pkt), 0);
	return NULL;
}

static void send_odd(struct bed *bed, struct rte_mbuf *pkt)
{
	struct odd odd = {bed, pkt};
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed->rt, 0), &co, send_one, &odd, NULL), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

/* A packet whose tags the NIC has removed (received), or will insert (sent). */
static struct rte_mbuf *tagged(struct bed *bed, uint32_t number, bool vlan, bool qinq)
{
	struct rte_mbuf *pkt = bed_packet(bed, number);

	pkt->vlan_tci = 0x123;
	pkt->vlan_tci_outer = 0x456;
	if (vlan)
		pkt->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_TX_VLAN;
	if (qinq)
		pkt->ol_flags |= RTE_MBUF_F_RX_QINQ_STRIPPED | RTE_MBUF_F_TX_QINQ;
	return pkt;
}

/* The packet of this number in segments of 7 bytes. */
static struct rte_mbuf *segmented(struct bed *bed, uint32_t number)
{
	struct rte_mbuf *whole = bed_packet(bed, number), *pkt = NULL;
	uint32_t at = 0, some;

	for (; at < whole->pkt_len; at += some) {
		struct rte_mbuf *piece = rte_pktmbuf_alloc(bed->pool);

		some = RTE_MIN(whole->pkt_len - at, 7u);
		memcpy(rte_pktmbuf_append(piece, (uint16_t)some),
			rte_pktmbuf_mtod_offset(whole, char *, at), some);
		if (pkt)
			ck_assert_int_eq(rte_pktmbuf_chain(pkt, piece), 0);
		else
			pkt = piece;
	}
	rte_pktmbuf_free(whole);
	return pkt;
}

#define ODD 5

static bool match_odd(void *arg, const uint8_t *bytes, uint32_t len)
{
	uint32_t *most = arg;

	if (len > *most)
		*most = len;
	return bytes[0] == 0;
}

START_TEST(frames_are_those_of_the_wire)
{
	static const uint8_t tags[ODD][8] = {{0x81, 0x00, 0x01, 0x23},
		{0x88, 0xa8, 0x04, 0x56, 0x81, 0x00, 0x01, 0x23}, {0x88, 0xa8, 0x04, 0x56}};
	static const uint32_t tag_len[ODD] = {4, 8, 4, 0, 0};
	static const uint8_t zeros[12];
	static struct frames f;
	uint32_t most = 0;
	const struct haul_capture_opts opts = {.match = match_odd, .match_arg = &most};
	struct haul_capture *c;
	struct bed bed;

	bed_open(&bed, TWO);
	c = capture_open(&bed, &opts);
	start_pollers(&bed, c);
	send_odd(&bed, tagged(&bed, 80, true, false));
	send_odd(&bed, tagged(&bed, 70, true, true));
	send_odd(&bed, tagged(&bed, 60, false, true));
	send_odd(&bed, segmented(&bed, 50));
	send_odd(&bed, segmented(&bed, 40));
	WAIT_UNTIL(bed_stats(&bed, 0, HAUL_ALL).rx_packets == ODD);
	ck_assert_int_eq(haul_capture_stop(c, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_uint_eq(capture_close(&bed, c).captured, 2 * ODD);
	read_file(&f);
	ck_assert_uint_eq(f.n, 2 * ODD);
	for (unsigned i = 0; i < f.n; i++) {
		const struct frame *frame = &f.all[i];
		uint32_t extra, number;
		unsigned k;

		for (k = 0; k < ODD; k++)
			if (frame->len == 140 - 10 * k + tag_len[k])
				break;
		ck_assert_uint_lt(k, ODD);
		extra = tag_len[k];
		ck_assert_uint_eq(frame->captured, frame->len);
		ck_assert_mem_eq(frame->bytes, zeros, 12);
		ck_assert_mem_eq(frame->bytes + 12, tags[k], extra);
		memcpy(&number, frame->bytes + 12 + extra + 2, sizeof(number));
		ck_assert_uint_eq(number, 80 - 10 * k);
	}
	ck_assert_uint_eq(most, 60 + 80 + 4);
	free(f.data);
	bed_close(&bed, 0);
}
END_TEST

START_TEST(refuses_misuse_with_a_line)
{
	struct haul_capture_opts wrong[6];
	struct haul_capture *c, *other;
	struct haul_port *swapped[2];
	struct bed bed;

	bed_open(&bed, TWO);
	capture_close(&bed, capture_open(&bed, NULL));
	for (unsigned i = 0; i < 6; i++)
		wrong[i] = (struct haul_capture_opts){
			.ports = bed.ports, .nb_ports = 2, .carriers = BED_CARRIERS, .file = file};
	wrong[0].nb_ports = 0;
	wrong[1].carriers = 0;
	wrong[2].file = "";
	wrong[3].ring_bytes = 3 << 20;
	wrong[4].directions = (enum haul_capture_directions)3;
	wrong[5].file = "/nowhere/x";
	for (unsigned i = 0; i < 6; i++)
		ck_assert_int_eq(haul_capture_open(&c, &wrong[i], bed.errbuf, sizeof(bed.errbuf)),
			i < 5 ? -EINVAL : -ENOENT);
	start_pollers(&bed, NULL);
	c = capture_open(&bed, NULL);
	other = capture_open(&bed, NULL);
	ck_assert_int_eq(haul_capture_stop(c, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(haul_capture_start(c, bed.io, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(haul_capture_start(c, bed.io, bed.errbuf, sizeof(bed.errbuf)), -EBUSY);
	ck_assert_int_eq(haul_capture_start(other, bed.io, bed.errbuf, sizeof(bed.errbuf)), -EBUSY);
	ck_assert_int_eq(haul_capture_close(c, 0, NULL, bed.errbuf, sizeof(bed.errbuf)), -EBUSY);
	ck_assert_int_eq(haul_capture_stop(c, bed.errbuf, sizeof(bed.errbuf)), 0);
	capture_close(&bed, other);
	swapped[0] = bed.ports[1];
	swapped[1] = bed.ports[0];
	wrong[5] = wrong[0];
	wrong[5].nb_ports = 2;
	wrong[5].ports = swapped;
	ck_assert_int_eq(haul_capture_open(&other, &wrong[5], bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(
		haul_capture_start(other, bed.io, bed.errbuf, sizeof(bed.errbuf)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "other ports"));
	capture_close(&bed, other);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	capture_close(&bed, c);
	ck_assert_int_eq(bed_take_down(&bed), 0);
	unlink(file);
}
END_TEST

BED_MAIN("io_capture", {starts_and_stops_while_packets_flow}, {goes_on_with_the_next_pollers},
	{frames_are_those_of_the_wire}, {refuses_misuse_with_a_line})
