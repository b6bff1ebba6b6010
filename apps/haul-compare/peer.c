/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>

#include <rte_cycles.h>

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

static const char *service;
static uint64_t memory;
static uint64_t table_mb = 32; /* as haul-fwd's */

static const struct peer_option *common_options(struct peer *p)
{
	static struct peer_option options[] = {
		{"--service", "TIME[,DISTRIBUTION]", .text = &service,
			.help = "the work of each packet, as haul-fwd's"},
		{"--service-memory", "BYTES", .number = &memory, .max = 1 << 30,
			.help = "accesses to memory with each packet, as haul-fwd's"},
		{"--service-table", "MIB", .number = &table_mb, .min = 1, .max = 1 << 16,
			.help = "their table (32)"},
		{"--burst", "N", .min = 1, .max = PEER_BURST_MAX,
			.help = "the most packets that are received at once (32)"},
		{"--cpu", "N", .max = CPU_SETSIZE - 1, .help = "the CPU to run on (any)"},
		{0},
	};

	options[3].number = &p->burst;
	options[4].number = &p->cpu;
	return options;
}

int peer_say(const struct peer *p, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", p->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return PEER_FAILED;
}

static int say_wrong(const struct peer *p, const char *name, const char *what)
{
	peer_say(p, "%s: %s; see --help", name, what);
	return PEER_USAGE;
}

static void print_table(const struct peer_option *o)
{
	for (; o->name; o++)
		printf("  %s %s\n      %s\n", o->name, o->value, o->help);
}

static int help(struct peer *p)
{
	printf("usage: %s OPTIONS\n%s\n", p->name, p->purpose);
	print_table(p->options);
	print_table(common_options(p));
	printf("%s", p->example);
	return fflush(stdout) == 0 ? PEER_DONE : PEER_FAILED;
}

static const struct peer_option *find(const struct peer_option *o, const char *name)
{
	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->name ? o : NULL;
}

static bool set(const struct peer_option *o, const char *value)
{
	char *end;
	unsigned long long n;

	if (o->text) {
		*o->text = value;
		return true;
	}
	errno = 0;
	n = strtoull(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end || errno || n < o->min || n > o->max)
		return false;
	*o->number = n;
	return true;
}

static int parse_one(struct peer *p, const char *name, const char *value)
{
	const struct peer_option *o = find(p->options, name);
	char what[96];

	if (!o)
		o = find(common_options(p), name);
	if (!o)
		return say_wrong(p, name, "there is no such option");
	if (!value)
		return say_wrong(p, name, "a value is missing");
	if (set(o, value))
		return PEER_DONE;
	snprintf(what, sizeof(what), "give a number from %lu to %lu", (unsigned long)o->min,
		(unsigned long)o->max);
	return say_wrong(p, name, what);
}

bool peer_parse(struct peer *p, int argc, char **argv, int *rc)
{
	const char *wrong;

	p->burst = 32;
	p->cpu = PEER_NO_CPU;
	for (int i = 1; i < argc; i += 2) {
		bool asks = strcmp(argv[i], "--help") == 0;

		*rc = asks ? help(p) : parse_one(p, argv[i], argv[i + 1]);
		if (asks || *rc != PEER_DONE)
			return false;
	}
	wrong = fwd_work_plan(&p->plan, service, memory, table_mb);
	if (!wrong)
		return true;
	*rc = say_wrong(p, "--service", wrong);
	return false;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
}

/* To about 0.01 %: both ends are read to some 50 ns. */
static uint64_t measure_tsc_hz(void)
{
	uint64_t from = now_ns(), from_tsc = rte_rdtsc(), to, to_tsc;

	do {
		to = now_ns();
		to_tsc = rte_rdtsc();
	} while (to - from < 2 * MS);
	return (uint64_t)((double)(to_tsc - from_tsc) * 1e9 / (double)(to - from));
}

void peer_set_clock(struct peer *p, uint64_t tsc_hz)
{
	fwd_work_set_clock(&p->plan, tsc_hz);
}

static int bind_to_cpu(const struct peer *p)
{
	cpu_set_t cpus;

	if (p->cpu == PEER_NO_CPU)
		return PEER_DONE;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)p->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0)
		return PEER_DONE;
	return peer_say(p, "--cpu %lu: %s", (unsigned long)p->cpu, strerror(errno));
}

int peer_prepare(struct peer *p)
{
	sigset_t ends;
	int rc = bind_to_cpu(p);

	if (rc != PEER_DONE)
		return rc;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN); /* a reader that is gone is an error of the output */
	p->signals = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
	if (p->signals < 0)
		return peer_say(p, "signalfd: %s", strerror(errno));
	peer_set_clock(p, measure_tsc_hz());
	if (!fwd_work_init(&p->work, &p->plan, 0))
		return peer_say(p, "no memory for --service-table");
	return PEER_DONE;
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * S + (uint64_t)t->tv_usec * 1000;
}

int peer_begin(struct peer *p)
{
	struct rusage u;

	if (puts("ready") < 0 || fflush(stdout) != 0)
		return peer_say(p, "stdout: %s", strerror(errno));
	getrusage(RUSAGE_THREAD, &u);
	p->began_ns = now_ns();
	p->began_user_ns = ns_of(&u.ru_utime);
	p->began_system_ns = ns_of(&u.ru_stime);
	p->began_voluntary = (uint64_t)u.ru_nvcsw;
	p->began_involuntary = (uint64_t)u.ru_nivcsw;
	return PEER_DONE;
}

static void print(const struct peer_figure *f)
{
	for (; f->name; f++)
		printf(", \"%s\": %lu", f->name, (unsigned long)f->value);
}

int peer_end(struct peer *p, const struct peer_figure *figures)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	const struct peer_figure own[] = {
		{"user_ns", ns_of(&u.ru_utime) - p->began_user_ns},
		{"system_ns", ns_of(&u.ru_stime) - p->began_system_ns},
		{"voluntary_switches", (uint64_t)u.ru_nvcsw - p->began_voluntary},
		{"involuntary_switches", (uint64_t)u.ru_nivcsw - p->began_involuntary},
		{0},
	};
	printf("{\"poller\": \"%s\", \"seconds\": %.6f", p->name,
		(double)(now_ns() - p->began_ns) / 1e9);
	print(figures);
	print(own);
	fwd_work_fini(&p->work);
	if (printf("}\n") < 0 || fflush(stdout) != 0)
		return peer_say(p, "stdout: %s", strerror(errno));
	return PEER_DONE;
}
