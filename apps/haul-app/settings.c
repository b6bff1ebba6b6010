/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that all packet programs have. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "health/health.h"
#include "options/command.h"
#include "process/balance.h"
#include "process/hand_over.h"
#include "process/lost.h"
#include "process/say.h"
#include "report/capture.h"
#include "report/latency.h"
#include "report/trace.h"

#define TIME_MAX (UINT64_C(1000000000) * HAUL_S)
#define HANG_MOST (UINT64_C(3600) * HAUL_S)

static char poller_help[512];
static const char default_poller[] = "spin";

static bool steals(void)
{
	return hauli_app_state.steal != HAUL_STEAL_OFF;
}

/* True if the poller waits, or may do so later, or if the text is wrong, which is another error. */
static bool may_wait(void)
{
	struct haul_poll_policy policy;
	char errbuf[256];

	if (hauli_app_takes_commands(&hauli_app_state) || hauli_app_state.telemetry_control ||
		haul_poll_parse(&policy, hauli_app_state.poller_text, errbuf, sizeof(errbuf)) != 0)
		return true;
	return haul_poll_kind_of(policy.how)->may_overflow;
}

static bool tells_health(void)
{
	return hauli_health_is_watched(&hauli_app_state);
}

static const struct haul_app_option port_options[] = {
	{"--port", "SPEC", HAUL_APP_TEXTS, &hauli_app_state.specs,
		.help = "a port: tap:NAME, null:, pci:ADDRESS, ... (see below); repeat the "
			"option for more ports"},
	{NULL},
};

static const struct haul_app_option options[] = {
	{"--poller", "KIND", HAUL_APP_TEXT, &hauli_app_state.poller_text, .help = poller_help},
	{"--steal", HAULI_STEAL_NAMES, HAUL_APP_CHOICE, &hauli_app_state.steal,
		.help = "idle carriers run handlers of busy ones:\n"
			"off: never;\n"
			"cluster: of carriers with the same last-level cache;\n"
			"global: of all carriers"},
	{"--rescue", "TIME", HAUL_APP_TIME, &hauli_app_state.rescue, 10 * HAUL_US, HAUL_S,
		.zero = "off",
		.help = "let a spare thread serve a carrier while a handler runs longer than "
			"that,\n"
			"10us to 1s; with an idle CPU for it other handlers go on",
		.needs = "--steal cluster or global", .has_effect = steals},
	{"--order", HAULI_ORDER_NAMES, HAUL_APP_CHOICE, &hauli_app_state.send_order,
		.help = "order of packets that stolen handlers send:\n"
			"flow: as received within each flow;\n"
			"any: not kept",
		.needs = "--steal cluster or global", .has_effect = steals},
	{"--spread", HAULI_SPREAD_NAMES, HAUL_APP_CHOICE, &hauli_app_state.spread,
		.help = "spread flows in software to carriers for which a port has no queue:\n"
			"packets: if handlers are coroutines;\n"
			"all: also if they are burst functions;\n"
			"off: never"},
	{"--balance", HAULI_BALANCE_NAMES, HAUL_APP_CHOICE, &hauli_app_state.balance,
		.help = "move receive queues from busy carriers to idle ones, while packets\n"
			"flow, or buckets of flows where --spread divides a queue:\n"
			"off: never;\n"
			"all: all carriers stay in use;\n"
			"few: as few as the load needs are in use, and the others sleep;\n"
			"dry: only say what all would do"},
	{"--lost-port", HAULI_LOST_PORT_NAMES, HAUL_APP_CHOICE, &hauli_app_state.lost_port,
		.help = "if a port's NIC or interface goes away, or goes down:\n"
			"go-on: with the other ports, if there are some; exit code 1 if it is\n"
			"still lost at the end;\n"
			"return: as go-on, and take it again when it is back;\n"
			"end: the program ends"},
	{"--packet-rate", "N", HAUL_APP_NUMBER, &hauli_app_state.packet_rate, 1,
		UINT64_C(1000000000), "the link rate of NICs",
		"maximum rate of a queue in packets per second; pollers sleep no "
		"longer than receive rings hold at this rate",
		.needs = "--poller block, adaptive or sleep", .has_effect = may_wait},
	{"--burst", "N", HAUL_APP_NUMBER, &hauli_app_state.burst, 1, HAULI_APP_BURST_MAX, NULL,
		"maximum of packets per poll"},
	{"--overload", NULL, HAUL_APP_FLAG, &hauli_app_state.overload,
		.help = "drop what handlers cannot serve in time, before work is spent on it:\n"
			"packets of sources that send most first, ARP and ICMP last"},
	{"--rxd", "N", HAUL_APP_NUMBER, &hauli_app_state.rx_ring, 1, 32768, "the PMD's choice",
		"descriptors of a receive queue"},
	{"--txd", "N", HAUL_APP_NUMBER, &hauli_app_state.tx_ring, 1, 32768, "the PMD's choice",
		"descriptors of a transmit queue"},
	{"--mbufs", "N", HAUL_APP_NUMBER, &hauli_app_state.mbufs, 512, 16 << 20,
		"as many as needed", "number of packet buffers in the pool"},
	{"--mp-alloc", HAULI_MP_ALLOC_NAMES, HAUL_APP_CHOICE, &hauli_app_state.mp_alloc,
		.help = "memory of packet buffers:\n"
			"packed: one after the other;\n"
			"native: as rte_pktmbuf_pool_create() and dpdk-testpmd lay them out: in "
			"ordinary pages, each has a page; not for AF_XDP"},
	{"--stack-size", "BYTES", HAUL_APP_NUMBER, &hauli_app_state.stack_size, 4096,
		HAUL_STACK_MAX, NULL, "stack size of a coroutine"},
	{"--stack-marks", NULL, HAUL_APP_FLAG, &hauli_app_state.stack_marks,
		.help = "print at the end how much stack each function of coroutines has used at "
			"most"},
	{"--poll-interval", "SECONDS", HAUL_APP_TIME, &hauli_app_state.poll_interval, 1, TIME_MAX,
		"20us", "target for the time between two polls while coroutines are ready"},
	{"--duration", "SECONDS", HAUL_APP_TIME, &hauli_app_state.duration, 0, TIME_MAX,
		"until SIGINT, SIGTERM or SIGHUP", "end after this time, such as 500ms"},
	{"--packets", "N", HAUL_APP_NUMBER, &hauli_app_state.packets, 1, UINT64_MAX, "no limit",
		"end after N received packets, rx_errors among them; if the program\n"
		"generates packets, after N sent ones"},
	{"--period", "SECONDS", HAUL_APP_TIME, &hauli_app_state.period, 0, TIME_MAX, "never",
		"time between reports; 0: none but the last"},
	{"--screen", "auto|on|off", HAUL_APP_CHOICE, &hauli_app_state.screen,
		.help = "show reports in place, with keys that change the view:\n"
			"auto: on a terminal;\n"
			"on: or fail;\n"
			"off: never"},
	{"--json", NULL, HAUL_APP_FLAG, &hauli_app_state.json,
		.help = "print one JSON object to stdout at the end, and other output to stderr"},
	{"--times", NULL, HAUL_APP_FLAG, &hauli_app_state.times,
		.help = "record the latency of packets by port and stage"},
	{"--hist", "FILE", HAUL_APP_TEXT, &hauli_app_state.hist,
		.help = "--times, and write each histogram at the end, for HdrHistogram's\n"
			"plotter: FILE-port0-handler.hgrm, ..."},
	{"--metrics", "[ADDR:]PORT", HAUL_APP_TEXT, &hauli_app_state.metrics, .zero = "none",
		.help = "serve figures by HTTP, at /metrics, for Prometheus; to this machine\n"
			"only without an address; systemd[:NAME]: at a socket that it passes"},
	{"--on-health", "COMMAND", HAUL_APP_TEXT, &hauli_app_state.on_health, .zero = "none",
		.help = "run the program COMMAND, a path, with one argument when the health\n"
			"changes:\n"
			"serving, draining, hung, stopped or killed; for routes and balancers"},
	{"--hang-after", "SECONDS", HAUL_APP_TIME, &hauli_app_state.hang_after, 100 * HAUL_MS,
		HANG_MOST, NULL,
		"time after which a carrier or a main thread that does nothing hangs",
		.needs = "--on-health, --metrics or systemd's watchdog",
		.has_effect = tells_health},
	{"--withdraw", "SECONDS", HAUL_APP_TIME, &hauli_app_state.withdraw, 0, TIME_MAX, "none",
		"time between a signal and the stop, in which the program is draining, and "
		"serves"},
	{"--hand-over", "PATH", HAUL_APP_TEXT, &hauli_app_state.hand_over, .zero = "to nobody",
		.help = "take the ports from the program that listens at PATH, if there is one,\n"
			"and listen there for the next: an update that loses no packet; tap and\n"
			"afpacket"},
	{"--telemetry-control", NULL, HAUL_APP_FLAG, &hauli_app_state.telemetry_control,
		.help = "let telemetry, and so haul-top, change pollers and the burst: by this\n"
			"user and root only, as all of telemetry"},
	{"--strict", NULL, HAUL_APP_FLAG, &hauli_app_state.strict,
		.help = "exit code 3 if handlers had to be cancelled at the end, because they\n"
			"waited for longer than a second"},
	{"--verbose", NULL, HAUL_APP_FLAG, &hauli_app_state.verbose,
		.help = "show all messages of EAL"},
	{"--eal", "ARGS...", HAUL_APP_REST, &hauli_app_state.eal,
		.help = "pass the rest of the line to EAL"},
	{NULL},
};

/* From the table of policies: "what pollers do ...:\nspin: ...;\n...". */
static void fill_poller_help(void)
{
	const struct haul_poll_kind *kind;
	size_t len = (size_t)snprintf(poller_help, sizeof(poller_help),
		"what pollers do while there are no packets, US in microseconds");

	for (unsigned i = 0; (kind = haul_poll_kind(i)) != NULL && len < sizeof(poller_help); i++)
		len += (size_t)snprintf(poller_help + len, sizeof(poller_help) - len, "%s\n%s: %s",
			i == 0 ? ":" : ";", kind->form, kind->help);
}

static struct hauli_command command_of(const struct haul_app_program *program)
{
	const struct haul_app_option *const after[] = {
		hauli_capture_options(), hauli_app_trace_options(), options, NULL};

	return hauli_command(program, port_options, after);
}

struct hauli_command hauli_app_settings(struct hauli_app *a)
{
	a->burst = 32;
	a->poller_text = default_poller;
	a->stack_size = 24 * 1024;
	a->period = HAUL_S;
	a->hang_after = 5 * HAUL_S;
	fill_poller_help();
	return command_of(a->pub.program);
}

static int choose_poller(struct hauli_app *a)
{
	char errbuf[256];

	if (haul_poll_parse(&a->io_opts.policy, a->poller_text, errbuf, sizeof(errbuf)) == 0)
		return HAUL_APP_DONE;
	return haul_app_wrong(a->pub.program, "--%s", errbuf);
}

void hauli_app_settings_fit(struct hauli_app *a, double cpus)
{
	enum haul_poll_how how = a->io_opts.policy.how;
	unsigned carriers = a->plan->carriers;
	char line[256];

	if (cpus == 0 || cpus >= carriers || (how != HAUL_POLL_SPIN && how != HAUL_POLL_PAUSE))
		return;
	if (a->poller_text != default_poller) {
		snprintf(line, sizeof(line),
			"the cgroup allows the time of %.3g CPUs, and %u carrier%s more: the "
			"kernel will stop the program for a part of each period; use --poller "
			"sleep%s",
			cpus, carriers, carriers == 1 ? " takes" : "s take",
			cpus >= 1 ? " or fewer carriers" : "");
		hauli_app_note(a, line);
		return;
	}
	a->poller_text = "sleep";
	a->io_opts.policy = (struct haul_poll_policy){.how = HAUL_POLL_SLEEP};
	snprintf(line, sizeof(line),
		"the cgroup allows the time of %.3g CPUs for %u carrier%s: --poller sleep instead "
		"of spin",
		cpus, carriers, carriers == 1 ? "" : "s");
	hauli_app_note(a, line);
}

static void fill_io_opts(struct hauli_app *a)
{
	const struct haul_app_hooks *hooks = a->hooks;

	a->io_opts = (struct haul_io_opts){
		.burst = (uint16_t)a->burst,
		.on_packet = hooks->on_packet,
		.on_burst = hooks->on_burst,
		.count_bytes = hooks->on_packet, /* most of these read their packet */
		.source = hooks->source,
		.coro = hooks->coro,
		.arg = hooks->arg ? hooks->arg : &a->pub,
		.packet_rate = a->packet_rate,
		.send_order = (enum haul_send_order)a->send_order,
		.spread = (enum haul_io_spread)a->spread,
		.overload.target_ns = a->overload ? HAUL_OVERLOAD_TARGET : 0,
	};
	memcpy(a->io_opts.drop_names, hooks->drop_names, sizeof(hooks->drop_names));
}

int hauli_app_settings_check(struct hauli_app *a)
{
	char errbuf[512];
	int rc;

	a->out = a->json ? stderr : stdout;
	a->pub.nb_ports = a->specs.n;
	a->pub.burst = (uint16_t)a->burst;
	if (a->specs.n == 0)
		return haul_app_wrong(
			a->pub.program, "no port given: use --port, for example --port null:");
	if (a->specs.n > HAUL_APP_PORTS_MAX)
		return haul_app_wrong(a->pub.program, "%u ports given, at most %u are possible",
			a->specs.n, HAUL_APP_PORTS_MAX);
	for (unsigned i = 0; i < a->specs.n; i++)
		if (haul_port_spec_check(a->specs.items[i], errbuf, sizeof(errbuf)) != 0)
			return haul_app_wrong(a->pub.program, "%s", errbuf);
	fill_io_opts(a);
	rc = choose_poller(a);
	if (rc == HAUL_APP_DONE)
		rc = hauli_hand_over_check(a);
	if (rc == HAUL_APP_DONE)
		rc = hauli_latency_check(a);
	return rc == HAUL_APP_DONE ? hauli_app_capture_check(a) : rc;
}

int haul_app_set_option(struct haul_app *app, const char *name, const char *value)
{
	struct hauli_app *a = &hauli_app_state;
	const struct hauli_command command = command_of(app->program);
	const char *poller = a->poller_text;
	int rc = hauli_option_set(&command, name, value);

	if (rc != HAUL_APP_DONE)
		return rc;
	a->io_opts.burst = (uint16_t)a->burst;
	if (a->poller_text == poller)
		return HAUL_APP_DONE;
	rc = choose_poller(a);
	if (rc != HAUL_APP_DONE)
		a->poller_text = poller;
	return rc;
}
