/* SPDX-License-Identifier: BSD-3-Clause */
#include "live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "screen.h"
#include "settings.h"
#include "terminal.h"
#include "watch.h"

#define KEYS 0 /* of the descriptors waited for: stdin, signals, and those of the program */
#define SIGNALS 1
#define OTHERS 2
#define AGAIN_NS (50 * HAUL_MS) /* until another try to show a page */

static struct {
	struct top_screen screen;
	struct top_page page;
	struct top_watch watch; /* without --replay */
	struct top_replay replay; /* with it */
	struct top_pair played; /* of the replay */
	struct top_pair held; /* what is shown while the figures are held */
	unsigned at; /* the replay's sample */
	uint64_t next, until; /* when the replay goes on, and when all ends */
	FILE *record;
	char why[512]; /* an error that ends the program */
	bool dirty, ended;
} l;

static const struct top_pair *shown(void)
{
	if (l.screen.held)
		return &l.held;
	return l.replay.file ? &l.played : &l.watch.pair;
}

static void hold(void)
{
	const struct top_pair now = *shown();

	l.screen.held = !l.screen.held;
	if (l.screen.held)
		l.held = (struct top_pair){json_incref(now.now), json_incref(now.before)};
	else
		top_pair_clear(&l.held);
}

static int64_t at_ns(const json_t *sample)
{
	const json_t *answers = json_object_get(sample, "answers");

	return top_number(json_object_get(answers, top_commands[0]), "at_ns");
}

/* Shows sample i, with the one before it for rates. */
static void play(unsigned i)
{
	json_t *before = i > 0 ? top_replay_sample(&l.replay, i - 1) : NULL;
	json_t *now = top_replay_sample(&l.replay, i);
	json_t *after = i + 1 < l.replay.nb ? top_replay_sample(&l.replay, i + 1) : NULL;

	top_pair_clear(&l.played);
	if (before)
		top_pair_push(&l.played, before);
	if (now)
		top_pair_push(&l.played, now);
	l.at = i;
	l.next = HAUL_FOREVER;
	if (i + 1 < l.replay.nb) { /* a damaged sample is passed in a second */
		int64_t ns = after && now ? at_ns(after) - at_ns(now) : (int64_t)HAUL_S;

		l.next = haul_in(ns > 0 && ns < 3600 * (int64_t)HAUL_S ? (uint64_t)ns : HAUL_S);
	}
	json_decref(after);
	l.dirty = true;
}

static void go_on_playing(void)
{
	if (!l.screen.held && haul_now() >= l.next)
		play(l.at + 1);
}

static void step_play(int by)
{
	if (!l.replay.file)
		return;
	if (!l.screen.held)
		l.screen.held = true;
	top_pair_clear(&l.held);
	if (by > 0 ? l.at + 1 < l.replay.nb : l.at > 0)
		play(by > 0 ? l.at + 1 : l.at - 1);
	l.held = (struct top_pair){json_incref(l.played.now), json_incref(l.played.before)};
}

static void watch(void)
{
	const char *why = l.watch.why;
	char before[sizeof(l.watch.why)];
	json_t *reply;
	int err = 0;

	snprintf(before, sizeof(before), "%s", why);
	if (top_watch_step(&l.watch)) {
		err = l.record ? top_record_add(l.record, l.watch.pair.now) : 0;
		l.dirty = true;
	}
	reply = top_watch_reply(&l.watch);
	if (reply)
		top_panel_reply(&l.screen.panel, reply);
	l.dirty = l.dirty || reply || strcmp(before, why) != 0;
	if (err < 0) {
		snprintf(l.why, sizeof(l.why), "--record %s: %s", top_settings.record,
			strerror(-err));
		l.ended = true;
	}
}

static void change_interval(int by)
{
	static const unsigned ms[] = {
		100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 600000, 3600000};
	const int n = (int)(sizeof(ms) / sizeof(ms[0]));
	int i = 0;

	if (l.replay.file)
		return;
	while (i + 1 < n && ms[i] * HAUL_MS < l.watch.interval)
		i++;
	i += by;
	i = i < 0 ? 0 : i >= n ? n - 1 : i;
	l.watch.interval = ms[i] * HAUL_MS;
	if (l.watch.next > haul_in(l.watch.interval))
		l.watch.next = haul_in(l.watch.interval);
}

static void draw(void)
{
	struct top_status status = {.why = l.replay.file ? "" : l.watch.why,
		.name = l.replay.file     ? top_settings.replay
			: l.watch.name[0] ? l.watch.name
					  : "haul-top",
		.place = "",
		.interval = l.watch.interval,
		.records = l.record != NULL};
	char place[64], clock[16] = "";
	unsigned columns, rows;

	if (l.replay.file) {
		time_t at = (time_t)top_number(l.played.now, "at");
		struct tm tm;

		if (localtime_r(&at, &tm))
			strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
		snprintf(place, sizeof(place), "%s  %u of %u", clock, l.at + 1, l.replay.nb);
		status.place = place;
		if (!l.played.now)
			status.why = "this sample is damaged";
	}
	top_terminal_size(&columns, &rows);
	top_screen_draw(&l.screen, shown(), &status, &l.page, columns, rows);
	l.dirty = !top_terminal_show(&l.page);
}

/* What the panel needs. */
static void ask(void)
{
	struct top_panel *panel = &l.screen.panel;

	const char *command = top_panel_ask(panel);

	if (!l.replay.file)
		top_watch_ask(&l.watch, command);
	else
		top_panel_reply(panel,
			json_pack("{s:s}", "error",
				top_panel_has_choices(panel)
					? "this is a recording: nothing can be changed"
					: "a recording has no call stacks"));
}

static void take_key(int key)
{
	if (l.dirty && top_key_is_about_a_row(key))
		draw(); /* what is to be seen then */
	l.dirty = true;
	switch (top_screen_key(&l.screen, key)) {
	case TOP_NONE:
		break;
	case TOP_QUIT:
		l.ended = true;
		break;
	case TOP_SLOWER:
		change_interval(1);
		break;
	case TOP_FASTER:
		change_interval(-1);
		break;
	case TOP_HOLD:
		hold();
		break;
	case TOP_BACK:
		step_play(-1);
		break;
	case TOP_FORTH:
		step_play(1);
		break;
	case TOP_ASK:
		ask();
		break;
	}
}

/* What to wait for, and for how long. */
static void wait_for_events(struct pollfd *fds)
{
	const uint64_t now = haul_now();
	unsigned n = 0;
	uint64_t ns = HAUL_FOREVER, end = l.until > now ? l.until - now : 0;

	if (!l.replay.file)
		ns = top_watch_events(&l.watch, fds + OTHERS, &n);
	else if (!l.screen.held && l.next != HAUL_FOREVER)
		ns = l.next > now ? l.next - now : 0;
	if (l.dirty && ns > AGAIN_NS)
		ns = AGAIN_NS;
	if (l.until != HAUL_FOREVER && ns > end)
		ns = end;
	fds[KEYS] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
	fds[SIGNALS] = (struct pollfd){top_terminal_signals(), POLLIN, 0};
	top_wait(fds, n + OTHERS, ns);
}

static void loop(void)
{
	struct pollfd fds[OTHERS + TOP_WATCH_FDS];
	int key;

	while (!l.ended && haul_now() < l.until) {
		if (l.replay.file)
			go_on_playing();
		else
			watch();
		if (l.dirty)
			draw();
		wait_for_events(fds);
		if (fds[SIGNALS].revents) {
			l.ended = top_terminal_take_signals();
			l.dirty = true;
		}
		while ((key = top_terminal_key()) != ERR)
			take_key(key);
		if (fds[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL))
			l.ended = true; /* the terminal has gone */
	}
}

static int fail(const char *option, const char *path, const char *why)
{
	haul_app_say(&top_program, "%s %s: %s", option, path, why);
	return HAUL_APP_FAILED;
}

static void end(void)
{
	if (l.replay.file)
		top_replay_end(&l.replay);
	else
		top_watch_end(&l.watch);
	top_pair_clear(&l.played);
	top_pair_clear(&l.held);
	top_page_free(&l.page);
	top_screen_end(&l.screen);
	if (l.record)
		fclose(l.record);
}

static bool has_colours(void)
{
	const char *no = getenv("NO_COLOR");

	return !top_settings.plain && (!no || !no[0]);
}

/* Before there is a screen: which program is it? False: the line in l.why says. */
static bool find_program(void)
{
	struct pollfd fds[TOP_WATCH_FDS];
	unsigned n;

	top_watch_begin(
		&l.watch, &top_settings.choice, top_settings.patience, top_settings.interval);
	while (l.watch.state == TOP_WATCH_FINDS) {
		uint64_t ns = top_watch_events(&l.watch, fds, &n);

		top_wait(fds, n, ns);
		watch();
	}
	if (l.watch.path[0])
		return true;
	snprintf(l.why, sizeof(l.why), "%s", l.watch.why);
	return false;
}

static void show(void)
{
	top_screen_init(&l.screen, (enum top_view)top_settings.view);
	l.until = top_settings.duration ? haul_in(top_settings.duration) : HAUL_FOREVER;
	l.dirty = true;
	if (l.replay.file)
		play(0);
	if (top_terminal_begin(has_colours()))
		loop();
	else
		snprintf(l.why, sizeof(l.why), "the terminal is not known: TERM=%.60s",
			getenv("TERM"));
	top_terminal_end();
}

int top_live(void)
{
	char why[128];

	if (top_settings.replay &&
		!top_replay_begin(&l.replay, top_settings.replay, why, sizeof(why)))
		return fail("--replay", top_settings.replay, why);
	if (top_settings.record && !(l.record = top_record_begin(top_settings.record)))
		return fail("--record", top_settings.record, strerror(errno));
	if (l.replay.file || find_program())
		show();
	end();
	if (l.why[0])
		haul_app_say(&top_program, "%s", l.why);
	return l.why[0] ? HAUL_APP_FAILED : HAUL_APP_DONE;
}
