/* SPDX-License-Identifier: BSD-3-Clause */
#include "testpmd_args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/app.h>

#include "testpmd_getopt.h"
#include "testpmd_names.h"

#define LIST_MOST (64 * 4) /* characters of the CPUs of a mask */
#define PCI_CLASS_NETWORK 0x02
#define EMPTY_PORTS 8

static bool is_meant, wants_json;
static unsigned long period_s; /* --stats-period without -i */

/* Arguments of EAL. */
enum place { LCORES, MASK, PORT, PCI, DROPPED, EAL };
static const struct {
	const char *names[3];
	bool has_value;
	enum place place;
} eal_args[] = {
	{{"-l", "--lcores"}, true, LCORES},
	{{"-c"}, true, MASK},
	{{"--vdev"}, true, PORT},
	{{"-a", "--allow", "-w"}, true, PCI},
	{{"--no-pci"}, false, DROPPED},
	{{"--main-lcore", "--master-lcore", "--proc-type"}, true, DROPPED},
	{{"-n", "-m", "-r"}, true, EAL},
	{{"-d", "-b", "--block"}, true, EAL},
	{{"--file-prefix", "--log-level", "--iova-mode"}, true, EAL},
	{{"--huge-dir", "--socket-mem", "--socket-limit"}, true, EAL},
	{{"--base-virtaddr", "--mbuf-pool-ops-name", "--vfio-intr"}, true, EAL},
	{{"--no-huge", "--in-memory", "--no-shconf"}, false, EAL},
	{{"--no-telemetry", "--legacy-mem", "--single-file-segments"}, false, EAL},
	{{"--no-hpet", "--huge-unlink", "--match-allocations"}, false, EAL},
};

/* Options of testpmd that have no value, and no place in haul-fwd. */
static const char *const flags[] = {"--numa", "--no-numa", "--mp-anon", "--no-iova-contig",
	"--no-flush-rx", "--disable-link-check", "--no-lsc-interrupt", "--no-rmv-interrupt",
	"--enable-drop-en"};

struct args {
	char **items;
	int n;
};

static void add(struct args *to, const char *text)
{
	to->items = realloc(to->items, (size_t)(to->n + 2) * sizeof(to->items[0]));
	if (!to->items)
		abort();
	to->items[to->n] = strdup(text);
	if (!to->items[to->n])
		abort();
	to->items[++to->n] = NULL;
}

static void add_pair(struct args *to, const char *option, const char *value)
{
	add(to, option);
	add(to, value);
}

/* True if arg is this option; *value: what follows "=", or a short name, else NULL. */
static bool is_option(const char *arg, const char *name, const char **value)
{
	size_t n = strlen(name);
	bool is_short = n == 2 && name[1] != '-';

	if (strncmp(arg, name, n) != 0 || (!is_short && arg[n] && arg[n] != '='))
		return false;
	*value = arg[n] == '\0' ? NULL : arg + n + (arg[n] == '=');
	return true;
}

/* "0x5" as "0,2" */
static void add_mask(struct args *to, const char *mask)
{
	unsigned long long bits = strtoull(mask, NULL, 16);
	char list[LIST_MOST] = "";
	size_t len = 0;

	for (unsigned cpu = 0; cpu < 64; cpu++)
		if (bits >> cpu & 1)
			len += (size_t)snprintf(
				list + len, sizeof(list) - len, "%s%u", len ? "," : "", cpu);
	add_pair(to, "-l", len ? list : mask);
}

static void add_port(struct args *to, const char *prefix, const char *device)
{
	size_t size = strlen(prefix) + strlen(device) + 1;
	char *spec = malloc(size);

	if (!spec)
		abort();
	snprintf(spec, size, "%s%s", prefix, device);
	add_pair(to, "--port", spec);
	free(spec);
}

/* testpmd takes what it finds of the devices that -a names: "-a 0:0.0" says that it takes none. */
static bool is_nic(const char *device)
{
	unsigned domain = 0, bus, slot, function, class;
	char path[64];
	FILE *file;
	bool is;

	if (sscanf(device, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
		domain = 0;
		if (sscanf(device, "%x:%x.%x", &bus, &slot, &function) != 3)
			return true; /* not by its address: the port's own check tells */
	}
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%04x:%02x:%02x.%x/class", domain, bus,
		slot, function);
	file = fopen(path, "r");
	is = file && fscanf(file, "%x", &class) == 1 && class >> 16 == PCI_CLASS_NETWORK;
	if (file)
		fclose(file);
	if (!is)
		fprintf(stderr, "haul-fwd: note: -a %s is left out: it is no network device\n",
			device);
	return is;
}

static void take_eal(struct args *to, struct args *eal, enum place place, const char *arg,
	const char *value, bool is_joined)
{
	switch (place) {
	case LCORES:
		add_pair(to, "-l", value);
		break;
	case MASK:
		add_mask(to, value);
		break;
	case PORT:
		/* The PMD of virtio has a name without "net_", too. */
		add_port(to, strncmp(value, "virtio_user", 11) == 0 ? "net_" : "", value);
		break;
	case PCI:
		if (is_nic(value))
			add_port(to, "pci:", value);
		break;
	case EAL:
		add(eal, arg);
		if (value && !is_joined)
			add(eal, value);
		break;
	case DROPPED:
		break;
	}
}

/* The word behind an argument of EAL that has a value. Nothing has begun: ends without one. */
static const char *value_of(char **argv)
{
	if (argv[1] && strcmp(argv[1], "--") != 0)
		return argv[1];
	fprintf(stderr, "haul-fwd: %s: its value is missing (see dpdk-testpmd --help)\n", argv[0]);
	exit(HAUL_APP_USAGE);
}

/* One argument of EAL; returns the number of words. What is not known goes to EAL. */
static int read_eal(struct args *to, struct args *eal, char **argv)
{
	for (size_t i = 0; i < sizeof(eal_args) / sizeof(eal_args[0]); i++) {
		for (unsigned k = 0; k < 3 && eal_args[i].names[k]; k++) {
			const char *value;
			bool is_joined;

			if (!is_option(argv[0], eal_args[i].names[k], &value))
				continue;
			is_joined = value != NULL;
			if (eal_args[i].has_value && !value)
				value = value_of(argv);
			take_eal(to, eal, eal_args[i].place, argv[0], value, is_joined);
			return eal_args[i].has_value && !is_joined ? 2 : 1;
		}
	}
	add(eal, argv[0]);
	return 1;
}

static bool is_flag(const char *name)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flags[i], name) == 0)
			return true;
	return false;
}

/* The words that an option of testpmd takes if it is left out, with a note; 0: haul-fwd has it, or
 * says what is wrong. */
static int leave_out(char **argv, bool interactive)
{
	const char *value;

	if (interactive && is_option(argv[0], "--stats-period", &value)) {
		fprintf(stderr, "haul-fwd: note: %s has no effect here (no reports with -i)\n",
			argv[0]);
		return value ? 1 : 2;
	}
	if (!interactive &&
		(is_option(argv[0], "--record-core-cycles", &value) ||
			is_option(argv[0], "--record-burst-stats", &value))) {
		fprintf(stderr,
			"haul-fwd: note: %s has no effect here (without -i the report has the "
			"share "
			"of work and of empty polls)\n",
			argv[0]);
		return 1;
	}
	/* What these two say is so. */
	if ((is_option(argv[0], "--num-procs", &value) && value && strcmp(value, "1") == 0) ||
		(is_option(argv[0], "--proc-id", &value) && value && strcmp(value, "0") == 0))
		return 1;
	for (const struct haul_app_alias *a = fwd_testpmd_names; a->name; a++) {
		if (!a->hint || fwd_testpmd_is_missing(a) || !is_option(argv[0], a->name, &value))
			continue;
		fprintf(stderr, "haul-fwd: note: %s has no effect here (%s)\n", argv[0], a->hint);
		return value || is_flag(a->name) || !argv[1] || argv[1][0] == '-' ? 1 : 2;
	}
	return 0;
}

/* "--coremask 0x6": two cores, those of -l. */
static void add_cores(struct args *to, const char *mask)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", __builtin_popcountll(strtoull(mask, NULL, 16)));
	add_pair(to, "--nb-cores", number);
}

/* --eth-peers-configfile: a line with a MAC address for each port. */
static void add_peers(struct args *to, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[64], peer[96];

	if (!file) {
		fprintf(stderr, "haul-fwd: --eth-peers-configfile %s: %s\n", path, strerror(errno));
		exit(HAUL_APP_USAGE);
	}
	for (unsigned port = 0; fgets(line, sizeof(line), file); port++) {
		line[strcspn(line, " \t\r\n")] = '\0';
		snprintf(peer, sizeof(peer), "%u,%s", port, line);
		add_pair(to, "--eth-peer", peer);
	}
	fclose(file);
}

/* Options of testpmd whose value becomes another option. Returns the number of words; 0: it is none
 * of them. */
static int translate(struct args *to, char **argv, bool *has_cores)
{
	const char *value;
	bool cores = is_option(argv[0], "--coremask", &value);
	int words;

	if (!cores && !is_option(argv[0], "--eth-peers-configfile", &value))
		return 0;
	words = value ? 1 : 2;
	if (!value)
		value = value_of(argv);
	if (cores)
		add_cores(to, value);
	else
		add_peers(to, value);
	*has_cores |= cores;
	return words;
}

/* These say anew which ports forward; of several the last one holds. */
static bool chooses_ports(const char *arg)
{
	const char *value;

	return is_option(arg, "--nb-ports", &value) || is_option(arg, "--portmask", &value) ||
		is_option(arg, "--portlist", &value);
}

/* The words of such an option that another one follows, else 0. */
static int pass_over(char **argv)
{
	if (!chooses_ports(argv[0]))
		return 0;
	for (char **later = argv + 1; *later; later++)
		if (chooses_ports(*later))
			return strchr(argv[0], '=') ? 1 : 2;
	return 0;
}

/* --stats-period without -i: its statistics are testpmd's, see prompt/unattended.c. */
static int take_period(char **argv, bool interactive)
{
	const char *value;
	char *end;
	int words;

	if (interactive || !is_option(argv[0], "--stats-period", &value))
		return 0;
	words = value ? 1 : 2;
	if (!value)
		value = value_of(argv);
	period_s = strtoul(value, &end, 10);
	if (*end || period_s == 0 || period_s > UINT16_MAX) {
		fprintf(stderr, "haul-fwd: --stats-period %s: give 1 to %u (seconds)\n", value,
			UINT16_MAX);
		exit(HAUL_APP_USAGE);
	}
	return words;
}

static bool has_option(char **argv, const char *name, const char *or_name)
{
	for (; *argv; argv++)
		if (strcmp(*argv, name) == 0 || strcmp(*argv, or_name) == 0)
			return true;
	return false;
}

/* testpmd starts without a device, too; "port attach" gives it some. */
static void add_empty_ports(struct args *to)
{
	fprintf(stderr, "haul-fwd: note: there is no device; %u ports are empty, for port attach\n",
		EMPTY_PORTS);
	for (unsigned i = 0; i < EMPTY_PORTS; i++)
		add_pair(to, "--port", "empty:queues=1");
}

/* testpmd's options; true if they choose the number of cores. */
static bool read_options(struct args *to, char **argv)
{
	bool has_cores = false, interactive = has_option(argv, "-i", "--interactive");
	const char *value;

	wants_json = has_option(argv, "--json", "--json");
	if (interactive && !has_option(to->items, "--port", "--port") &&
		!has_option(argv, "--port", "--help"))
		add_empty_ports(to);
	while (*argv) {
		int words = translate(to, argv, &has_cores);

		if (words == 0)
			words = pass_over(argv);
		if (words == 0)
			words = take_period(argv, interactive);
		if (words == 0)
			words = leave_out(argv, interactive);
		if (words == 0 && is_option(argv[0], "--tx-first", &value)) {
			add(to, "--tx-first=1");
			words = 1;
		} else if (words == 0) {
			has_cores |= is_option(argv[0], "--nb-cores", &value);
			add(to, argv[0]);
			words = 1;
		}
		argv += words;
	}
	return has_cores;
}

static bool is_called_testpmd(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	return strcmp(name, "dpdk-testpmd") == 0 || strcmp(name, "testpmd") == 0;
}

char **fwd_testpmd_args(int *argc, char **argv)
{
	static struct args to, eal; /* in use as long as the program runs */
	char **arg = argv + 1;

	if (*argc > 1 && strcmp(argv[1], "--testpmd") == 0)
		arg++;
	else if (*argc == 0 || !is_called_testpmd(argv[0]))
		return argv;
	is_meant = true;
	add(&to, argv[0]);
	while (*arg && strcmp(*arg, "--") != 0)
		arg += read_eal(&to, &eal, arg);
	/* testpmd forwards on one core unless it is told otherwise. */
	if (!read_options(&to, fwd_testpmd_getopt(*arg ? arg + 1 : arg)))
		add(&to, "--nb-cores=1");
	if (eal.n > 0)
		add(&to, "--eal");
	for (int i = 0; i < eal.n; i++)
		add(&to, eal.items[i]);
	*argc = to.n;
	return to.items;
}

bool fwd_testpmd_is_meant(void)
{
	return is_meant;
}

bool fwd_testpmd_speaks(void)
{
	return is_meant && !wants_json;
}

unsigned fwd_testpmd_period_s(void)
{
	return (unsigned)period_s;
}
