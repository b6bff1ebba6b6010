/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the glue's headers return only errors that these name, with one line, leave nothing
 * behind, and work when they are repeated. EAL runs before the first call. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <haul-dpdk/capture.h>
#include <haul-dpdk/eal.h>
#include <haul-dpdk/file.h>
#include <haul-dpdk/host.h>
#include <haul-dpdk/iface.h>
#include <haul-dpdk/pool.h>
#include <haul-dpdk/test.h>

#include "io_bed.h"
#include "support/promises.h"

static struct bed bed;

static int open_port(const char *spec)
{
	const struct haul_port_opts opts = {.queues = 1, .pool = bed.pool};
	struct haul_port *port;
	int err = TRY(haul_port_open(&port, spec, &opts, LINE));

	if (!err)
		haul_port_close(port);
	return err;
}

static int open_null(void)
{
	return open_port("null:");
}

static int open_malformed(void)
{
	return open_port("nosuch:x");
}

static int open_no_iface(void)
{
	return open_port("afpacket:nosuch0");
}

static int check_spec(void)
{
	return TRY(haul_port_spec_check("nosuch:x", LINE));
}

static int parse_poll(void)
{
	struct haul_poll_policy policy;

	return TRY(haul_poll_parse(&policy, "nosuch", LINE));
}

static int attach(void)
{
	struct haul_plan *plan;
	int err = TRY(haul_eal_attach(&plan, LINE));

	if (!err)
		haul_plan_destroy(plan);
	return err;
}

static int no_iface(void)
{
	struct haul_iface iface;

	return TRY(haul_iface_get(&iface, "nosuch0"));
}

static int lo(void)
{
	struct haul_iface iface;

	return TRY(haul_iface_get(&iface, "lo"));
}

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void free_io(struct haul_io *io)
{
	char line[256];

	ck_assert_msg(haul_io_stop(io, HAUL_S, line, sizeof(line)) == 0, "%s", line);
}

static int start_no_ports(void)
{
	struct haul_io_opts opts = {0};
	struct haul_io *io;
	int err = TRY(haul_io_start(&io, bed.rt, &opts, LINE));

	if (!err)
		free_io(io);
	return err;
}

static char path[64];

static int open_capture(const char *file)
{
	const struct haul_capture_opts opts = {
		.ports = (struct haul_port *const *)bed.ports,
		.nb_ports = bed.nb_ports,
		.carriers = BED_CARRIERS,
		.file = file,
		.ring_bytes = 128 << 10,
	};
	struct haul_capture *capture;
	char line[256];
	int err = TRY(haul_capture_open(&capture, &opts, LINE));

	/* The thread that writes may meet the fault after the call has returned. */
	if (!err && haul_capture_close(capture, HAUL_S, NULL, line, sizeof(line)) != 0)
		ck_assert_msg(strstr(line, strerror(ENOMEM)), "%s", line);
	return err;
}

static int capture(void)
{
	return open_capture(path);
}

static int capture_nowhere(void)
{
	return open_capture("/nosuch/file");
}

static int create_file(void)
{
	int fd = TRY(haul_file_create(path, 0600, LINE));

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int host_alone(void)
{
	struct haul_host *host;
	int err = TRY(haul_host_create(&host, NULL, LINE));

	if (!err)
		haul_host_free(host);
	return err;
}

static int host_too_large(void)
{
	const struct haul_host_opts opts = {.neighbours_max = UINT32_MAX};
	struct haul_host *host;

	return TRY(haul_host_create(&host, &opts, LINE));
}

static struct haul_host *create_host(void)
{
	struct haul_host *host;
	char line[256];

	ck_assert_msg(haul_host_create(&host, NULL, line, sizeof(line)) == 0, "%s", line);
	return host;
}

static int host_address(void)
{
	struct haul_host *host = create_host();
	int err = TRY(haul_host_add_address(host, 0, "10.0.0.1/24", LINE));

	haul_host_free(host);
	return err;
}

static int host_no_address(void)
{
	struct haul_host *host = create_host();
	int err = TRY(haul_host_remove_address(host, 0, "10.0.0.1/24", LINE));

	haul_host_free(host);
	return err;
}

static int host_kernel(void)
{
	struct haul_host *host = create_host();
	int err = TRY(haul_host_read_kernel(host, 0, "lo", LINE));

	haul_host_free(host);
	return err;
}

static int host_no_kernel(void)
{
	struct haul_host *host = create_host();
	int err = TRY(haul_host_read_kernel(host, 0, "nosuch0", LINE));

	haul_host_free(host);
	return err;
}

static int host_route(void)
{
	struct haul_host *host = create_host();
	int err = TRY(haul_host_add_route(host, "10.0.0.0/8", NULL, 0, LINE));

	haul_host_free(host);
	return err;
}

static int host_no_route(void)
{
	struct haul_host *host = create_host();
	int err = TRY(haul_host_remove_route(host, "10.0.0.0/8", LINE));

	haul_host_free(host);
	return err;
}

static int test_handler(void)
{
	const struct haul_io_opts io = {.on_packet = handle};
	const struct haul_test_opts opts = {.carriers = 2, .ports = 2};
	struct haul_test *t;
	char line[256];
	int err = TRY(haul_test_start(&t, &io, &opts, LINE));

	if (!err)
		ck_assert_msg(haul_test_stop(t, HAUL_S, line, sizeof(line)) == 0, "%s", line);
	return err;
}

static int test_no_handler(void)
{
	const struct haul_io_opts io = {0};
	struct haul_test *t;

	return TRY(haul_test_start(&t, &io, NULL, LINE));
}

/* With a bed. */
static const struct call with_bed[] = {
	{"haul_port_open", "null:", open_null, 0},
	{"haul_port_open", "no such kind", open_malformed, -EINVAL},
	{"haul_port_open", "no such interface", open_no_iface, -ENODEV},
	{"haul_port_spec_check", "no such kind", check_spec, -EINVAL},
	{"haul_poll_parse", "no such kind", parse_poll, -EINVAL},
	{"haul_eal_attach", "EAL runs", attach, 0},
	{"haul_iface_get", "no such interface", no_iface, -ENODEV},
	{"haul_iface_get", "lo", lo, 0},
	{"haul_io_start", "no ports", start_no_ports, -EINVAL},
	{"haul_capture_open", "a file", capture, 0},
	{"haul_capture_open", "no directory", capture_nowhere, -ENOENT},
	{"haul_file_create", "a file", create_file, 0},
	{"haul_host_create", "the defaults", host_alone, 0},
	{"haul_host_create", "too many neighbours", host_too_large, -EINVAL},
	{"haul_host_add_address", "an address", host_address, 0},
	{"haul_host_remove_address", "no such address", host_no_address, -ENOENT},
	{"haul_host_read_kernel", "lo", host_kernel, 0},
	{"haul_host_read_kernel", "no such interface", host_no_kernel, -ENODEV},
	{"haul_host_add_route", "a route", host_route, 0},
	{"haul_host_remove_route", "no such route", host_no_route, -ENOENT},
};

static const struct call alone[] = {
	{"haul_test_start", "two ports", test_handler, 0, .faults = SINGLE_FAULTS},
	{"haul_test_start", "no handler", test_no_handler, -EINVAL, .faults = SINGLE_FAULTS},
};

static const struct promise promises[] = {
#include "errors.inc"
};

static struct promises table(const struct call *calls)
{
	return (struct promises){
		.promises = promises,
		.nb_promises = sizeof(promises) / sizeof(promises[0]),
		.calls = calls,
	};
}

START_TEST(a_call_beside_ports_returns_what_its_header_names)
{
	struct promises p = table(with_bed);

	bed_open(&bed, (const char *const[]){"ring:", NULL});
	promises_check(&p, (unsigned)_i);
	bed_take_down(&bed);
}
END_TEST

START_TEST(a_test_of_handlers_returns_what_its_header_names)
{
	struct promises p = table(alone);

	promises_check(&p, (unsigned)_i);
}
END_TEST

/* NULL, 0 in the place of the line. */
START_TEST(a_line_need_not_be_wanted)
{
	const struct haul_plan_opts many = {.carriers = HAUL_CARRIERS_MAX + 1};
	const struct haul_runtime_opts wrong = {.searchers = 33};
	struct haul_poll_policy policy;
	struct haul_runtime *rt;
	struct haul_plan *plan;
	struct haul_port *port;
	struct haul_io *io;

	ck_assert_int_eq(haul_plan_create(&plan, &many, NULL, 0), -EINVAL);
	ck_assert_int_eq(haul_start(&rt, &wrong, NULL, 0), -EINVAL);
	ck_assert_int_eq(haul_poll_parse(&policy, "nosuch", NULL, 0), -EINVAL);
	ck_assert_int_eq(haul_port_spec_check("nosuch:x", NULL, 0), -EINVAL);
	bed_open(&bed, (const char *const[]){"ring:", NULL});
	port = bed.ports[0];
	ck_assert_int_eq(haul_port_open(&port, "nosuch:x",
				 &(struct haul_port_opts){.queues = 1, .pool = bed.pool}, NULL, 0),
		-EINVAL);
	ck_assert_int_eq(haul_port_open(&port, "afpacket:nosuch0",
				 &(struct haul_port_opts){.queues = 1, .pool = bed.pool}, NULL, 0),
		-ENODEV);
	ck_assert_int_lt(haul_port_set_mtu(port, 1400, NULL, 0), 0);
	ck_assert_int_lt(haul_port_change_offloads(port, UINT64_MAX, 0, true, NULL, 0), 0);
	ck_assert_int_eq(haul_port_stop(port, NULL, 0), 0);
	ck_assert_int_eq(haul_port_start(port, NULL, 0), 0);
	ck_assert_int_eq(haul_io_start(&io, bed.rt, &(struct haul_io_opts){.nb_ports = 0}, NULL, 0),
		-EINVAL);
	bed_take_down(&bed);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{a_call_beside_ports_returns_what_its_header_names,
			sizeof(with_bed) / sizeof(with_bed[0])},
		{a_test_of_handlers_returns_what_its_header_names,
			sizeof(alone) / sizeof(alone[0])},
		{a_line_need_not_be_wanted},
	};
	int rc = bed_init();

	if (rc >= 0)
		return rc;
	snprintf(path, sizeof(path), "/tmp/haul-errors-%d", (int)getpid());
	rc = suite_run("errors", tests, sizeof(tests) / sizeof(tests[0]));
	unlink(path);
	bed_fini();
	return rc;
}
