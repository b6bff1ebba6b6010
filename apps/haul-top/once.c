/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to run without a screen. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "record.h"
#include "settings.h"
#include "text.h"
#include "views.h"
#include "watch.h"

#define COLUMNS 80
#define ROWS 24

static int fail(const char *why)
{
	haul_app_say(&top_program, "%s", why);
	return HAUL_APP_FAILED;
}

static void print_programs(const struct top_find *f)
{
	char up[24];

	if (f->nb > 0)
		printf("%8s  %-16s  %-12s  %s\n", "pid", "program", "runs for", "socket");
	for (unsigned i = 0; i < f->nb; i++) {
		const struct top_program *p = &f->programs[i];

		if (p->why[0])
			continue;
		top_text_clock(up, sizeof(up), p->uptime_ns / HAUL_S);
		printf("%8" PRId64 "  %-16s  %-12s  %s\n", p->pid, p->name, p->uptime_ns ? up : "-",
			p->path);
	}
}

int top_list(void)
{
	struct pollfd fds[TOP_FIND_MAX];
	static struct top_find f; /* large */
	char why[512];
	unsigned n, answer = 0;

	top_find_begin(&f, top_settings.patience);
	while (!top_find_step(&f)) {
		uint64_t ns = top_find_events(&f, fds, &n);

		top_wait(fds, n, ns);
	}
	for (unsigned i = 0; i < f.nb; i++)
		answer += !f.programs[i].why[0];
	if (top_settings.json)
		top_json_print_programs(&f, stdout);
	else if (answer > 0)
		print_programs(&f);
	for (unsigned i = 0; i < f.nb && !top_settings.json; i++)
		if (f.programs[i].why[0])
			haul_app_say(&top_program, "%s", f.programs[i].why);
	if (f.nb == 0)
		(void)top_find_choose(&f, &(struct top_choice){0}, why, sizeof(why));
	top_find_end(&f);
	return f.nb > 0 ? HAUL_APP_DONE : fail(why);
}

static void print(const struct top_pair *pair, const char *name)
{
	const enum top_view view = (enum top_view)top_settings.view;
	const struct top_order order = {top_view_first(view), false, ""};
	struct top_page page = {0};

	if (top_settings.json) {
		top_json_print(pair, stdout);
		return;
	}
	top_page_clear(&page, COLUMNS);
	top_page_say(&page, TOP_BAR, "%s: %s", name, top_view_names[view].name);
	top_view_summary(pair, &page);
	top_page_print(&page, stdout);
	putchar('\n');
	top_page_clear(&page, COLUMNS);
	top_view_show(view, pair, &order, &page, ROWS - 4);
	top_page_print(&page, stdout);
	top_page_free(&page);
}

/* Waits for a new sample. False: there is an error, w->why. */
static bool next_sample(struct top_watch *w)
{
	struct pollfd fds[TOP_WATCH_FDS];
	unsigned n;

	while (!top_watch_step(w)) {
		uint64_t ns;

		if (w->why[0])
			return false;
		ns = top_watch_events(w, fds, &n);
		top_wait(fds, n, ns);
	}
	return true;
}

static struct top_watch watch; /* large */

static int finish(int rc, FILE *record)
{
	if (rc != HAUL_APP_DONE)
		haul_app_say(&top_program, "%s", watch.why);
	top_watch_end(&watch);
	if (record)
		fclose(record);
	return rc;
}

/* The last two samples of a recording. */
static int replay_once(void)
{
	struct top_pair pair = {NULL, NULL};
	struct top_replay r;
	char why[128];

	if (!top_replay_begin(&r, top_settings.replay, why, sizeof(why))) {
		haul_app_say(&top_program, "%s: %s", top_settings.replay, why);
		return HAUL_APP_FAILED;
	}
	for (unsigned i = r.nb > 1 ? r.nb - 2 : 0; i < r.nb; i++) {
		json_t *sample = top_replay_sample(&r, i);

		if (sample)
			top_pair_push(&pair, sample);
	}
	top_replay_end(&r);
	if (!pair.now) {
		haul_app_say(&top_program, "%s: the last samples are damaged", top_settings.replay);
		return HAUL_APP_FAILED;
	}
	print(&pair, top_settings.replay);
	top_pair_clear(&pair);
	return HAUL_APP_DONE;
}

/* A file to record to. False: an error was printed. */
static bool open_record(FILE **file)
{
	*file = NULL;
	if (!top_settings.record)
		return true;
	*file = top_record_begin(top_settings.record);
	if (!*file)
		haul_app_say(&top_program, "--record %s: %s", top_settings.record, strerror(errno));
	return *file != NULL;
}

/* False: the error is in watch.why. */
static bool record(FILE *file)
{
	int err = file ? top_record_add(file, watch.pair.now) : 0;

	if (err < 0)
		snprintf(watch.why, sizeof(watch.why), "--record %s: %s", top_settings.record,
			strerror(-err));
	return err == 0;
}

int top_once(void)
{
	int rc = HAUL_APP_FAILED;
	FILE *file;

	if (top_settings.replay)
		return replay_once();
	if (!open_record(&file))
		return rc;
	top_watch_begin(&watch, &top_settings.choice, top_settings.patience, top_settings.interval);
	if (next_sample(&watch) && record(file) && next_sample(&watch) && record(file)) {
		print(&watch.pair, watch.name);
		rc = HAUL_APP_DONE;
	}
	return finish(rc, file);
}

int top_record_only(void)
{
	const uint64_t until =
		top_settings.duration ? haul_in(top_settings.duration) : HAUL_FOREVER;
	FILE *file;

	if (!open_record(&file))
		return HAUL_APP_FAILED;
	top_watch_begin(&watch, &top_settings.choice, top_settings.patience, top_settings.interval);
	while (haul_now() < until)
		if (!next_sample(&watch) || !record(file))
			return finish(HAUL_APP_FAILED, file);
	return finish(HAUL_APP_DONE, file);
}
