/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplicate address detection of a host on ports of a test, in virtual time. */
#include "host_bed.h"

#include <rte_arp.h>

#include "support/suite.h"

static enum haul_address_state address_state(const char *of)
{
	struct haul_addr a = addr(of);

	return haul_host_address_state(bed_host, 0, &a);
}

static int send_udp(const char *to)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_addr a = addr(to);
	int err = haul_host_send_udp(bed_host, m, &a, 1000, 2000, 0);

	if (err)
		rte_pktmbuf_free(m);
	return err;
}

/* True if the next frame is a probe of an address, after that long. */
static bool probes(const char *of, uint64_t since, uint64_t least, uint64_t most, uint64_t *at)
{
	struct said s;

	if (!next(0, &s, haul_in(10 * HAUL_S)) || !is_question(&s, of) || !is_to_all(&s) ||
		!is(&s.src, strchr(of, ':') ? "::" : "0.0.0.0"))
		return false;
	*at = s.at;
	return s.at >= since + least && s.at <= since + most;
}

static bool is_announced(const char *of, uint64_t at)
{
	struct said s;

	return next(0, &s, haul_in(10 * HAUL_S)) && is(&s.src, of) && is(&s.target, of) &&
		is_to_all(&s) && s.at >= at && s.at <= at + HAUL_MS;
}

static bool is_silent(uint64_t ns)
{
	struct said s;

	return !next(HAUL_ANY, &s, haul_in(ns));
}

static void check(const char *text, const char *own, const char *peer)
{
	bool v4 = !strchr(own, ':');
	uint64_t began = haul_now(), at = began;

	FAIL_UNLESS(!haul_host_add_address(bed_host, 0, text, line, sizeof(line)));
	FAIL_UNLESS(probes(own, at, 0, HAUL_S, &at));
	FAIL_UNLESS(address_state(own) == HAUL_ADDRESS_TENTATIVE);
	/* It is in no packet yet, and not answered for. */
	FAIL_UNLESS(send_udp(peer) == -EADDRNOTAVAIL);
	FAIL_UNLESS(feed_echo(0, own, NULL, 0) && feed_question(0, peer, peer_mac, own));
	if (v4) {
		FAIL_UNLESS(probes(own, at, HAUL_S, 2 * HAUL_S, &at));
		FAIL_UNLESS(probes(own, at, HAUL_S, 2 * HAUL_S, &at));
	}
	at += v4 ? 2 * HAUL_S : HAUL_S;
	FAIL_UNLESS(is_announced(own, at) && is_announced(own, at + HAUL_S));
	FAIL_UNLESS(at <= began + (v4 ? 7 : 2) * HAUL_S);
	FAIL_UNLESS(address_state(own) == HAUL_ADDRESS_VALID);
	FAIL_UNLESS(is_silent(100 * HAUL_S));
	FAIL_UNLESS(send_udp(peer) == -EAGAIN); /* it asks for the neighbour */
	FAIL_UNLESS(!is_silent(HAUL_MS));
	FAIL_UNLESS(is_silent(HAUL_MS) && feed_echo(0, own, NULL, 0) && !is_silent(HAUL_MS));
	FAIL_UNLESS(stats(0).duplicates == 0);
	while (!is_silent(10 * HAUL_S))
		; /* the neighbour does not answer */
}

static void addresses_are_checked(void *arg)
{
	(void)arg;
	FAIL_UNLESS(address_state("10.0.0.1") == HAUL_ADDRESS_NONE);
	FAIL_UNLESS(!haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)));
	check("10.0.0.1/24", "10.0.0.1", "10.0.0.7");
	check("fd00::1/64", "fd00::1", "fd00::7");
	/* Others ask whether they may have it: it is ours. */
	FAIL_UNLESS(pass(100 * HAUL_S));
	while (!is_silent(HAUL_MS))
		;
	FAIL_UNLESS(feed_question(0, "0.0.0.0", other_mac, "10.0.0.1") && !is_silent(HAUL_MS));
	FAIL_UNLESS(feed_question(0, "::", other_mac, "fd00::1") && !is_silent(HAUL_MS));
	FAIL_UNLESS(address_state("10.0.0.1") == HAUL_ADDRESS_VALID);
	FAIL_UNLESS(address_state("fd00::1") == HAUL_ADDRESS_VALID);
}

START_TEST(an_address_is_used_when_nobody_else_has_it)
{
	start(&(struct haul_host_opts){.detect_duplicates = true}, _i);
	run(addresses_are_checked, NULL);
}
END_TEST

/* The ways to learn that another host has an address, or wants it. */
static bool claim(unsigned way, const char *own)
{
	if (way == 0) /* an answer, to all */
		return feed_announcement(0, own, other_mac);
	if (way == 1) /* the same question */
		return feed_question(0, strchr(own, ':') ? "::" : "0.0.0.0", other_mac, own);
	/* It asks somebody else. */
	return feed_question(0, own, other_mac, "10.0.0.99");
}

static void be_a_duplicate(const char *text, const char *own, unsigned way, bool before_first)
{
	uint64_t at = haul_now(), count = stats(0).duplicates;
	struct said s;

	FAIL_UNLESS(!haul_host_add_address(bed_host, 0, text, line, sizeof(line)));
	if (!before_first)
		FAIL_UNLESS(probes(own, at, 0, HAUL_S, &at));
	FAIL_UNLESS(claim(way, own));
	FAIL_UNLESS(is_silent(100 * HAUL_S));
	FAIL_UNLESS(address_state(own) == HAUL_ADDRESS_DUPLICATE);
	FAIL_UNLESS(stats(0).duplicates == count + 1);
	FAIL_UNLESS(feed_echo(0, own, NULL, 0) && is_silent(HAUL_S));
	FAIL_UNLESS(feed_question(0, strchr(own, ':') ? "fd00::7" : "10.0.0.7", peer_mac, own));
	FAIL_UNLESS(is_silent(HAUL_S));
	/* It may be tried again. */
	FAIL_UNLESS(!haul_host_remove_address(bed_host, 0, text, line, sizeof(line)));
	FAIL_UNLESS(address_state(own) == HAUL_ADDRESS_NONE);
	FAIL_UNLESS(!haul_host_add_address(bed_host, 0, text, line, sizeof(line)));
	FAIL_UNLESS(next(0, &s, haul_in(10 * HAUL_S)) && is_question(&s, own));
	FAIL_UNLESS(!haul_host_remove_address(bed_host, 0, text, line, sizeof(line)));
	FAIL_UNLESS(is_silent(100 * HAUL_S));
}

static void duplicates_are_found(void *arg)
{
	(void)arg;
	FAIL_UNLESS(!haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)));
	for (unsigned way = 0; way < 3; way++)
		be_a_duplicate("10.0.0.1/24", "10.0.0.1", way, way == 1);
	for (unsigned way = 0; way < 2; way++)
		be_a_duplicate("fd00::1/64", "fd00::1", way, way == 1);
}

START_TEST(an_address_of_another_host_stays_unused)
{
	start(&(struct haul_host_opts){.detect_duplicates = true}, _i);
	run(duplicates_are_found, NULL);
}
END_TEST

/* A gateway in the network of an address that is being checked, and what came before the start. */
static void starts(void *arg)
{
	struct said s;
	uint64_t at = haul_now();

	(void)arg;
	FAIL_UNLESS(!haul_host_add_address(bed_host, 0, "10.0.0.1/24", line, sizeof(line)));
	FAIL_UNLESS(!haul_host_add_route(bed_host, "0.0.0.0/0", "10.0.0.9", 0, line, sizeof(line)));
	for (unsigned i = 0; i < 2; i++) {
		FAIL_UNLESS(!haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)));
		at = haul_now();
		FAIL_UNLESS(probes("10.0.0.1", at, 0, HAUL_S, &at));
		FAIL_UNLESS(send_udp("192.0.2.1") == -EADDRNOTAVAIL);
		while (next(0, &s, haul_in(10 * HAUL_S)))
			;
		FAIL_UNLESS(send_udp("192.0.2.1") == -EAGAIN);
		FAIL_UNLESS(next(0, &s, haul_in(HAUL_S)) && is_question(&s, "10.0.0.9"));
		FAIL_UNLESS(is(&s.src, "10.0.0.1"));
		haul_host_stop(bed_host);
	}
	FAIL_UNLESS(address_state("10.0.0.1") == HAUL_ADDRESS_VALID);
}

START_TEST(each_start_checks_all)
{
	start(&(struct haul_host_opts){.detect_duplicates = true}, _i);
	run(starts, NULL);
}
END_TEST

/* An address in the place of another one, which was to be checked or announced. */
static void replaces(void *checks)
{
	static const char *const texts[] = {"10.0.0.1/24", "fd00::1/64", "10.0.0.2/24"},
				 *const ips[] = {"10.0.0.1", "fd00::1", "10.0.0.2"};

	FAIL_UNLESS(!haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)));
	for (unsigned i = 0; i < 3; i++) {
		uint64_t at = haul_now();

		FAIL_UNLESS(!haul_host_add_address(bed_host, 0, texts[i], line, sizeof(line)));
		if (checks)
			FAIL_UNLESS(address_state(ips[i]) == HAUL_ADDRESS_TENTATIVE &&
				probes(ips[i], at, 0, HAUL_S, &at));
		else
			FAIL_UNLESS(is_announced(ips[i], at));
		FAIL_UNLESS(!haul_host_remove_address(bed_host, 0, texts[i], line, sizeof(line)));
	}
	FAIL_UNLESS(is_silent(100 * HAUL_S));
}

START_TEST(an_address_takes_the_place_of_another_one)
{
	const struct haul_host_opts opts = {.addresses_max = 1, .detect_duplicates = _i / 2};

	start(&opts, _i);
	run(replaces, _i / 2 ? &wrong : NULL);
}
END_TEST

SUITE_MAIN("duplicate address detection", {an_address_is_used_when_nobody_else_has_it, 2},
	{an_address_of_another_host_stays_unused, 2}, {each_start_checks_all, 2},
	{an_address_takes_the_place_of_another_one, 4})
