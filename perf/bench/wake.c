/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long does a packet take from the kernel to a handler if the poller sleeps, beside a loop on
 * the same PMD that waits for the same descriptor and then receives, and a loop on the kernel's own
 * socket or TAP? One operation is one way; its time is the median of the run.
 *
 * Runs in a private network with cables v0-v1 and w0-w1: perf/private makes it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/wake.h"
#include "harness/bed.h"

/* A run: long enough for a median, short enough to fit between disturbances. */
#define QUESTIONS 200

static const char *const specs[] = {"tap:t0", "afpacket:v0", "afxdp:v0"};
static struct wake_asker by_haul, by_dpdk, by_socket;
static struct wake_dpdk dpdk;
static int socket_fd;

static int open_side(struct wake_asker *asker, const char *name, uint64_t kind)
{
	bool first = !perf_bed()->port;
	int err = perf_bed_hold(specs[kind], NULL);

	if (!err && first)
		err = wake_dpdk_find(&dpdk, (enum wake_kind)kind);
	return err ? err : wake_asker_open(asker, name, kind == WAKE_TAP ? "t0" : "v1");
}

static int haul_setup(uint64_t kind)
{
	return open_side(&by_haul, "haul", kind);
}

static uint64_t haul_run(uint64_t n)
{
	return wake_by_haul(&by_haul, n);
}

static void haul_teardown(void)
{
	wake_asker_close(&by_haul);
	perf_bed_release();
}

static int dpdk_setup(uint64_t kind)
{
	return open_side(&by_dpdk, "DPDK", kind);
}

static uint64_t dpdk_run(uint64_t n)
{
	return wake_by_dpdk(&by_dpdk, &dpdk, n);
}

static void dpdk_teardown(void)
{
	wake_asker_close(&by_dpdk);
	perf_bed_release();
}

static int socket_setup(uint64_t kind)
{
	socket_fd = kind == WAKE_TAP ? wake_tap_open("t1") : wake_socket_open("w0");
	if (socket_fd < 0)
		return socket_fd;
	return wake_asker_open(&by_socket, "socket", kind == WAKE_TAP ? "t1" : "w1");
}

static uint64_t socket_run(uint64_t n)
{
	pthread_attr_t attr;
	pthread_t loop;
	cpu_set_t first;
	uint64_t ns;

	CPU_ZERO(&first);
	CPU_SET(perf_cpu(0), &first);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(first), &first);
	if (pthread_create(&loop, &attr, wake_socket_loop, &socket_fd) != 0)
		return 0;
	ns = wake_ask(&by_socket, n);
	wake_ask_end(&by_socket);
	pthread_join(loop, NULL);
	pthread_attr_destroy(&attr);
	return ns;
}

static void socket_teardown(void)
{
	wake_asker_close(&by_socket);
	close(socket_fd);
}

#define HAUL                                                       \
	{                                                          \
		"haul, block", haul_setup, haul_run, haul_teardown \
	}
#define DPDK                                                       \
	{                                                          \
		"DPDK, epoll", dpdk_setup, dpdk_run, dpdk_teardown \
	}
#define SOCKET(name)                                            \
	{                                                       \
		name, socket_setup, socket_run, socket_teardown \
	}
#define CASE(kind, number, ...)                                                                   \
	{                                                                                         \
		.name = "wake/" kind, .question = "kernel to handler, asleep, " kind "; one way", \
		.sides = {HAUL, DPDK, __VA_ARGS__}, .param = number, .unit = QUESTIONS,           \
		.max = QUESTIONS, .cpus = 2,                                                      \
	}

static const struct perf_case cases[] = {
	CASE("tap", WAKE_TAP, SOCKET("TAP, epoll")),
	CASE("afpacket", WAKE_AFPACKET, SOCKET("socket, epoll")),
	CASE("afxdp", WAKE_AFXDP),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
