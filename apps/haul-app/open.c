/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts EAL, opens the ports, starts the carriers. */
#include "open.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "process/hand_over.h"
#include "process/input.h"
#include "process/say.h"
#include "process/signals.h"
#include "report/trace.h"
#include "settings.h"
#include "telemetry/eal.h"

#define MUCH_MB 2048 /* from here on the user is told how much */
#define NATIVE_CACHE 256 /* of each carrier, as in haul's pools */
#define PAGE 4096
#define IN_FLIGHT 8192 /* packets held by handlers, all carriers, in a pool of default size */

static int make_plan(struct hauli_app *a)
{
	int rc = haul_app_plan(a->pub.program, &a->plan, NULL);

	if (rc != HAUL_APP_DONE)
		return rc;
	hauli_app_note(a, a->plan->notice);
	hauli_app_settings_fit(a, haul_cgroup_cpus());
	return HAUL_APP_DONE;
}

static bool is_pci(const char *spec)
{
	return strncmp(spec, "pci:", 4) == 0;
}

static void choose_pool_size(struct hauli_app *a)
{
	const struct haul_pool_need need = {
		.specs = (const char *const *)a->specs.items,
		.nb_specs = a->specs.n,
		.carriers = RTE_MAX(a->plan->carriers, a->pub.rx_queues),
		.rx_ring = (uint16_t)a->rx_ring,
		.tx_ring = (uint16_t)a->tx_ring,
		.in_flight = IN_FLIGHT,
	};

	if (a->mbufs == 0)
		a->mbufs = haul_pool_size(&need);
}

/* The longest frame for the MTU that the program asks for, or the longest one that it asks for
 * itself; 0: it asks for none. */
static unsigned longest_frame(const struct hauli_app *a)
{
	const struct haul_port_config *config = a->pub.port_config;
	unsigned frame =
		config && config->mtu ? config->mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN : 0;

	return RTE_MAX(frame, a->hooks->frame);
}

/* Tells how much memory the start takes: it takes long, and the user has asked for queues, not for
 * memory. */
static void note_memory(const struct hauli_app *a, unsigned mb)
{
	char line[128];

	if (mb < MUCH_MB)
		return;
	snprintf(line, sizeof(line), "%u MB of memory for %u packet buffers (--mbufs)", mb,
		(unsigned)a->mbufs);
	hauli_app_note(a, line);
}

static int start_eal(struct hauli_app *a)
{
	struct haul_eal_opts opts = {
		.program = a->pub.program->name,
		.plan = a->plan,
		.args = a->eal.items,
		.nb_args = (int)a->eal.n,
		.verbose = a->verbose,
		/* Otherwise nothing has been read but the command line and files. */
		.restartable = !hauli_app_input_is_consumed(),
	};
	char errbuf[512];
	unsigned i;
	int err;

	for (i = 0; i < a->specs.n; i++)
		opts.pci |= is_pci(a->specs.items[i]);
	hauli_app_signals_phase(HAULI_APP_PHASE_STARTS, "starting DPDK", "");
	choose_pool_size(a);
	opts.mem_mb = haul_pool_mem_mb_for((unsigned)a->mbufs, longest_frame(a)) + a->hooks->mem_mb;
	if (a->mp_alloc == HAULI_MP_ALLOC_NATIVE)
		opts.mem_mb += (unsigned)(a->mbufs * PAGE >> 20); /* the ends of pages */
	note_memory(a, opts.mem_mb);
	err = haul_eal_init(&opts, errbuf, sizeof(errbuf));
	if (err)
		return hauli_app_fail(a, err, errbuf);
	a->has_eal = true;
	hauli_telemetry_eal_begin();
	hauli_app_note(a, haul_eal_notice());
	return HAUL_APP_DONE;
}

/* True if haul_io_start() will spread packets to carriers for which a port has no queue. */
static bool spreads(const struct hauli_app *a)
{
	return a->spread == HAUL_SPREAD_ALL ||
		(a->spread == HAUL_SPREAD_PACKETS && a->io_opts.on_packet != NULL);
}

/* What the program's port_config asks for and the port lacks is a wrong argument. */
static int fail_port(const struct hauli_app *a, int err, const char *line)
{
	return hauli_app_fail(a, err == -ENOTSUP ? -EINVAL : err, line);
}

static int open_port(struct hauli_app *a, unsigned i, const struct haul_port_opts *opts)
{
	struct haul_port_opts own = *opts;
	char errbuf[512];
	int err;

	hauli_app_signals_phase(HAULI_APP_PHASE_STARTS, "opening port ", a->specs.items[i]);
	own.offer = hauli_hand_over_offer(i);
	err = haul_port_open(&a->ports[i], a->specs.items[i], &own, errbuf, sizeof(errbuf));
	if (err)
		return fail_port(a, err, errbuf);
	if (!haul_port_is_empty(a->ports[i]) || a->hooks->attached)
		return HAUL_APP_DONE;
	haul_port_close(a->ports[i]);
	return haul_app_wrong(a->pub.program,
		"--port %s: this program has no command that gives it a device", a->specs.items[i]);
}

/* Reopens ports with more queues than another has: a carrier with one queue of each does less. */
static int open_with_fewer(struct hauli_app *a, const struct haul_port_opts *opts)
{
	int rc = HAUL_APP_DONE;

	for (unsigned i = 0; i < a->nb_ports && rc == HAUL_APP_DONE; i++) {
		if (haul_port_queues(a->ports[i]) <= opts->queues)
			continue;
		haul_port_close(a->ports[i]);
		rc = open_port(a, i, opts);
		if (rc != HAUL_APP_DONE)
			a->ports[i] = a->ports[--a->nb_ports]; /* the rest is only closed */
	}
	return rc;
}

static int fail_queues(const struct hauli_app *a, const struct haul_port *port)
{
	unsigned queues = haul_port_queues(port);
	char line[256];

	snprintf(line, sizeof(line), "port '%s' has %u queue%s, and %u are asked for",
		haul_port_spec(port), queues, queues == 1 ? "" : "s", a->pub.rx_queues);
	return hauli_app_fail(a, -EINVAL, line);
}

static int open_all(struct hauli_app *a, struct haul_port_opts *opts)
{
	int rc = HAUL_APP_DONE;

	while (a->nb_ports < a->specs.n && rc == HAUL_APP_DONE) {
		unsigned queues;

		rc = open_port(a, a->nb_ports, opts);
		if (rc != HAUL_APP_DONE)
			break;
		queues = haul_port_queues(a->ports[a->nb_ports++]);
		if (a->pub.rx_queues && queues < opts->queues)
			return fail_queues(a, a->ports[a->nb_ports - 1]);
		if (queues >= opts->queues || spreads(a))
			continue;
		opts->queues = queues;
		rc = open_with_fewer(a, opts);
	}
	return rc;
}

static int open_ports(struct hauli_app *a)
{
	struct haul_port_opts opts = {
		.queues = a->pub.rx_queues ? a->pub.rx_queues : a->plan->carriers,
		.pool = a->pub.pool,
		.rx_ring = (uint16_t)a->rx_ring,
		.tx_ring = (uint16_t)a->tx_ring,
		.hand_over = a->hand_over != NULL,
		.waits = haul_poll_kind_of(a->io_opts.policy.how)->opens_interrupts,
		.config = a->pub.port_config,
		.leave_out = a->pub.leave_out,
	};
	char errbuf[512];
	unsigned i;
	int err, rc = hauli_hand_over_ask(a);

	if (rc == HAUL_APP_DONE)
		rc = open_all(a, &opts);

	if (rc != HAUL_APP_DONE)
		return rc;
	for (i = 0; i < a->nb_ports; i++)
		hauli_app_note(a, haul_port_notice(a->ports[i]));
	for (i = 0; i < a->nb_ports; i++) {
		hauli_app_signals_phase(
			HAULI_APP_PHASE_STARTS, "starting port ", a->specs.items[i]);
		err = haul_port_start(a->ports[i], errbuf, sizeof(errbuf));
		if (err)
			return fail_port(a, err, errbuf);
	}
	return HAUL_APP_DONE;
}

static int start_carriers(struct hauli_app *a)
{
	char why[192] = "", line[256];
	struct haul_runtime_opts opts = {
		.plan = a->plan,
		.launcher = haul_eal_launcher(),
		.stack_size = a->stack_size,
		.stack_marks = a->stack_marks,
		/* A round of coroutines may take as long as the interval allows. */
		.round_ns = a->poll_interval > 50 * HAUL_US ? a->poll_interval : 0,
		.poll_interval_ns = a->poll_interval,
		.steal = (enum haul_steal)a->steal,
		.rescue_after_ns = a->rescue,
		.trace_events = hauli_app_trace_events(),
	};
	int err = haul_start(&a->pub.rt, &opts, why, sizeof(why));

	if (!err) {
		(void)haul_dump_on_signal(SIGUSR1); /* without it the program runs as well */
		return HAUL_APP_DONE;
	}
	snprintf(line, sizeof(line), "cannot start the carriers: %s%s", why,
		err == -ENOTSUP ? "; use --steal off" : "");
	return hauli_app_fail(a, err, line);
}

/* As dpdk-testpmd makes its pool. */
static struct rte_mempool *make_native_pool(
	const struct hauli_app *a, unsigned frame, char *errbuf, size_t errlen)
{
	unsigned room = RTE_PKTMBUF_HEADROOM +
		RTE_MAX(frame, (unsigned)RTE_MBUF_DEFAULT_BUF_SIZE - RTE_PKTMBUF_HEADROOM);
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"native", (unsigned)a->mbufs, NATIVE_CACHE, 0, (uint16_t)room, SOCKET_ID_ANY);

	if (!pool)
		snprintf(errbuf, errlen, "no memory for %u packet buffers (%s); use fewer",
			(unsigned)a->mbufs, rte_strerror(rte_errno));
	return pool;
}

static int make_pool(struct hauli_app *a)
{
	char errbuf[256];

	hauli_app_signals_phase(HAULI_APP_PHASE_STARTS, "making packet buffers", "");
	if (a->mp_alloc == HAULI_MP_ALLOC_NATIVE)
		a->pub.pool = make_native_pool(a, longest_frame(a), errbuf, sizeof(errbuf));
	else
		a->pub.pool = haul_pool_create_for(
			(unsigned)a->mbufs, longest_frame(a), errbuf, sizeof(errbuf));
	return a->pub.pool ? HAUL_APP_DONE : hauli_app_fail(a, -ENOMEM, errbuf);
}

int hauli_app_open(struct hauli_app *a)
{
	int (*const steps[])(struct hauli_app *) = {
		make_plan,
		hauli_app_trace_begin, /* before EAL, whose threads then block its signal */
		start_eal,
		make_pool,
		open_ports,
		start_carriers,
	};
	int rc = HAUL_APP_DONE;

	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]) && rc == HAUL_APP_DONE; i++) {
		rc = steps[i](a);
		hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "starting", "");
	}
	a->pub.plan = a->plan;
	a->pub.ports = a->ports;
	return rc;
}
