/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/latency.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <haul-dpdk/file.h>

#define SUFFIX ".hgrm"
#define PATH_SIZE 4096

/* The name that --hist gives, without its suffix. */
static int stem_len(const struct hauli_app *a)
{
	size_t len = strlen(a->hist);
	size_t suffix = sizeof(SUFFIX) - 1;

	return (int)(len > suffix && strcmp(a->hist + len - suffix, SUFFIX) == 0 ? len - suffix
										 : len);
}

static int fail(const struct hauli_app *a, const char *path, const char *why)
{
	haul_app_say(a->pub.program, "--hist: %s cannot be written: %s", path, why);
	return HAUL_APP_FAILED;
}

/* Files are written at the end; a folder that does not exist is found before. */
int hauli_latency_check(struct hauli_app *a)
{
	char folder[PATH_SIZE] = ".";
	const char *slash;

	a->io_opts.times = a->times || a->hist;
	if (!a->hist)
		return HAUL_APP_DONE;
	slash = strrchr(a->hist, '/');
	if (strlen(a->hist) > sizeof(folder) - 64 || !a->hist[0] || (slash && !slash[1]))
		return haul_app_wrong(a->pub.program, "--hist: '%s' is no name of a file", a->hist);
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - a->hist + 1), a->hist);
	return access(folder, W_OK) == 0 ? HAUL_APP_DONE : fail(a, a->hist, strerror(errno));
}

#define COLUMNS_US(h)                                                                       \
	(double)haul_hist_quantile(h, 0.5) / 1e3, (double)haul_hist_quantile(h, 0.9) / 1e3, \
		(double)haul_hist_quantile(h, 0.99) / 1e3,                                  \
		(double)haul_hist_quantile(h, 0.999) / 1e3, (double)(h)->max / 1e3

static void print_row(FILE *out, const char *first, const struct haul_hist *h)
{
	fprintf(out, "  %-15s %12" PRIu64 " %9.2f %9.2f %9.2f %9.2f %9.2f\n", first,
		haul_hist_count(h), COLUMNS_US(h));
}

/* Calls fn with each histogram that is not empty: of a stage of a port, or of all ports
 * ("wake"). */
static int for_each(const struct hauli_app *a,
	int (*fn)(
		const struct hauli_app *a, const char *name, const struct haul_hist *h, void *arg),
	void *arg)
{
	struct haul_io_wait_stats wait;
	struct haul_hist h;
	char name[32];
	int rc = 0;

	for (unsigned i = 0; i < a->nb_ports; i++) {
		for (unsigned s = 0; s < HAUL_STAGES && rc == 0; s++) {
			haul_io_get_times(a->pub.io, i, HAUL_ALL, (enum haul_stage)s, &h);
			snprintf(name, sizeof(name), "port%u-%s", i,
				haul_stage_name((enum haul_stage)s));
			if (haul_hist_count(&h) > 0)
				rc = fn(a, name, &h, arg);
		}
	}
	haul_io_get_wait_stats(a->pub.io, HAUL_ALL, &wait);
	if (rc == 0 && haul_hist_count(&wait.latency) > 0)
		rc = fn(a, "wake", &wait.latency, arg);
	return rc;
}

struct table {
	FILE *out;
	bool began;
};

static int print_one(
	const struct hauli_app *a, const char *name, const struct haul_hist *h, void *arg)
{
	struct table *table = arg;

	if (!table->began)
		fprintf(table->out, "%-17s %12s %9s %9s %9s %9s %9s\n", "latency in us", "count",
			"p50", "p90", "p99", "p99.9", "max");
	table->began = true;
	print_row(table->out, name, h);
	return 0;
}

void hauli_latency_print(const struct hauli_app *a, FILE *out)
{
	struct table table = {.out = out};

	if (a->io_opts.times)
		(void)for_each(a, print_one, &table);
}

static void set_ns(struct haul_app_json *to, const char *key, uint64_t ns)
{
	haul_app_json_number(to, key, (int64_t)ns);
}

static void add_stage(struct haul_app_json *to, const char *name, const struct haul_hist *h)
{
	struct haul_app_json *stage = haul_app_json_object(to, name);

	set_ns(stage, "count", haul_hist_count(h));
	set_ns(stage, "p50_ns", haul_hist_quantile(h, 0.5));
	set_ns(stage, "p90_ns", haul_hist_quantile(h, 0.9));
	set_ns(stage, "p99_ns", haul_hist_quantile(h, 0.99));
	set_ns(stage, "p999_ns", haul_hist_quantile(h, 0.999));
	set_ns(stage, "max_ns", haul_hist_max(h));
}

void hauli_latency_json(const struct hauli_app *a, unsigned port, struct haul_app_json *to)
{
	struct haul_app_json *latency;
	struct haul_hist h;

	if (!a->io_opts.times)
		return;
	latency = haul_app_json_object(to, "latency");
	for (unsigned s = 0; s < HAUL_STAGES; s++) {
		haul_io_get_times(a->pub.io, port, HAUL_ALL, (enum haul_stage)s, &h);
		add_stage(latency, haul_stage_name((enum haul_stage)s), &h);
	}
}

static int write_one(
	const struct hauli_app *a, const char *name, const struct haul_hist *h, void *arg)
{
	char path[PATH_SIZE], why[128];
	FILE *out;
	int fd, err;

	snprintf(path, sizeof(path), "%.*s-%s" SUFFIX, stem_len(a), a->hist, name);
	fd = haul_file_create(path, 0666, why, sizeof(why));
	if (fd < 0)
		return fail(a, path, why);
	out = ftruncate(fd, 0) == 0 || errno == EINVAL ? fdopen(fd, "w") : NULL;
	if (!out)
		return fail(a, path, strerror(errno));
	errno = 0;
	err = haul_hist_write_hgrm(h, 1000, out);
	if (fclose(out) != 0 || err)
		return fail(a, path, strerror(errno ? errno : EIO));
	return HAUL_APP_DONE;
}

int hauli_latency_write(const struct hauli_app *a)
{
	return a->hist ? for_each(a, write_one, NULL) : HAUL_APP_DONE;
}
