/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <haul/base.h>

#include "text.h"

static void rest(struct top_watch *w)
{
	const uint64_t now = haul_now();

	w->state = TOP_WATCH_RESTS;
	if (w->next < now)
		w->next = now;
}

static void find(struct top_watch *w)
{
	w->state = TOP_WATCH_FINDS;
	top_find_begin(&w->find, w->patience);
}

static void open_there(struct top_watch *w)
{
	w->state = TOP_WATCH_ASKS;
	w->answered = false;
	w->next = haul_in(w->interval);
	top_client_open(&w->client, w->path, w->patience);
}

void top_watch_begin(
	struct top_watch *w, const struct top_choice *choice, uint64_t patience, uint64_t interval)
{
	*w = (struct top_watch){.choice = *choice,
		.patience = patience,
		.interval = interval,
		.client.fd = -1,
		.client.state = TOP_FAILED};
	if (!choice->path) {
		find(w);
		return;
	}
	snprintf(w->path, sizeof(w->path), "%s", choice->path);
	snprintf(w->name, sizeof(w->name), "%s", "the program");
	open_there(w);
}

void top_watch_end(struct top_watch *w)
{
	if (w->state == TOP_WATCH_FINDS)
		top_find_end(&w->find);
	top_ask_end(&w->ask);
	top_client_close(&w->client);
	top_pair_clear(&w->pair);
	json_decref(w->reply);
	w->reply = NULL;
}

/* Takes over the values; NULL: the program has no such command. */
static void reply(struct top_watch *w, json_t *values)
{
	json_decref(w->reply);
	w->reply = values ? values : json_pack("{s:s}", "error", "the program has no such command");
	w->question[0] = '\0';
}

static void reply_error(struct top_watch *w, const char *why)
{
	if (w->question[0])
		reply(w, json_pack("{s:s}", "error", why[0] ? why : "the program does not answer"));
}

void top_watch_ask(struct top_watch *w, const char *command)
{
	json_decref(w->reply);
	w->reply = NULL;
	snprintf(w->question, sizeof(w->question), "%s", command);
}

json_t *top_watch_reply(struct top_watch *w)
{
	json_t *values = w->reply;

	w->reply = NULL;
	return values;
}

static void go_on_finding(struct top_watch *w)
{
	const struct top_program *p;
	char why[sizeof(w->why)];

	if (!top_find_step(&w->find))
		return;
	p = top_find_choose(&w->find, &w->choice, why, sizeof(why));
	if (p) {
		snprintf(w->path, sizeof(w->path), "%s", p->path);
		snprintf(w->name, sizeof(w->name), "%s %" PRId64, p->name, p->pid);
	} else if (!w->name[0] || strncmp(why, "several", 7) == 0) {
		snprintf(w->why, sizeof(w->why), "%s", why);
	} /* else the program that was watched has ended, which was said */
	top_find_end(&w->find);
	if (p) {
		open_there(w);
		return;
	}
	w->next = haul_in(w->interval);
	rest(w);
}

static void say_ended(struct top_watch *w)
{
	const bool waits = w->choice.path || !w->choice.pid;

	snprintf(w->why, sizeof(w->why), "%s has ended%s", w->name,
		waits ? "; waiting for the next" : "");
	w->state = waits ? TOP_WATCH_RESTS : TOP_WATCH_ENDED;
	if (!w->choice.path)
		w->path[0] = '\0';
}

static void failed(struct top_watch *w)
{
	const bool gone = w->client.gone, again = w->answered, known = w->pair.now != NULL;

	if (!gone || !known)
		snprintf(w->why, sizeof(w->why), "%s", w->client.why);
	reply_error(w, w->client.why);
	top_ask_end(&w->ask);
	top_client_close(&w->client);
	if (again) {
		open_there(w); /* it may have closed the connection only */
		return;
	}
	rest(w);
	if (gone && known)
		say_ended(w);
}

/* The name of a program that was chosen by its socket. */
static void name_it(struct top_watch *w, const json_t *sample)
{
	const json_t *info = top_values(sample, "/haul/info");

	if (!info)
		return;
	snprintf(w->name, sizeof(w->name), "%.32s %" PRId64, top_string(info, "program"),
		top_number(info, "pid"));
	top_text_clean(w->name);
}

static bool go_on_asking(struct top_watch *w)
{
	json_t *sample;

	top_client_step(&w->client);
	if (w->client.state == TOP_IDLE && !w->ask.sample)
		top_ask_begin(&w->ask, &w->client);
	sample = top_ask_step(&w->ask, &w->client);
	if (w->client.state == TOP_FAILED)
		failed(w);
	if (!sample)
		return false;
	rest(w);
	snprintf(w->why, sizeof(w->why), "%s", "");
	if (!top_values(sample, "/haul/info")) {
		const char *error = top_error(sample, "/haul/info");

		snprintf(w->why, sizeof(w->why), "%s: %s", w->name,
			error ? error : "no program of haul, which would know /haul/info");
		top_text_clean(w->why);
		json_decref(sample);
		return false;
	}
	w->answered = true;
	name_it(w, sample);
	return top_pair_push(&w->pair, sample);
}

static void go_on_resting(struct top_watch *w)
{
	if (w->client.state == TOP_IDLE)
		top_client_step(&w->client); /* it may have been closed */
	if (w->client.state == TOP_FAILED && w->client.why[0]) {
		failed(w);
		return;
	}
	if (w->question[0] && w->client.state == TOP_IDLE) {
		top_client_ask(&w->client, w->question);
		w->state = TOP_WATCH_INQUIRES;
		return;
	}
	if (haul_now() < w->next)
		return;
	if (w->client.state == TOP_IDLE) {
		w->state = TOP_WATCH_ASKS;
		w->next = haul_in(w->interval);
		top_ask_begin(&w->ask, &w->client);
	} else if (w->path[0]) {
		open_there(w);
	} else {
		find(w);
	}
}

/* The reply belongs to the question only if there is no newer one. */
static void go_on_inquiring(struct top_watch *w)
{
	const bool same = strcmp(w->client.command, w->question) == 0;
	json_t *values;

	top_client_step(&w->client);
	if (w->client.state == TOP_FAILED) {
		failed(w);
	} else if (w->client.state == TOP_ANSWERED) {
		values = top_client_take(&w->client);
		if (same)
			reply(w, values);
		else
			json_decref(values);
		w->state = TOP_WATCH_RESTS;
	}
}

bool top_watch_step(struct top_watch *w)
{
	if (w->state == TOP_WATCH_INQUIRES)
		go_on_inquiring(w);
	if (w->state == TOP_WATCH_RESTS)
		go_on_resting(w);
	if (w->state == TOP_WATCH_FINDS)
		go_on_finding(w);
	if (w->client.state == TOP_FAILED && w->state != TOP_WATCH_FINDS)
		reply_error(w, w->why);
	return w->state == TOP_WATCH_ASKS && go_on_asking(w);
}

uint64_t top_watch_events(const struct top_watch *w, struct pollfd *fds, unsigned *n)
{
	const uint64_t now = haul_now();

	*n = 0;
	if (w->state == TOP_WATCH_FINDS)
		return top_find_events(&w->find, fds, n);
	if (w->state == TOP_WATCH_ASKS || w->state == TOP_WATCH_INQUIRES) {
		if (w->client.state == TOP_FAILED)
			return 0; /* it could not even be opened, or asked */
		return top_client_events(&w->client, &fds[(*n)++]);
	}
	if (w->state == TOP_WATCH_ENDED)
		return HAUL_FOREVER;
	if (w->client.fd >= 0)
		top_client_events(&w->client, &fds[(*n)++]);
	if (w->client.state == TOP_IDLE && w->question[0])
		return 0;
	return w->next > now ? w->next - now : 0;
}

void top_wait(struct pollfd *fds, unsigned n, uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / HAUL_S), (long)(ns % HAUL_S)};

	(void)ppoll(fds, n, ns == HAUL_FOREVER ? NULL : &ts, NULL);
}
