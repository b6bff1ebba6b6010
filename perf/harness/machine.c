/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/machine.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "commit.h"
#include "harness/harness.h"

#if defined(__clang__)
#define STRING(x) #x
#define VERSION(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)
#define COMPILER "clang " VERSION(__clang_major__, __clang_minor__, __clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif

#define CPUS_MAX 64

static unsigned cpus[CPUS_MAX];
static unsigned nb_cpus;

const char *perf_build_refusal(bool timed)
{
#ifndef __OPTIMIZE__
	return "it was compiled without optimisation: configure with --buildtype=release or "
	       "debugoptimized";
#else
	if (strcmp(PERF_SANITIZE, "none") != 0)
		return "it was compiled with a sanitizer (" PERF_SANITIZE
		       "): configure with -Db_sanitize=none";
	if (timed && HAUL_CHECKS)
		return "it was compiled with debug checks: configure with -Dchecks=false";
	return NULL;
#endif
}

int perf_machine_init(int first)
{
	cpu_set_t usable;
	int last = -1;

	if (sched_getaffinity(0, sizeof(usable), &usable) < 0) {
		perror("sched_getaffinity");
		return -1;
	}
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &usable))
			last = i;
	if (first < 0)
		first = last; /* the kernel tends to send interrupts to the lowest CPUs */
	if (first < 0 || first >= CPU_SETSIZE || !CPU_ISSET(first, &usable)) {
		fprintf(stderr, "--cpu %d: this process may not run there: see taskset -p $$\n",
			first);
		return -1;
	}
	cpus[nb_cpus++] = (unsigned)first;
	for (int i = CPU_SETSIZE - 1; i >= 0 && nb_cpus < CPUS_MAX; i--)
		if (i != first && CPU_ISSET(i, &usable))
			cpus[nb_cpus++] = (unsigned)i;
	return 0;
}

unsigned perf_cpu(unsigned i)
{
	return cpus[i];
}

bool perf_pin(unsigned n)
{
	cpu_set_t set;

	if (n > nb_cpus)
		return false;
	CPU_ZERO(&set);
	for (unsigned i = 0; i < n; i++)
		CPU_SET(cpus[i], &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* The first line of file that begins with key, from behind its colon; or "unknown". */
static void read_fact(const char *file, const char *key, char *value, size_t len)
{
	char line[256];
	FILE *in = fopen(file, "re");

	snprintf(value, len, "unknown");
	if (!in)
		return;
	while (fgets(line, sizeof(line), in)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, key, strlen(key)) != 0 || !colon)
			continue;
		line[strcspn(line, "\n\"\\")] = '\0';
		snprintf(value, len, "%s", colon + 1 + strspn(colon + 1, " \t"));
		break;
	}
	fclose(in);
}

struct facts {
	char model[128];
	struct utsname os;
	char date[32];
	double load;
};

static void find_facts(struct facts *f)
{
	time_t now = time(NULL);
	struct tm utc;

	read_fact("/proc/cpuinfo", "model name", f->model, sizeof(f->model));
	uname(&f->os);
	strftime(f->date, sizeof(f->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	if (getloadavg(&f->load, 1) != 1)
		f->load = -1;
}

void perf_machine_json(FILE *out)
{
	struct facts f;

	find_facts(&f);
	fprintf(out,
		"\"commit\":\"%s\",\"compiler\":\"%s\",\"cpu\":\"%s\",\"pinned\":%u,\"cpus\":%u,"
		"\"kernel\":\"%s %s\",\"load\":%.2f,\"date\":\"%s\"",
		PERF_COMMIT, COMPILER, f.model, cpus[0], nb_cpus, f.os.sysname, f.os.release,
		f.load, f.date);
}

void perf_machine_print(FILE *out)
{
	struct facts f;

	find_facts(&f);
	fprintf(out, "haul %s, %s, %s, CPU %u of %u, %s %s, load %.2f, %s\n", PERF_COMMIT, COMPILER,
		f.model, cpus[0], nb_cpus, f.os.sysname, f.os.release, f.load, f.date);
}
