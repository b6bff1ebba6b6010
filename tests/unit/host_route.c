/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and routes of a host, against a search through all prefixes. */
#include "host/route.h"

#include <arpa/inet.h>

#include "base/random.h"
#include "support/suite.h"

static struct hauli_ip ip(const char *text)
{
	uint8_t bytes[16];

	if (inet_pton(AF_INET, text, bytes) == 1)
		return hauli_ip4(bytes);
	ck_assert_int_eq(inet_pton(AF_INET6, text, bytes), 1);
	return hauli_ip6(bytes);
}

static struct hauli_own own(const char *text, unsigned length, unsigned port)
{
	struct hauli_ip i = ip(text);

	return (struct hauli_own){
		.ip = i, .length = length + (hauli_ip_is_4(i) ? 96 : 0), .port = port};
}

static struct hauli_route route(const char *to, unsigned length, const char *gateway, unsigned port)
{
	struct hauli_route r = {.to = ip(to),
		.length = length,
		.kind = gateway ? HAULI_ROUTE_GATEWAY : HAULI_ROUTE_DIRECT,
		.port = port};

	if (hauli_ip_is_4(r.to))
		r.length += 96;
	if (gateway)
		r.gateway = ip(gateway);
	return r;
}

struct expected {
	const char *to;
	enum hauli_route_kind kind;
	unsigned port;
	const char *gateway, *from;
};

static void check(const struct hauli_routes *r, const struct expected *e)
{
	const struct hauli_route *found = hauli_routes_find(r, ip(e->to));

	ck_assert_msg(found->kind == e->kind, "%s: kind %u", e->to, found->kind);
	if (e->kind == HAULI_ROUTE_NONE || e->kind == HAULI_ROUTE_GROUP)
		return;
	ck_assert_msg(found->port == e->port, "%s: port %u", e->to, found->port);
	if (e->gateway)
		ck_assert_msg(hauli_ip_equal(found->gateway, ip(e->gateway)), "%s", e->to);
	if (e->from)
		ck_assert_msg(found->own && hauli_ip_equal(found->own->ip, ip(e->from)), "%s from",
			e->to);
	else
		ck_assert_ptr_null(found->own);
}

START_TEST(two_ports)
{
	const struct hauli_own owns[] = {own("172.16.0.1", 12, 0), own("10.0.0.1", 24, 0),
		own("10.1.0.1", 16, 1), own("fd00::1", 64, 0), own("10.0.0.9", 24, 0),
		own("192.0.2.1", 31, 1)};
	const struct hauli_route routes[] = {route("0.0.0.0", 0, "10.0.0.254", 0),
		route("10.1.2.0", 24, "10.1.0.2", 1), route("10.9.0.0", 16, NULL, 1),
		route("10.1.2.0", 24, "10.1.0.3", 1), route("fd01::", 16, "fd00::2", 0),
		route("fe80::", 10, NULL, 1)};
	struct hauli_routes *r = hauli_routes_build(owns, 6, routes, 6);
	const struct expected all[] = {
		{"10.0.0.1", HAULI_ROUTE_OWN, 0, NULL, "10.0.0.1"},
		{"10.0.0.9", HAULI_ROUTE_OWN, 0, NULL, "10.0.0.9"},
		{"10.0.0.2", HAULI_ROUTE_DIRECT, 0, NULL, "10.0.0.1"},
		{"10.0.0.0", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"10.0.0.255", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"10.0.1.0", HAULI_ROUTE_GATEWAY, 0, "10.0.0.254", "10.0.0.1"},
		{"9.255.255.255", HAULI_ROUTE_GATEWAY, 0, "10.0.0.254", "10.0.0.1"},
		{"10.1.1.255", HAULI_ROUTE_DIRECT, 1, NULL, "10.1.0.1"},
		{"10.1.2.0", HAULI_ROUTE_GATEWAY, 1, "10.1.0.2", "10.1.0.1"},
		{"10.1.2.255", HAULI_ROUTE_GATEWAY, 1, "10.1.0.2", "10.1.0.1"},
		{"10.1.3.0", HAULI_ROUTE_DIRECT, 1, NULL, "10.1.0.1"},
		{"10.1.255.255", HAULI_ROUTE_GROUP, 1, NULL, NULL},
		{"10.9.7.7", HAULI_ROUTE_DIRECT, 1, NULL, "10.1.0.1"},
		{"192.0.2.0", HAULI_ROUTE_DIRECT, 1, NULL, "192.0.2.1"},
		{"192.0.2.1", HAULI_ROUTE_OWN, 1, NULL, "192.0.2.1"},
		{"127.0.0.1", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"0.0.0.0", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"239.1.2.3", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"255.255.255.255", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"255.255.255.254", HAULI_ROUTE_GATEWAY, 0, "10.0.0.254", "10.0.0.1"},
		{"::", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"::1", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"::2", HAULI_ROUTE_NONE, 0, NULL, NULL},
		{"fd00::1", HAULI_ROUTE_OWN, 0, NULL, "fd00::1"},
		{"fd00::2", HAULI_ROUTE_DIRECT, 0, NULL, "fd00::1"},
		{"fd00:0:0:1::", HAULI_ROUTE_NONE, 0, NULL, NULL},
		{"fd01::1", HAULI_ROUTE_GATEWAY, 0, "fd00::2", "fd00::1"},
		{"fe80::7", HAULI_ROUTE_DIRECT, 1, NULL, NULL},
		{"ff02::1", HAULI_ROUTE_GROUP, 0, NULL, NULL},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", HAULI_ROUTE_GROUP, 0, NULL, NULL},
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check(r, &all[i]);
	ck_assert_ptr_null(hauli_routes_own(r, 1, ip("10.0.0.1")));
	ck_assert_ptr_nonnull(hauli_routes_own(r, 0, ip("10.0.0.1")));
	ck_assert_ptr_null(hauli_routes_source(r, 1, ip("fd00::7")));
	hauli_routes_free(r);
}
END_TEST

START_TEST(link_local_addresses_of_several_ports)
{
	const struct hauli_own owns[] = {own("fe80::1", 64, 0), own("fd00::1", 64, 0),
		own("fe80::2", 64, 1), own("fd01::1", 64, 1), own("10.1.0.1", 24, 1)};
	const struct hauli_route routes[] = {route("::", 0, "fe80::9", 1),
		route("2001:db8::", 32, "fe80::9", 0), route("fe80::7", 128, NULL, 1)};
	struct hauli_routes *r = hauli_routes_build(owns, 5, routes, 3);
	const struct expected all[] = {
		{"fe80::1", HAULI_ROUTE_OWN, 0, NULL, "fe80::1"},
		{"fe80::2", HAULI_ROUTE_OWN, 1, NULL, "fe80::2"},
		{"fe80::7", HAULI_ROUTE_DIRECT, 1, NULL, "fe80::2"},
		{"fe80::8", HAULI_ROUTE_AMBIGUOUS, 0, NULL, NULL},
		{"2001:db8::1", HAULI_ROUTE_GATEWAY, 0, "fe80::9", "fd00::1"},
		{"2001:db9::1", HAULI_ROUTE_GATEWAY, 1, "fe80::9", "fd01::1"},
	};
	const struct hauli_own *one = owns;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check(r, &all[i]);
	hauli_routes_free(r);
	/* Of one port, and with nothing else as a source. */
	r = hauli_routes_build(one, 1, &routes[1], 1);
	check(r, &(struct expected){"fe80::8", HAULI_ROUTE_DIRECT, 0, NULL, "fe80::1"});
	check(r, &(struct expected){"2001:db8::1", HAULI_ROUTE_GATEWAY, 0, "fe80::9", "fe80::1"});
	hauli_routes_free(r);
}
END_TEST

START_TEST(an_ipv6_default_is_none_of_ipv4)
{
	const struct hauli_own o = own("fd00::1", 64, 0);
	const struct hauli_route routes[] = {route("::", 0, "fd00::2", 0)};
	struct hauli_routes *r = hauli_routes_build(&o, 1, routes, 1);

	check(r, &(struct expected){"1.2.3.4", HAULI_ROUTE_NONE, 0, NULL, NULL});
	check(r, &(struct expected){"2001:db8::1", HAULI_ROUTE_GATEWAY, 0, "fd00::2", "fd00::1"});
	check(r,
		&(struct expected){
			"::fffe:ffff:ffff", HAULI_ROUTE_GATEWAY, 0, "fd00::2", "fd00::1"});
	check(r, &(struct expected){"::1:0:0:0", HAULI_ROUTE_GATEWAY, 0, "fd00::2", "fd00::1"});
	hauli_routes_free(r);
}
END_TEST

START_TEST(an_empty_table)
{
	struct hauli_routes *r = hauli_routes_build(NULL, 0, NULL, 0);

	check(r, &(struct expected){"1.2.3.4", HAULI_ROUTE_NONE, 0, NULL, NULL});
	check(r, &(struct expected){"fd00::1", HAULI_ROUTE_NONE, 0, NULL, NULL});
	hauli_routes_free(r);
}
END_TEST

#define MANY 300u

/* Few bits differ, so that prefixes lie in each other. */
static struct hauli_ip some_ip(struct hauli_random *random)
{
	uint64_t x =
		hauli_random_next(random) & hauli_random_next(random) & hauli_random_next(random);

	if (hauli_random_below(random, 2))
		return (struct hauli_ip){0, HAULI_IP4_MAPPED | 0x0a000000 | (x & 0xff00ffff)};
	return (struct hauli_ip){UINT64_C(0xfd) << 56 | (x & 0xffff), x >> 32};
}

START_TEST(random_routes_as_a_search_through_all)
{
	struct hauli_route routes[MANY];
	struct hauli_random random;
	struct hauli_routes *r;

	hauli_random_init(&random, (uint64_t)_i + 1);
	for (unsigned i = 0; i < MANY; i++) {
		struct hauli_ip to = some_ip(&random);
		unsigned least = hauli_ip_is_4(to) ? 104 : 8;

		routes[i] = (struct hauli_route){.to = to,
			.length = least + hauli_random_below(&random, 129 - least),
			.kind = HAULI_ROUTE_GATEWAY,
			.port = i,
			.gateway = to};
	}
	r = hauli_routes_build(NULL, 0, routes, MANY);
	for (unsigned k = 0; k < 5000; k++) {
		struct hauli_ip to = k % 3 ? some_ip(&random) : routes[k % MANY].to;
		const struct hauli_route *found, *best = NULL;

		/* Beside an edge. */
		to.lo ^= k % 5 == 0;
		found = hauli_routes_find(r, to);
		for (unsigned i = 0; i < MANY; i++)
			if (hauli_ip_within(to, routes[i].to, routes[i].length) &&
				(!best || routes[i].length > best->length))
				best = &routes[i];
		if (!best)
			ASSERT_EACH(found->kind != HAULI_ROUTE_GATEWAY);
		else if (found->kind != HAULI_ROUTE_GROUP)
			ASSERT_EACH(found->port == best->port);
	}
	hauli_routes_free(r);
}
END_TEST

SUITE_MAIN("routes of a host", {two_ports, 1}, {link_local_addresses_of_several_ports, 1},
	{an_ipv6_default_is_none_of_ipv4, 1}, {an_empty_table, 1},
	{random_routes_as_a_search_through_all, 30})
