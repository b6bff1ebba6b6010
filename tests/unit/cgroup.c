/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of cgroups, read from directories made to look like the kernel's. */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <haul/topo.h>

#include "base/cgroup.h"
#include "base/random.h"
#include "support/suite.h"

static char root[PATH_MAX], own[PATH_MAX + 8];

/* Removes what a test has written. */
static int end(void)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return root[0] ? system(command) : 0;
}

static void begin(void)
{
	ck_assert_int_eq(end(), 0);
	snprintf(root, sizeof(root), "%s/haul-cgroup.XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(own, sizeof(own), "%s/own", root);
}

/* Writes text to root/path, and makes its directories. */
static void put(const char *path, const char *text)
{
	char name[2 * PATH_MAX];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(name, 0700);
		*at = '/';
	}
	file = fopen(name, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static double cpus(void)
{
	return hauli_cgroup_cpus_in(root, own);
}

static uint64_t memory(void)
{
	return hauli_cgroup_memory_in(root, own);
}

START_TEST(without_cgroups_nothing_is_limited)
{
	begin();
	ck_assert(cpus() == 0);
	ck_assert_uint_eq(memory(), UINT64_MAX);
	put("own", "0::/\n");
	ck_assert(cpus() == 0);
	ck_assert_uint_eq(memory(), UINT64_MAX);
}
END_TEST

START_TEST(version_2)
{
	begin();
	put("own", "0::/pod/own\n");
	put("pod/own/cpu.max", "max 100000\n");
	put("pod/own/memory.max", "max\n");
	put("pod/own/memory.current", "1000\n");
	ck_assert(cpus() == 0);
	ck_assert_uint_eq(memory(), UINT64_MAX);
	put("pod/own/cpu.max", "250000 100000\n");
	ck_assert(cpus() == 2.5);
	put("pod/cpu.max", "150000 100000\n"); /* the parent allows less */
	ck_assert(cpus() == 1.5);
	put("pod/own/cpu.max", "4294967396 100000\n"); /* more than 32 bits; the parent counts */
	ck_assert(cpus() == 1.5);
	put("pod/own/memory.max", "5000\n");
	ck_assert_uint_eq(memory(), 4000);
	put("pod/own/memory.stat", "anon 400\ninactive_file 600\nactive_file 0\n");
	ck_assert_uint_eq(memory(), 4600);
	put("pod/memory.max", "900\n");
	put("pod/memory.current", "1000\n");
	ck_assert_uint_eq(memory(), 0);
}
END_TEST

START_TEST(version_1)
{
	begin();
	put("own", "9:name=systemd:/\n5:cpu,cpuacct:/a\n4:memory:/a/b\n3:cpuset:/\n0::/\n");
	put("cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
	put("cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
	put("memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	put("memory/a/b/memory.usage_in_bytes", "1000\n");
	ck_assert(cpus() == 0);
	ck_assert_uint_eq(memory(), UINT64_MAX);
	put("cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n");
	ck_assert(cpus() == 0.5);
	put("memory/a/memory.limit_in_bytes", "4096\n");
	put("memory/a/memory.usage_in_bytes", "2048\n");
	put("memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
	ck_assert_uint_eq(memory(), 3048);
	put("own", "5:cpuacct,cpu:/\n");
	put("cpuacct,cpu/cpu.cfs_quota_us", "100000\n");
	put("cpuacct,cpu/cpu.cfs_period_us", "100000\n");
	ck_assert(cpus() == 1);
}
END_TEST

/* A container that has its own cgroup mounted, and sees the host's path. */
START_TEST(path_of_the_host)
{
	begin();
	put("own", "0::/system.slice/docker-0123.scope\n");
	put("cpu.max", "150000 100000\n");
	put("memory.max", "1000\n");
	put("memory.current", "100\n");
	ck_assert(cpus() == 1.5);
	ck_assert_uint_eq(memory(), 900);
}
END_TEST

START_TEST(garbage_limits_nothing_and_harms_nothing)
{
	static const char *const files[] = {"own", "cpu.max", "memory.max", "memory.current",
		"memory.stat", "a/cpu.max", "a/memory.max", "a/memory.current"};
	static const char *const parts[] = {"0::", "/a", "/", ":", ",", "cpu", "memory", "max",
		"100000", " ", "\n", "-1", "inactive_file ", "99999999999999999999999",
		"../../../../../../..", "%s%s%n", "\xff\xfe", ""};
	struct hauli_random random;

	hauli_random_init(&random, 1);
	begin();
	for (int round = 0; round < 2000; round++) {
		char text[256] = "";
		double got;

		for (int i = 0; i < 8; i++) {
			size_t part = hauli_random_below(&random, sizeof(parts) / sizeof(parts[0]));

			strncat(text, parts[part], sizeof(text) - strlen(text) - 1);
		}
		put(files[hauli_random_below(&random, sizeof(files) / sizeof(files[0]))], text);
		got = cpus();
		ck_assert(got >= 0 && isfinite(got));
		(void)memory();
	}
}
END_TEST

static void *ask(void *arg)
{
	volatile char base;
	char *low = arg; /* of the stack */

	memset(low, 0x5a, (size_t)(&base - low) - 2048);
	(void)haul_cgroup_memory();
	for (; low < &base; low++) {
		if (*low != 0x5a)
			return (void *)(&base - low);
	}
	return NULL;
}

/* Handlers with stacks of 8 KiB, of which they may have used some, ask. */
START_TEST(asking_takes_little_stack)
{
	static char stack[256 << 10] __attribute__((aligned(4096)));
	pthread_attr_t attr;
	pthread_t thread;
	void *used;

	pthread_attr_init(&attr);
	ck_assert_int_eq(pthread_attr_setstack(&attr, stack, sizeof(stack)), 0);
	ck_assert_int_eq(pthread_create(&thread, &attr, ask, stack), 0);
	pthread_join(thread, &used);
	pthread_attr_destroy(&attr);
	ck_assert_uint_lt((uintptr_t)used, 5000);
}
END_TEST

/* What take() finds left, and how often it looked. */
static uint64_t left_now;
static unsigned looks;

static uint64_t left(void)
{
	looks++;
	return left_now;
}

static bool take(struct hauli_allowance *allowance, size_t bytes, uint64_t now)
{
	return hauli_allowance_take_at(allowance, bytes, 1000, now, left);
}

/* Others take memory and give it back, and limits come, go and change, while a pool grows. */
START_TEST(allowance_follows_the_limit)
{
	struct hauli_allowance allowance = {0};

	left_now = UINT64_MAX;
	looks = 0;
	ck_assert(take(&allowance, 5000, 1000));
	ck_assert(take(&allowance, 5000, 1001));
	ck_assert_uint_eq(looks, 1);
	left_now = 3000; /* there is a limit now */
	ck_assert(!take(&allowance, 5000, 2000));
	ck_assert(take(&allowance, 2000, 2000));
	left_now = 1000;
	for (int i = 0; i < 10000; i++) /* a flood does not look each time */
		ck_assert(!take(&allowance, 1, 2000));
	ck_assert_uint_le(looks, 4);
	left_now = 1 << 30; /* it was raised: a single call hears of it */
	ck_assert(take(&allowance, 1000, 3000));
	left_now = 1500; /* taken by others; what was granted is void */
	ck_assert(take(&allowance, 500, 4000));
	left_now = 1000;
	ck_assert(!take(&allowance, 1, 4000));
	left_now = UINT64_MAX;
	ck_assert(take(&allowance, SIZE_MAX, 5000));
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{without_cgroups_nothing_is_limited},
		{version_2},
		{version_1},
		{path_of_the_host},
		{garbage_limits_nothing_and_harms_nothing},
		{allowance_follows_the_limit},
		{asking_takes_little_stack},
	};
	int rc = suite_run("cgroup", tests, sizeof(tests) / sizeof(tests[0]));

	return end() == 0 ? rc : EXIT_FAILURE;
}
