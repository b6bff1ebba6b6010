/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A day of haul-dns in virtual time: clients ask without a pause, servers fail in all ways that the
 * bed knows, the configuration is read again, the service is restarted each hour. No memory, no
 * descriptor and no thread is left over from any hour.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "base/random.h"
#include "dns_client.h"

enum { HOURS = 24, SERVERS = 4, NAMES = 300, PACE_S = 2, CLIENTS_MOST = 64 };

static struct hauli_random randomness;
static uint64_t asked, answered;
static unsigned under_way;

static unsigned below(unsigned n)
{
	return hauli_random_below(&randomness, n);
}

static void *visit(void *arg)
{
	static const unsigned types[] = {DNS_A, 28 /* AAAA */, 16 /* TXT */, 255 /* ANY */};
	struct dns_client_visit *c = malloc(sizeof(*c));
	char name[32] = "local.example";

	if (below(20) > 0)
		snprintf(name, sizeof(name), "n%u.example.org", below(NAMES));
	dns_client_init(c, name, types[below(4)], (int)below(3) * 8 - 8);
	dns_client_serve(c);
	asked++;
	answered += c->served == DNS_SERVED;
	free(c);
	under_way--;
	return arg;
}

static void servers_change(void)
{
	struct dns_net_server *s = &dns_net_servers[below(SERVERS)];

	s->does = (enum dns_net_does)below(DOES_CONTRADICT + 1);
	s->does_tcp = below(2) ? DOES_ANSWER : DOES_NOTHING;
	s->tcp_error = below(4) ? 0 : -ECONNREFUSED;
	s->delay = below(3000) * HAUL_MS;
	s->ttl = below(2) ? 1 + below(600) : 0;
	s->lost = below(3);
}

static void hour(void)
{
	dns_client_begin(SERVERS, "10.0.0.0/8");
	for (unsigned s = 0; s < 3600; s += PACE_S) {
		if (s % 30 == 0)
			servers_change();
		if (s % 600 == 0)
			dns_client_reload(
				1 + below(SERVERS), below(4) ? "10.0.0.0/8" : "10.1.0.0/16");
		if (under_way < CLIENTS_MOST) {
			under_way++;
			FAIL_UNLESS(haul_spawn(NULL, visit, NULL, NULL) == 0);
		}
		haul_sleep(PACE_S * HAUL_S);
	}
	while (under_way > 0)
		haul_sleep(HAUL_S);
	haul_sleep(10 * HAUL_S); /* servers that answer late */
	dns_client_end();
}

static unsigned entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* What the process has. */
struct had {
	size_t heap; /* bytes in use */
	unsigned eal; /* pieces of memory of EAL's */
	unsigned fds, threads;
};

static struct had look(void)
{
	struct rte_malloc_socket_stats eal = {0};

	rte_malloc_get_socket_stats(0, &eal);
	return (struct had){mallinfo2().uordblks, eal.alloc_count, entries("/proc/self/fd"),
		entries("/proc/self/task")};
}

/* A thread that was joined is still listed for a moment. */
static bool threads_are(unsigned n)
{
	for (unsigned ms = 0; ms < 10000; ms++) {
		if (entries("/proc/self/task") == n)
			return true;
		usleep(1000); /* until the kernel has removed it */
	}
	return false;
}

START_TEST(a_day_leaves_nothing)
{
	struct had first = {0}, now;

	hauli_random_init(&randomness, 1);
	for (unsigned i = 0; i < HOURS; i++) {
		dns_net_run(hour);
		now = look();
		/* What is made once is there by now, and what malloc() keeps for later. */
		if (i == HOURS / 2)
			first = now;
		if (i <= HOURS / 2)
			continue;
		/* DPDK's null PMD keeps a frame of each queue. */
		ck_assert_uint_le(now.eal, first.eal + (i - HOURS / 2) * 2 * DNS_NET_CARRIERS);
		ck_assert_uint_eq(now.fds, first.fds);
		ck_assert(threads_are(first.threads));
		ck_assert_uint_le(now.heap, first.heap + 8192);
	}
	ck_assert_uint_ge(asked, HOURS * 3600 / PACE_S * 9 / 10);
	ck_assert_uint_ge(answered, asked / 2);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {{a_day_leaves_nothing}};

	return suite_run("dns_day", tests, 1);
}
