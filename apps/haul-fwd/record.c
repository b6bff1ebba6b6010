/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include <haul-dpdk/file.h>
#include <haul-dpdk/port_info.h>

#include "load.h"
#include "modes/options.h"

static int file = -1;
static bool is_new; /* the file was not there before */
static struct load *loads; /* one for each queue */
/* One for each queue. They last until the end of the process: the ports are closed before the file
 * is written. */
static struct haul_port_callback **callbacks;
static unsigned nb_loads;
static uint64_t tsc_hz;

static void count(struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	load_count(arg, pkts, n, rte_rdtsc());
}

int fwd_record_parsed(const struct haul_app *app, bool generates)
{
	const char *path = fwd_mode_args.record_load;
	char why[128];

	if (!path)
		return HAUL_APP_DONE;
	if (generates)
		return haul_app_wrong(app->program,
			"--record-load: modes txonly and generate have no load of others");
	is_new = access(path, F_OK) != 0;
	file = haul_file_create(path, 0666, why, sizeof(why));
	if (file >= 0)
		return HAUL_APP_DONE;
	haul_app_say(app->program, "--record-load %s: %s", path, why);
	return HAUL_APP_FAILED;
}

int fwd_record_opened(struct haul_app *app)
{
	uint64_t start = rte_rdtsc();
	unsigned i, q, n = 0;

	if (file < 0)
		return HAUL_APP_DONE;
	tsc_hz = rte_get_tsc_hz();
	for (i = 0; i < app->nb_ports; i++)
		nb_loads += haul_port_queues(app->ports[i]);
	loads = aligned_alloc(_Alignof(struct load), nb_loads * sizeof(loads[0]));
	callbacks = calloc(nb_loads, sizeof(struct haul_port_callback *));
	if (!loads || !callbacks)
		abort();
	for (i = 0; i < app->nb_ports; i++) {
		for (q = 0; q < haul_port_queues(app->ports[i]); q++, n++) {
			load_init(&loads[n], start, tsc_hz);
			callbacks[n] =
				haul_port_add_callback(app->ports[i], q, true, count, &loads[n]);
			if (!callbacks[n]) {
				haul_app_say(app->program, "--record-load: no memory");
				return HAUL_APP_FAILED;
			}
		}
	}
	return HAUL_APP_DONE;
}

/* Writes the file whole. 0 or -errno. */
static int write_file(const struct haul_app_program *program)
{
	FILE *out = ftruncate(file, 0) == 0 || errno == EINVAL ? fdopen(file, "w") : NULL;
	struct haul_app_json *object;
	bool complete;

	if (!out)
		return -errno;
	for (unsigned i = 1; i < nb_loads; i++)
		load_add(&loads[0], &loads[i]);
	object = haul_app_json_begin();
	haul_app_json_number(object, "format", 1);
	haul_app_json_text(object, "program", program->name);
	haul_app_json_number(object, "queues", nb_loads);
	load_json(&loads[0], tsc_hz, object);
	haul_app_json_end(object, out);
	complete = fflush(out) == 0 && !ferror(out);
	return fclose(out) == 0 && complete ? 0 : -errno;
}

int fwd_record_write(const struct haul_app_program *program, int rc)
{
	const char *path = fwd_mode_args.record_load;
	int err;

	if (file < 0)
		return rc;
	if (!loads) {
		if (is_new)
			unlink(path);
		close(file);
		return rc;
	}
	err = write_file(program);
	free(loads);
	if (err) {
		haul_app_say(program, "--record-load %s: %s", path, strerror(-err));
		return HAUL_APP_FAILED;
	}
	haul_app_say(program,
		"note: %s has the load; haul-compare --load %s compares pollers under it", path,
		path);
	return rc;
}
